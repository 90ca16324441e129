//! Nothing to do: what is left is the cost of everything around a cipher.

use lanecrypt_ciphers::{Algorithm, Error};

use crate::{Driver, Job, Jobs, Operation, SessionId};

/// Serves [`Algorithm::NULL`], which protects nothing, and nothing else.
///
/// It is the contract of a [`Driver`] in its shortest form, and what is measured when the cost of
/// the way to a driver and back is.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Null;

impl Driver for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        match (algorithm, key) {
            (Algorithm::NULL, []) => Ok(SessionId::default()),
            (Algorithm::NULL, _) => Err(Error::KeyLength),
            _ => Err(Error::Unsupported),
        }
    }

    fn close(&self, _session: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        for mut job in jobs {
            let outcome = serve(&mut job);
            job.settle(outcome);
        }
    }
}

/// From one buffer to another it copies, in place it does nothing.
#[inline]
fn serve(job: &mut Job<'_, '_>) -> Result<(), Error> {
    match job.operation() {
        Operation::Encrypt | Operation::Decrypt if job.nonce().is_empty() => {
            let _copied = job.data()?.into_out_with_copied_in();
            Ok(())
        }
        Operation::Encrypt | Operation::Decrypt => Err(Error::NonceLength),
        Operation::Seal | Operation::Open => Err(Error::Unsupported),
    }
}
