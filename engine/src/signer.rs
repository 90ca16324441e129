//! RSA signatures by the software of this processor.

use core::cell::Cell;

use lanecrypt_ciphers::Error;
use lanecrypt_rsa::{self as rsa, Backend, Padding, Workspace};

use crate::RsaKey;

/// An RSA key, and the padding of its signatures.
#[derive(Debug)]
pub(crate) struct Signer {
    pub(crate) key: RsaKey,
    pub(crate) padding: Padding,
}

impl Signer {
    /// Signs a message.
    pub(crate) fn sign(&self, message: &[u8], signature: &mut [u8]) -> Result<(), Error> {
        let key = self.key.private_key().ok_or(Error::Unsupported)?;
        with_workspace(Backend::Measured, |workspace| {
            key.sign(self.padding, message, signature, workspace)
        })
        .map_err(error)
    }

    /// Checks the signature of a message.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        let key = self.key.public_key();
        with_workspace(Backend::Measured, |workspace| {
            key.verify(self.padding, message, signature, workspace)
        })
        .map_err(error)
    }

    /// A request to sign; none without a private key.
    pub(crate) fn signing<'r>(
        &'r self,
        message: &[u8],
        signature: &'r mut [u8],
    ) -> Option<rsa::Request<'r>> {
        let key = self.key.private_key()?;
        Some(rsa::Request::sign(key, self.padding, message, signature))
    }

    /// A request to check a signature.
    pub(crate) fn verifying<'r>(&'r self, message: &[u8], signature: &'r [u8]) -> rsa::Request<'r> {
        rsa::Request::verify(self.key.public_key(), self.padding, message, signature)
    }
}

/// Lends the memory of this thread. It is wiped between requests, and grows to the size of the
/// thread's largest batch.
pub(crate) fn with_workspace<T>(backend: Backend, run: impl FnOnce(&mut Workspace) -> T) -> T {
    thread_local!(static KEPT: Cell<Option<Workspace>> = const { Cell::new(None) });
    // A thread that is ending no longer has this memory.
    let mut workspace = KEPT.try_with(Cell::take).ok().flatten().unwrap_or_default();
    workspace.set_backend(backend);
    let out = run(&mut workspace);
    let _ = KEPT.try_with(|kept| kept.set(Some(workspace)));
    out
}

/// The engine's name of an error.
pub(crate) fn error(error: rsa::Error) -> Error {
    match error {
        rsa::Error::Signature => Error::Authentication,
        rsa::Error::OutputLength => Error::OutputLength,
        rsa::Error::KeyTooShort => Error::KeyLength,
        rsa::Error::Entropy => Error::Entropy,
        rsa::Error::Fault => Error::Fault,
        // The others belong to operations that sessions do not have.
        _ => Error::Unsupported,
    }
}
