//! One signature at a time.

use lanecrypt_ciphers::Error;
#[cfg(feature = "rsa")]
use lanecrypt_rsa::Backend;

use super::key::SignatureKey;
use super::library::Library as _;
#[cfg(feature = "pk")]
use super::pk::Pk;
#[cfg(feature = "rsa")]
use super::rsa::Rsa;

/// Signs a message.
pub(crate) fn sign(key: &SignatureKey, message: &[u8], signature: &mut [u8]) -> Result<(), Error> {
    match key {
        #[cfg(feature = "rsa")]
        SignatureKey::Rsa(..) => {
            Rsa(Backend::Measured).serve(Rsa::signing(key, message, signature))
        }
        #[cfg(feature = "pk")]
        _ => Pk.serve(Pk::signing(key, message, signature)),
    }
}

/// Checks the signature of a message.
pub(crate) fn verify(key: &SignatureKey, message: &[u8], signature: &[u8]) -> Result<(), Error> {
    match key {
        #[cfg(feature = "rsa")]
        SignatureKey::Rsa(..) => {
            Rsa(Backend::Measured).serve(Rsa::verifying(key, message, signature))
        }
        #[cfg(feature = "pk")]
        _ => Pk.serve(Pk::verifying(key, message, signature)),
    }
}
