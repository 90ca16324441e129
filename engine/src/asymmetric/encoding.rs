//! Keys from PEM and DER.

use core::str::Utf8Error;

#[cfg(feature = "pk")]
use lanecrypt_pk::mlkem768::{DecapsulationKey, EncapsulationKey};
#[cfg(feature = "pk")]
use lanecrypt_pk::{self as pk, ed25519, p256, x25519};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::{KeyError, PrivateKey, PublicKey};

#[cfg(feature = "pk")]
use crate::AsymmetricKey;
#[cfg(feature = "rsa")]
use crate::RsaKey;

/// The text of PEM; `None` of DER. An error if it is neither.
fn pem(bytes: &[u8]) -> Result<Option<&str>, Utf8Error> {
    match bytes.starts_with(b"-----") {
        true => core::str::from_utf8(bytes).map(Some),
        false => Ok(None),
    }
}

#[cfg(feature = "pk")]
#[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
impl AsymmetricKey {
    /// A key of Ed25519 from PEM or DER: a private key (PKCS#8) or a public key (SPKI).
    ///
    /// # Errors
    ///
    /// [`KeyError`](pk::KeyError) if it is neither or the key is invalid.
    pub fn ed25519_from_pem_or_der(bytes: &[u8]) -> Result<Self, pk::KeyError> {
        let (private, public) = match pem(bytes).map_err(|_| pk::KeyError::Encoding)? {
            Some(pem) => (ed25519::SigningKey::from_pem(pem), ed25519::VerifyingKey::from_pem(pem)),
            None => {
                let private = ed25519::SigningKey::from_pkcs8_der(bytes);
                (private, ed25519::VerifyingKey::from_spki_der(bytes))
            }
        };
        either(private, public)
    }

    /// A key of P-256 from PEM or DER: a private key (PKCS#8 or SEC 1) or a public key (SPKI).
    ///
    /// # Errors
    ///
    /// [`KeyError`](pk::KeyError) if it is neither or the key is invalid.
    pub fn p256_from_pem_or_der(bytes: &[u8]) -> Result<Self, pk::KeyError> {
        let (private, public) = match pem(bytes).map_err(|_| pk::KeyError::Encoding)? {
            Some(pem) => (p256::SigningKey::from_pem(pem), p256::PublicKey::from_pem(pem)),
            None => {
                let sec1 = |error| p256::SigningKey::from_sec1_der(bytes).map_err(|_| error);
                let private = p256::SigningKey::from_pkcs8_der(bytes).or_else(sec1);
                (private, p256::PublicKey::from_spki_der(bytes))
            }
        };
        either(private, public)
    }

    /// A key of X25519: PEM or DER of a private key (PKCS#8), or its 32 bytes.
    ///
    /// # Errors
    ///
    /// [`KeyError`](pk::KeyError) if it is none of them.
    pub fn x25519_from_bytes(bytes: &[u8]) -> Result<Self, pk::KeyError> {
        if let Ok(raw) = bytes.try_into() {
            return Ok(x25519::SecretKey::from_bytes(raw).into());
        }
        let key = match pem(bytes).map_err(|_| pk::KeyError::Encoding)? {
            Some(pem) => x25519::SecretKey::from_pem(pem),
            None => x25519::SecretKey::from_pkcs8_der(bytes),
        };
        key.map(Into::into)
    }

    /// A key of ECDH with P-256: PEM or DER of a private key (PKCS#8 or SEC 1), or its 32 bytes,
    /// the most significant one first.
    ///
    /// # Errors
    ///
    /// [`KeyError`](pk::KeyError) if it is none of them or the key is invalid.
    pub fn ecdh_p256_from_bytes(bytes: &[u8]) -> Result<Self, pk::KeyError> {
        if let Ok(raw) = bytes.try_into() {
            return p256::SecretKey::from_bytes(raw).map(Into::into);
        }
        let key = match pem(bytes).map_err(|_| pk::KeyError::Encoding)? {
            Some(pem) => p256::SecretKey::from_pem(pem),
            None => {
                let sec1 = |error| p256::SecretKey::from_sec1_der(bytes).map_err(|_| error);
                p256::SecretKey::from_pkcs8_der(bytes).or_else(sec1)
            }
        };
        key.map(Into::into)
    }

    /// A key of ML-KEM-768: to decapsulate, PEM or DER of a private key (PKCS#8) with its seed, or
    /// the 64 bytes of the seed; to encapsulate, PEM or DER of a public key (SPKI), or its 1184
    /// bytes.
    ///
    /// # Errors
    ///
    /// [`KeyError`](pk::KeyError) if it is none of them or the key is invalid.
    pub fn mlkem768_from_bytes(bytes: &[u8]) -> Result<Self, pk::KeyError> {
        if let Ok(seed) = bytes.try_into() {
            return Ok(DecapsulationKey::from_seed(seed).into());
        }
        if let Ok(raw) = bytes.try_into() {
            return EncapsulationKey::from_bytes(raw).map(Into::into);
        }
        let (private, public) = match pem(bytes).map_err(|_| pk::KeyError::Encoding)? {
            Some(pem) => (DecapsulationKey::from_pem(pem), EncapsulationKey::from_pem(pem)),
            None => {
                let private = DecapsulationKey::from_pkcs8_der(bytes);
                (private, EncapsulationKey::from_spki_der(bytes))
            }
        };
        either(private, public)
    }
}

/// The private key, or else the public one; the error of the private one if it is neither.
#[cfg(feature = "pk")]
fn either(
    private: Result<impl Into<AsymmetricKey>, pk::KeyError>,
    public: Result<impl Into<AsymmetricKey>, pk::KeyError>,
) -> Result<AsymmetricKey, pk::KeyError> {
    match (private, public) {
        (Ok(private), _) => Ok(private.into()),
        (_, Ok(public)) => Ok(public.into()),
        (Err(pk::KeyError::Encoding), Err(error)) | (Err(error), _) => Err(error),
    }
}

#[cfg(feature = "rsa")]
impl RsaKey {
    /// A key from PEM or DER: a private key (PKCS#8 or PKCS#1) or a public key (SPKI or PKCS#1).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if it is neither or the key is invalid.
    pub fn from_pem_or_der(bytes: &[u8]) -> Result<Self, KeyError> {
        let Some(pem) = pem(bytes).map_err(|_| KeyError::Encoding)? else {
            return PrivateKey::from_pkcs8_der(bytes)
                .map(Self::from)
                .or_else(|error| other(error, || PrivateKey::from_pkcs1_der(bytes)))
                .or_else(|error| other(error, || PublicKey::from_spki_der(bytes)))
                .or_else(|error| other(error, || PublicKey::from_pkcs1_der(bytes)));
        };
        PrivateKey::from_pem(pem)
            .map(Self::from)
            .or_else(|error| other(error, || PublicKey::from_pem(pem)))
    }
}

/// Tries another format, if a key was not in this one.
#[cfg(feature = "rsa")]
fn other<K: Into<RsaKey>>(
    error: KeyError,
    read: impl FnOnce() -> Result<K, KeyError>,
) -> Result<RsaKey, KeyError> {
    match error {
        KeyError::Encoding => read().map(Into::into),
        error => Err(error),
    }
}
