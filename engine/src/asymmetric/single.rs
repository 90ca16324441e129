//! One request at a time.

use lanecrypt_ciphers::Error;
#[cfg(feature = "rsa")]
use lanecrypt_rsa::Backend;

use super::key::AsymmetricKey;
use super::library::Library as _;
#[cfg(feature = "pk")]
use super::pk::Pk;
#[cfg(feature = "rsa")]
use super::rsa::Rsa;

/// Signs a message.
pub(crate) fn sign(key: &AsymmetricKey, message: &[u8], signature: &mut [u8]) -> Result<(), Error> {
    match key {
        #[cfg(feature = "rsa")]
        AsymmetricKey::Rsa(..) => {
            Rsa(Backend::Measured).serve(Rsa::signing(key, message, signature))
        }
        #[cfg(feature = "pk")]
        _ => Pk.serve(Pk::signing(key, message, signature)),
    }
}

/// Checks the signature of a message.
pub(crate) fn verify(key: &AsymmetricKey, message: &[u8], signature: &[u8]) -> Result<(), Error> {
    match key {
        #[cfg(feature = "rsa")]
        AsymmetricKey::Rsa(..) => {
            Rsa(Backend::Measured).serve(Rsa::verifying(key, message, signature))
        }
        #[cfg(feature = "pk")]
        _ => Pk.serve(Pk::verifying(key, message, signature)),
    }
}

/// Computes a shared secret.
#[cfg(feature = "pk")]
pub(crate) fn agree(key: &AsymmetricKey, received: &[u8], output: &mut [u8]) -> Result<(), Error> {
    let input = Pk::input(key, received, output.len())?;
    Pk.serve(Pk::agreeing(key, received, &input, output))
}

/// The keys have none.
#[cfg(not(feature = "pk"))]
pub(crate) fn agree(
    _key: &AsymmetricKey,
    _received: &[u8],
    _output: &mut [u8],
) -> Result<(), Error> {
    Err(Error::Unsupported)
}
