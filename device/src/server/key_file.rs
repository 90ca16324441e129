//! Keys of signatures as they are stored and sent.

#[cfg(feature = "pk")]
use lanecrypt_engine::AsymmetricKey;
#[cfg(feature = "rsa")]
use lanecrypt_engine::RsaKey;
#[cfg(feature = "pk")]
use lanecrypt_pk::{self as pk, ed25519, p256};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::{KeyError, PrivateKey, PublicKey};

/// The text of PEM; `None` of DER. An error if it is neither.
fn pem(bytes: &[u8]) -> Result<Option<&str>, core::str::Utf8Error> {
    match bytes.starts_with(b"-----") {
        true => core::str::from_utf8(bytes).map(Some),
        false => Ok(None),
    }
}

/// The private key (PKCS#8) or public key (SPKI) of PEM or DER.
#[cfg(feature = "pk")]
pub(super) fn read_ed25519(bytes: &[u8]) -> Result<AsymmetricKey, pk::KeyError> {
    let (private, public) = match pem(bytes).map_err(|_| pk::KeyError::Encoding)? {
        Some(pem) => (ed25519::SigningKey::from_pem(pem), ed25519::VerifyingKey::from_pem(pem)),
        None => {
            let private = ed25519::SigningKey::from_pkcs8_der(bytes);
            (private, ed25519::VerifyingKey::from_spki_der(bytes))
        }
    };
    either(private, public)
}

/// The private key (PKCS#8 or SEC 1) or public key (SPKI) of PEM or DER.
#[cfg(feature = "pk")]
pub(super) fn read_p256(bytes: &[u8]) -> Result<AsymmetricKey, pk::KeyError> {
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

/// The private key (PKCS#8 or PKCS#1) or public key (SPKI or PKCS#1) of PEM or DER.
#[cfg(feature = "rsa")]
pub(super) fn read_rsa(bytes: &[u8]) -> Result<RsaKey, KeyError> {
    let Some(pem) = pem(bytes).map_err(|_| KeyError::Encoding)? else {
        return read_rsa_der(bytes);
    };
    PrivateKey::from_pem(pem)
        .map(RsaKey::from)
        .or_else(|error| other(error, || PublicKey::from_pem(pem)))
}

/// The same of DER.
#[cfg(feature = "rsa")]
pub(super) fn read_rsa_der(der: &[u8]) -> Result<RsaKey, KeyError> {
    PrivateKey::from_pkcs8_der(der)
        .map(RsaKey::from)
        .or_else(|error| other(error, || PrivateKey::from_pkcs1_der(der)))
        .or_else(|error| other(error, || PublicKey::from_spki_der(der)))
        .or_else(|error| other(error, || PublicKey::from_pkcs1_der(der)))
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

#[cfg(all(test, feature = "rsa"))]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let pem = include_str!("../../../rsa/tests/key.pem");
        let key = PrivateKey::from_pem(pem).expect("it is a key");
        let (pkcs8, pkcs1) = (key.to_pkcs8_der(), key.to_pkcs1_der());
        let (pkcs8, pkcs1) = (pkcs8.expect("it has primes"), pkcs1.expect("it has primes"));
        let public = key.public_key();
        for form in [pem.as_bytes(), &pkcs8, &pkcs1] {
            let found = read_rsa(form).expect("it is a form");
            assert!(found.private_key().is_some() && found.public_key() == public);
            assert_eq!(read_rsa_der(form).is_ok(), form != pem.as_bytes());
        }
        let pem = public.to_pem();
        for form in [pem.as_bytes(), &public.to_spki_der(), &public.to_pkcs1_der()] {
            let found = read_rsa(form).expect("it is a form");
            assert!(found.private_key().is_none() && found.public_key() == public);
        }
        let forged = pem.replace('A', "B");
        for form in [&b""[..], b"-----", b"\xff", b"-----\xff", forged.as_bytes(), &pkcs8[1..]] {
            assert!(read_rsa(form).is_err());
        }
    }
}
