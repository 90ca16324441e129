//! A driver that fails.

use std::sync::Once;

use lanecrypt_engine::{Algorithm, Driver, Error, Jobs, SessionId};
use lanecrypt_testing::batches::adding::serve;

/// Serves the null cipher as the driver `Adding` does. The first byte of the nonce says how it
/// fails.
#[derive(Debug)]
pub(crate) struct Faulty;

/// The first bytes of nonces at which it fails.
pub(crate) const REFUSES: u8 = 1;
pub(crate) const FORGETS: u8 = 2;
pub(crate) const PANICS: u8 = 3;

/// What it panics with; not reported.
const PLANNED: &str = "planned";

impl Faulty {
    pub(crate) const NAME: &str = "faulty";

    pub(crate) fn new() -> Self {
        static QUIET: Once = Once::new();
        QUIET.call_once(|| {
            let report = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if panic.payload().downcast_ref() != Some(&PLANNED) {
                    report(panic);
                }
            }));
        });
        Self
    }
}

impl Driver for Faulty {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn open(&self, algorithm: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        match algorithm {
            Algorithm::NULL => Ok(SessionId(7)),
            _ => Err(Error::Unsupported),
        }
    }

    fn close(&self, _: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        for mut job in jobs {
            match job.nonce().first() {
                Some(&REFUSES) => job.settle(Err(Error::KeystreamExhausted)),
                Some(&FORGETS) => {}
                Some(&PANICS) => std::panic::panic_any(PLANNED),
                _ => {
                    let outcome = serve(&mut job);
                    job.settle(outcome);
                }
            }
        }
    }
}
