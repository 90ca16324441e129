//! The null driver: its cost is the overhead around a cipher.

use lanecrypt_ciphers::{Algorithm, Error};

use crate::{Driver, Job, Jobs, Operation, SessionId};

/// Serves [`Algorithm::NULL`], which protects nothing, and no other algorithm.
///
/// It is the shortest implementation of the [`Driver`] contract. Benchmarks use it to measure the
/// cost of the path to a driver and back.
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

/// Copies from one buffer to another; does nothing in place.
#[inline]
fn serve(job: &mut Job<'_, '_>) -> Result<(), Error> {
    match job.operation() {
        Operation::Encrypt | Operation::Decrypt if job.nonce().is_empty() => {
            let _copied = job.data()?.into_out_with_copied_in();
            Ok(())
        }
        Operation::Encrypt | Operation::Decrypt => Err(Error::NonceLength),
        _ => Err(Error::Unsupported),
    }
}
