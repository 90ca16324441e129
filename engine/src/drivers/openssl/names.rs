//! What libcrypto calls our algorithms.

use core::ffi::CStr;

use lanecrypt_ciphers::{Algorithm, Mode, Primitive};
use lanecrypt_libcrypto::{AeadCipher, Cipher, Error, Libcrypto};

/// A cipher of libcrypto.
pub(super) enum Found {
    Raw(Cipher),
    Sealed(AeadCipher),
}

/// Looks an algorithm up.
pub(super) fn find(libcrypto: &Libcrypto, algorithm: Algorithm) -> Result<Found, Error> {
    let name = name(algorithm).ok_or(Error::Unsupported)?;
    // Builds before 3.0 know names only.
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

/// The name of an algorithm; none if libcrypto does not have it.
fn name(algorithm: Algorithm) -> Option<&'static CStr> {
    Some(match (algorithm.primitive(), algorithm.mode()) {
        _ if algorithm.mac().is_some() => return None,
        (Primitive::Aes128, Mode::Cbc) => c"AES-128-CBC",
        (Primitive::Aes192, Mode::Cbc) => c"AES-192-CBC",
        (Primitive::Aes256, Mode::Cbc) => c"AES-256-CBC",
        (Primitive::Aes128, Mode::Ctr) => c"AES-128-CTR",
        (Primitive::Aes192, Mode::Ctr) => c"AES-192-CTR",
        (Primitive::Aes256, Mode::Ctr) => c"AES-256-CTR",
        (Primitive::Aes128, Mode::Ecb) => c"AES-128-ECB",
        (Primitive::Aes192, Mode::Ecb) => c"AES-192-ECB",
        (Primitive::Aes256, Mode::Ecb) => c"AES-256-ECB",
        (Primitive::Aes128, Mode::Gcm) => c"AES-128-GCM",
        (Primitive::Aes192, Mode::Gcm) => c"AES-192-GCM",
        (Primitive::Aes256, Mode::Gcm) => c"AES-256-GCM",
        (Primitive::Aes128, Mode::Xts) => c"AES-128-XTS",
        (Primitive::Aes256, Mode::Xts) => c"AES-256-XTS",
        (Primitive::ChaCha20, Mode::Djb | Mode::Ietf) => c"ChaCha20",
        (Primitive::ChaCha20, Mode::Poly1305) => c"ChaCha20-Poly1305",
        #[cfg(feature = "legacy")]
        (primitive, mode) => match (primitive, mode) {
            (Primitive::Des, Mode::Cbc) => c"DES-CBC",
            (Primitive::Des, Mode::Ecb) => c"DES-ECB",
            (Primitive::TripleDes, Mode::Cbc) => c"DES-EDE3-CBC",
            (Primitive::TripleDes, Mode::Ecb) => c"DES-EDE3-ECB",
            _ => return None,
        },
        #[cfg(not(feature = "legacy"))]
        _ => return None,
    })
}
