//! Lanecrypt's algorithms in libcrypto.

use lanecrypt_ciphers::Algorithm;
#[cfg(feature = "legacy")]
use lanecrypt_ciphers::Primitive;
use lanecrypt_libcrypto::{AeadCipher, Cipher, Error, Libcrypto};

/// A cipher of libcrypto.
pub(super) enum Found {
    Raw(Cipher),
    Sealed(AeadCipher),
}

/// Looks an algorithm up.
pub(super) fn find(libcrypto: &Libcrypto, algorithm: Algorithm) -> Result<Found, Error> {
    let name = algorithm.openssl_name().ok_or(Error::Unsupported)?;
    // Builds before 3.0 find ciphers by name only.
    if algorithm.is_aead() {
        let cipher = libcrypto.fetch_aead(name).or_else(|_| libcrypto.named_aead(name))?;
        return Ok(Found::Sealed(cipher));
    }
    let cipher = libcrypto.fetch(name);
    let cipher = match algorithm.primitive() {
        #[cfg(feature = "legacy")]
        Primitive::Des => cipher.or_else(|_| libcrypto.fetch_legacy(name)),
        _ => cipher,
    };
    Ok(Found::Raw(cipher.or_else(|_| libcrypto.named(name))?))
}
