//! Keys of key exchange as they are stored.

use lanecrypt_engine::AsymmetricKey;
use lanecrypt_pk::mlkem768::{DecapsulationKey, EncapsulationKey};
use lanecrypt_pk::{KeyError, p256, x25519};

/// The private key (PKCS#8) of PEM or DER, or its bytes.
pub(super) fn read_x25519(bytes: &[u8]) -> Result<AsymmetricKey, KeyError> {
    let key = match bytes.try_into() {
        Ok(raw) => Ok(x25519::SecretKey::from_bytes(raw)),
        Err(_) => match pem(bytes)? {
            Some(pem) => x25519::SecretKey::from_pem(pem),
            None => x25519::SecretKey::from_pkcs8_der(bytes),
        },
    };
    key.map(Into::into)
}

/// The private key (PKCS#8 or SEC 1) of PEM or DER, or its number.
pub(super) fn read_ecdh_p256(bytes: &[u8]) -> Result<AsymmetricKey, KeyError> {
    let key = match bytes.try_into() {
        Ok(raw) => p256::SecretKey::from_bytes(raw),
        Err(_) => match pem(bytes)? {
            Some(pem) => p256::SecretKey::from_pem(pem),
            None => {
                let sec1 = |error| p256::SecretKey::from_sec1_der(bytes).map_err(|_| error);
                p256::SecretKey::from_pkcs8_der(bytes).or_else(sec1)
            }
        },
    };
    key.map(Into::into)
}

/// The decapsulation key (PKCS#8) or encapsulation key (SPKI) of PEM or DER, or the seed of the one
/// or the bytes of the other.
pub(super) fn read_mlkem768(bytes: &[u8]) -> Result<AsymmetricKey, KeyError> {
    if let Ok(seed) = bytes.try_into() {
        return Ok(DecapsulationKey::from_seed(seed).into());
    }
    if let Ok(raw) = bytes.try_into() {
        return EncapsulationKey::from_bytes(raw).map(Into::into);
    }
    let (private, public) = match pem(bytes)? {
        Some(pem) => (DecapsulationKey::from_pem(pem), EncapsulationKey::from_pem(pem)),
        None => {
            let private = DecapsulationKey::from_pkcs8_der(bytes);
            (private, EncapsulationKey::from_spki_der(bytes))
        }
    };
    match (private, public) {
        (Ok(private), _) => Ok(private.into()),
        (_, Ok(public)) => Ok(public.into()),
        (Err(KeyError::Encoding), Err(error)) | (Err(error), _) => Err(error),
    }
}

/// The text of PEM; `None` of DER.
fn pem(bytes: &[u8]) -> Result<Option<&str>, KeyError> {
    match bytes.starts_with(b"-----") {
        true => core::str::from_utf8(bytes).map(Some).map_err(|_| KeyError::Encoding),
        false => Ok(None),
    }
}
