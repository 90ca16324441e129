//! Signatures of Ed25519, and of ECDSA with P-256 and SHA-256.

use lanecrypt_ciphers::Error;
use lanecrypt_pk::{self as pk, Request};

use super::key::SignatureKey;
use super::library::Library;

/// The crate of curves.
pub(crate) struct Pk;

impl Library for Pk {
    type Request<'r> = Request<'r>;

    fn has(key: &SignatureKey) -> bool {
        match key {
            SignatureKey::Ed25519(_)
            | SignatureKey::Ed25519Public(_)
            | SignatureKey::P256(_)
            | SignatureKey::P256Public(_) => true,
            #[cfg(feature = "rsa")]
            SignatureKey::Rsa(..) => false,
        }
    }

    fn signing<'r>(
        key: &'r SignatureKey,
        message: &'r [u8],
        signature: &'r mut [u8],
    ) -> Result<Request<'r>, Error> {
        let signature = signature.try_into().map_err(|_| Error::OutputLength)?;
        match key {
            SignatureKey::Ed25519(key) => Ok(Request::ed25519_sign(key, message, signature)),
            SignatureKey::P256(key) => Ok(Request::p256_sign(key, message, signature)),
            _ => Err(Error::Unsupported),
        }
    }

    fn verifying<'r>(
        key: &'r SignatureKey,
        message: &'r [u8],
        signature: &'r [u8],
    ) -> Result<Request<'r>, Error> {
        let signature = signature.try_into().map_err(|_| Error::Authentication)?;
        let ed25519 = |key| Request::ed25519_verify(key, message, signature);
        let p256 = |key| Request::p256_verify(key, message, signature);
        Ok(match key {
            SignatureKey::Ed25519(key) => ed25519(key.verifying_key()),
            SignatureKey::Ed25519Public(key) => ed25519(key),
            SignatureKey::P256(key) => p256(key.public_key()),
            SignatureKey::P256Public(key) => p256(key),
            #[cfg(feature = "rsa")]
            SignatureKey::Rsa(..) => return Err(Error::Unsupported),
        })
    }

    fn process(&self, requests: &mut [Request<'_>]) {
        // Each request has its own outcome.
        let _failed = pk::process(requests);
    }

    fn outcome(request: &Request<'_>) -> Option<Result<(), Error>> {
        request.outcome().map(|outcome| outcome.map_err(error))
    }
}

/// The engine's name of an error.
fn error(error: pk::Error) -> Error {
    match error {
        pk::Error::Signature => Error::Authentication,
        pk::Error::Entropy => Error::Entropy,
        pk::Error::Fault => Error::Fault,
        // The others belong to operations that sessions do not have.
        _ => Error::Unsupported,
    }
}
