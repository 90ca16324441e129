//! RSA keys as they are stored and sent.

use lanecrypt_engine::RsaKey;
use lanecrypt_rsa::{KeyError, PrivateKey, PublicKey};

/// The private key (PKCS#8 or PKCS#1) or public key (SPKI or PKCS#1) of PEM or DER.
pub(super) fn read(bytes: &[u8]) -> Result<RsaKey, KeyError> {
    if !bytes.starts_with(b"-----") {
        return read_der(bytes);
    }
    let pem = core::str::from_utf8(bytes).map_err(|_| KeyError::Encoding)?;
    PrivateKey::from_pem(pem)
        .map(RsaKey::from)
        .or_else(|error| other(error, || PublicKey::from_pem(pem)))
}

/// The same of DER.
pub(super) fn read_der(der: &[u8]) -> Result<RsaKey, KeyError> {
    PrivateKey::from_pkcs8_der(der)
        .map(RsaKey::from)
        .or_else(|error| other(error, || PrivateKey::from_pkcs1_der(der)))
        .or_else(|error| other(error, || PublicKey::from_spki_der(der)))
        .or_else(|error| other(error, || PublicKey::from_pkcs1_der(der)))
}

/// Tries another format, if a key was not in this one.
fn other<K: Into<RsaKey>>(
    error: KeyError,
    read: impl FnOnce() -> Result<K, KeyError>,
) -> Result<RsaKey, KeyError> {
    match error {
        KeyError::Encoding => read().map(Into::into),
        error => Err(error),
    }
}

#[cfg(test)]
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
            let found = read(form).expect("it is a form");
            assert!(found.private_key().is_some() && found.public_key() == public);
            assert_eq!(read_der(form).is_ok(), form != pem.as_bytes());
        }
        let pem = public.to_pem();
        for form in [pem.as_bytes(), &public.to_spki_der(), &public.to_pkcs1_der()] {
            let found = read(form).expect("it is a form");
            assert!(found.private_key().is_none() && found.public_key() == public);
        }
        let forged = pem.replace('A', "B");
        for form in [&b""[..], b"-----", b"\xff", b"-----\xff", forged.as_bytes(), &pkcs8[1..]] {
            assert!(read(form).is_err());
        }
    }
}
