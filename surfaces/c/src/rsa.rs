//! RSA signatures.

use core::ffi::c_int;

use lanecrypt_engine::{Engine, RsaKey, Session};
use lanecrypt_rsa::{Hash, KeyError, Padding, PrivateKey, PublicKey};

use crate::code::Code;
use crate::ffi_args::{Bytes, caught, give_object, object};

/// The paddings with their numbers.
pub(crate) const PADDINGS: &[(c_int, &str, Padding)] = &[
    (1, "RSA_PSS_SHA256", Padding::pss(Hash::SHA256)),
    (2, "RSA_PSS_SHA384", Padding::pss(Hash::SHA384)),
    (3, "RSA_PSS_SHA512", Padding::pss(Hash::SHA512)),
    (17, "RSA_PKCS1V15_SHA256", Padding::pkcs1v15(Hash::SHA256)),
    (18, "RSA_PKCS1V15_SHA384", Padding::pkcs1v15(Hash::SHA384)),
    (19, "RSA_PKCS1V15_SHA512", Padding::pkcs1v15(Hash::SHA512)),
];

/// The padding with this number.
pub(crate) fn padding_of(number: c_int) -> Result<Padding, Code> {
    let found = PADDINGS.iter().find(|row| row.0 == number);
    found.map(|row| row.2).ok_or(Code::UnknownAlgorithm)
}

/// Opens a session with an RSA key of PEM or DER.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_rsa_session_new(
    session: *mut *mut Session,
    key: *const u8,
    key_len: usize,
    padding: c_int,
) -> c_int {
    let make = |key: Bytes| {
        let padding = padding_of(padding)?;
        // SAFETY: the caller lends the key for the call.
        let key = unsafe { key.read() };
        Ok(Box::new(Engine::new().asymmetric_session((read(key)?, padding))))
    };
    // SAFETY: the caller lends the place.
    unsafe { give_object(session, Bytes::input(key, key_len), make) }
}

/// Signs a message.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_sign(
    session: *const Session,
    message: *const u8,
    message_len: usize,
    signature: *mut u8,
    signature_len: usize,
) -> c_int {
    caught(|| {
        let message = Bytes::input(message, message_len)?;
        let signature = Bytes::output(signature, signature_len)?;
        signature.apart_from(message)?;
        // SAFETY: the caller lends the session.
        let session = unsafe { object(session) }?;
        // SAFETY: the caller lends the bytes for the call, and they do not overlap.
        let message = unsafe { message.read() };
        // SAFETY: the same.
        Ok(session.sign(message, unsafe { signature.write() })?)
    })
}

/// Checks the signature of a message.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_verify(
    session: *const Session,
    message: *const u8,
    message_len: usize,
    signature: *const u8,
    signature_len: usize,
) -> c_int {
    caught(|| {
        let message = Bytes::input(message, message_len)?;
        let signature = Bytes::input(signature, signature_len)?;
        // SAFETY: the caller lends the session.
        let session = unsafe { object(session) }?;
        // SAFETY: the caller lends the bytes for the call.
        let message = unsafe { message.read() };
        // SAFETY: the same.
        Ok(session.verify(message, unsafe { signature.read() })?)
    })
}

/// The private key (PKCS#8 or PKCS#1) or public key (SPKI or PKCS#1) of PEM or DER.
pub(crate) fn read(bytes: &[u8]) -> Result<RsaKey, KeyError> {
    if !bytes.starts_with(b"-----") {
        return PrivateKey::from_pkcs8_der(bytes)
            .map(RsaKey::from)
            .or_else(|error| other(error, || PrivateKey::from_pkcs1_der(bytes)))
            .or_else(|error| other(error, || PublicKey::from_spki_der(bytes)))
            .or_else(|error| other(error, || PublicKey::from_pkcs1_der(bytes)));
    }
    let pem = core::str::from_utf8(bytes).map_err(|_| KeyError::Encoding)?;
    PrivateKey::from_pem(pem)
        .map(RsaKey::from)
        .or_else(|error| other(error, || PublicKey::from_pem(pem)))
}

/// Tries another form, if a key was not in this one.
fn other<K: Into<RsaKey>>(
    error: KeyError,
    read: impl FnOnce() -> Result<K, KeyError>,
) -> Result<RsaKey, KeyError> {
    match error {
        KeyError::Encoding => read().map(Into::into),
        error => Err(error),
    }
}
