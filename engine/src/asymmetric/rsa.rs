//! RSA signatures.

use core::cell::Cell;

use lanecrypt_ciphers::Error;
use lanecrypt_rsa::{self as rsa, Backend, Request, Workspace};

use super::key::AsymmetricKey;
use super::library::Library;

/// The crate of RSA, with the implementation that serves its requests.
pub(crate) struct Rsa(pub(crate) Backend);

impl Library for Rsa {
    type Request<'r> = Request<'r>;
    type Input = ();

    fn has(key: &AsymmetricKey) -> bool {
        key.rsa().is_some()
    }

    fn signing<'r>(
        key: &'r AsymmetricKey,
        message: &'r [u8],
        signature: &'r mut [u8],
    ) -> Result<Request<'r>, Error> {
        let (key, padding) = key.rsa().ok_or(Error::Unsupported)?;
        let key = key.private_key().ok_or(Error::Unsupported)?;
        Ok(Request::sign(key, padding, message, signature))
    }

    fn verifying<'r>(
        key: &'r AsymmetricKey,
        message: &'r [u8],
        signature: &'r [u8],
    ) -> Result<Request<'r>, Error> {
        let (key, padding) = key.rsa().ok_or(Error::Unsupported)?;
        Ok(Request::verify(key.public_key(), padding, message, signature))
    }

    fn process(&self, requests: &mut [Request<'_>]) {
        // Each request has its own outcome.
        let _failed = with_workspace(self.0, |workspace| rsa::process(requests, workspace));
    }

    fn outcome(request: &Request<'_>) -> Option<Result<(), Error>> {
        request.outcome().map(|outcome| outcome.map_err(error))
    }
}

/// Lends the memory of this thread. It is wiped between requests, and grows to the size of the
/// thread's largest batch.
fn with_workspace<T>(backend: Backend, run: impl FnOnce(&mut Workspace) -> T) -> T {
    thread_local!(static KEPT: Cell<Option<Workspace>> = const { Cell::new(None) });
    // A thread that is ending no longer has this memory.
    let mut workspace = KEPT.try_with(Cell::take).ok().flatten().unwrap_or_default();
    workspace.set_backend(backend);
    let out = run(&mut workspace);
    let _ = KEPT.try_with(|kept| kept.set(Some(workspace)));
    out
}

/// The engine's name of an error.
fn error(error: rsa::Error) -> Error {
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
