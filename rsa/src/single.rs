//! One signature at a time.

use crate::{Error, Padding, PrivateKey, PublicKey, Request, Workspace, process};

impl PrivateKey {
    /// Signs a message into `signature`, which has
    /// [`signature_length`](Self::signature_length) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`], [`Error::KeyTooShort`], [`Error::Entropy`], [`Error::Fault`].
    pub fn sign(
        &self,
        padding: Padding,
        message: &[u8],
        signature: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        one(Request::sign(self, padding, message, signature), workspace)
    }

    /// Signs a message with this digest.
    ///
    /// # Errors
    ///
    /// Same as [`sign`](Self::sign), and [`Error::DigestLength`].
    pub fn sign_digest(
        &self,
        padding: Padding,
        digest: &[u8],
        signature: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        one(Request::sign_digest(self, padding, digest, signature), workspace)
    }
}

impl PublicKey {
    /// Checks the signature of a message.
    ///
    /// # Errors
    ///
    /// [`Error::Signature`] if it is wrong, or does not have the length of the modulus.
    /// [`Error::KeyTooShort`].
    pub fn verify(
        &self,
        padding: Padding,
        message: &[u8],
        signature: &[u8],
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        one(Request::verify(self, padding, message, signature), workspace)
    }

    /// Checks the signature of a message with this digest.
    ///
    /// # Errors
    ///
    /// Same as [`verify`](Self::verify), and [`Error::DigestLength`].
    pub fn verify_digest(
        &self,
        padding: Padding,
        digest: &[u8],
        signature: &[u8],
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        one(Request::verify_digest(self, padding, digest, signature), workspace)
    }
}

/// Serves one request.
pub(crate) fn one(request: Request<'_>, workspace: &mut Workspace) -> Result<(), Error> {
    let mut requests = [request];
    // The outcome of the request says more than that of the batch.
    let _ = process(&mut requests, workspace);
    requests[0].outcome().unwrap_or(Ok(()))
}
