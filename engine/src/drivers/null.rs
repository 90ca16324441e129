//! Nothing to do: what is left is the cost of everything around a cipher.

use lanecrypt_ciphers::{Algorithm, Error};

use crate::{Driver, Operation, Request, SessionId};

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

    fn cost(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        _bytes: usize,
        _batch: usize,
    ) -> Option<f64> {
        let raw = matches!(operation, Operation::Encrypt | Operation::Decrypt);
        (raw && algorithm == Algorithm::NULL).then_some(0.0)
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        match (algorithm, key) {
            (Algorithm::NULL, []) => Ok(SessionId::default()),
            (Algorithm::NULL, _) => Err(Error::KeyLength),
            _ => Err(Error::Unsupported),
        }
    }

    fn close(&self, _session: SessionId) {}

    fn process(&self, batch: &mut [Request<'_>]) {
        for request in batch {
            if request.outcome().is_none() {
                let outcome = serve(request);
                request.settle(outcome);
            }
        }
    }
}

/// From one buffer to another it copies, in place it does nothing.
#[inline]
fn serve(request: &mut Request<'_>) -> Result<(), Error> {
    match request.operation() {
        Operation::Encrypt | Operation::Decrypt if request.nonce().is_empty() => {
            let _copied = request.data().into_out_with_copied_in();
            Ok(())
        }
        Operation::Encrypt | Operation::Decrypt => Err(Error::NonceLength),
        Operation::Seal | Operation::Open => Err(Error::Unsupported),
    }
}
