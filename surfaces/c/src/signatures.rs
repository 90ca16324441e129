//! Signatures.

use core::ffi::c_int;

#[cfg(feature = "rsa")]
use lanecrypt_engine::RsaKey;
use lanecrypt_engine::{AsymmetricKey, Engine, Session};
#[cfg(feature = "pk")]
use lanecrypt_pk::{ed25519, p256};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::{Hash, Padding};

use crate::code::Code;
use crate::ffi_args::{Bytes, caught, give_object, object};
#[cfg(feature = "pk")]
use crate::ffi_args::{checked, give};

/// What signatures are made and checked by.
#[derive(Clone, Copy)]
pub(crate) enum Algorithm {
    #[cfg(feature = "rsa")]
    Rsa(Padding),
    #[cfg(feature = "pk")]
    Ed25519,
    #[cfg(feature = "pk")]
    EcdsaP256,
}

/// The algorithms with their numbers.
pub(crate) const ALGORITHMS: &[(c_int, &str, Algorithm)] = &[
    #[cfg(feature = "rsa")]
    (1, "RSA_PSS_SHA256", Algorithm::Rsa(Padding::pss(Hash::SHA256))),
    #[cfg(feature = "rsa")]
    (2, "RSA_PSS_SHA384", Algorithm::Rsa(Padding::pss(Hash::SHA384))),
    #[cfg(feature = "rsa")]
    (3, "RSA_PSS_SHA512", Algorithm::Rsa(Padding::pss(Hash::SHA512))),
    #[cfg(feature = "rsa")]
    (17, "RSA_PKCS1V15_SHA256", Algorithm::Rsa(Padding::pkcs1v15(Hash::SHA256))),
    #[cfg(feature = "rsa")]
    (18, "RSA_PKCS1V15_SHA384", Algorithm::Rsa(Padding::pkcs1v15(Hash::SHA384))),
    #[cfg(feature = "rsa")]
    (19, "RSA_PKCS1V15_SHA512", Algorithm::Rsa(Padding::pkcs1v15(Hash::SHA512))),
    #[cfg(feature = "pk")]
    (32, "ED25519", Algorithm::Ed25519),
    #[cfg(feature = "pk")]
    (33, "ECDSA_P256_SHA256", Algorithm::EcdsaP256),
];

/// The algorithm with this number.
pub(crate) fn of_number(number: c_int) -> Result<Algorithm, Code> {
    let found = ALGORITHMS.iter().find(|row| row.0 == number);
    found.map(|row| row.2).ok_or(Code::UnknownAlgorithm)
}

impl Algorithm {
    /// The padding of RSA.
    #[cfg(all(feature = "device", target_os = "linux"))]
    pub(crate) fn padding(self) -> Result<Padding, Code> {
        match self {
            Self::Rsa(padding) => Ok(padding),
            #[cfg(feature = "pk")]
            _ => Err(Code::UnknownAlgorithm),
        }
    }

    /// The key of PEM, of DER, or of the bytes of a public key.
    fn read(self, key: &[u8]) -> Result<AsymmetricKey, Code> {
        Ok(match (self, key) {
            #[cfg(feature = "rsa")]
            (Self::Rsa(padding), _) => (RsaKey::from_pem_or_der(key)?, padding).into(),
            #[cfg(feature = "pk")]
            (Self::Ed25519, _) => match key.try_into() {
                Ok(point) => ed25519::VerifyingKey::from_bytes(point)?.into(),
                Err(_) => AsymmetricKey::ed25519_from_pem_or_der(key)?,
            },
            // DER begins with another byte, and so does PEM.
            #[cfg(feature = "pk")]
            (Self::EcdsaP256, [2..=4, ..]) => p256::PublicKey::from_sec1_bytes(key)?.into(),
            #[cfg(feature = "pk")]
            (Self::EcdsaP256, _) => AsymmetricKey::p256_from_pem_or_der(key)?,
        })
    }
}

/// Opens a session that makes or checks signatures.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_signature_session_new(
    session: *mut *mut Session,
    algorithm: c_int,
    key: *const u8,
    key_len: usize,
) -> c_int {
    let make = |key: Bytes| {
        let algorithm = of_number(algorithm)?;
        // SAFETY: the caller lends the key for the call.
        let key = unsafe { key.read() };
        Ok(Box::new(Engine::new().asymmetric_session(algorithm.read(key)?)))
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

/// Writes a signature of ECDSA in DER.
#[cfg(feature = "pk")]
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_ecdsa_to_der(
    signature: *const u8,
    signature_len: usize,
    der: *mut u8,
    der_len: *mut usize,
) -> c_int {
    caught(|| {
        checked(der_len)?;
        // SAFETY: the caller lends the place.
        let room = unsafe { der_len.read() };
        let (signature, der) = (Bytes::input(signature, signature_len)?, Bytes::output(der, room)?);
        der.apart_from(signature)?;
        Bytes::of_place(der_len).apart_from(signature)?;
        Bytes::of_place(der_len).apart_from(der)?;
        // SAFETY: the caller lends the bytes for the call.
        let signature = unsafe { signature.read() }.try_into().map_err(|_| Code::DataLength)?;
        let mut room = [0; p256::MAX_DER_LENGTH];
        let made = p256::signature_to_der(signature, &mut room);
        // SAFETY: the same, and they do not overlap.
        let out = unsafe { der.write() }.get_mut(..made.len()).ok_or(Code::OutputLength)?;
        out.copy_from_slice(made);
        // SAFETY: the caller lends the place.
        unsafe { give(der_len, made.len()) }
    })
}

/// Reads a signature of ECDSA from DER.
#[cfg(feature = "pk")]
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_ecdsa_from_der(
    der: *const u8,
    der_len: usize,
    signature: *mut u8,
    signature_len: usize,
) -> c_int {
    caught(|| {
        let (der, out) = (Bytes::input(der, der_len)?, Bytes::output(signature, signature_len)?);
        out.apart_from(der)?;
        // SAFETY: the caller lends the bytes for the call.
        let read = p256::signature_from_der(unsafe { der.read() });
        // SAFETY: the same, and they do not overlap.
        let out: &mut [u8; 64] =
            unsafe { out.write() }.try_into().map_err(|_| Code::OutputLength)?;
        *out = read.unwrap_or([0; 64]);
        read.map(|_| ()).map_err(|_| Code::Authentication)
    })
}
