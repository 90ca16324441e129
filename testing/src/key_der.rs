//! Any bytes as a key.

use lanecrypt_rsa::{Hash, Padding, PrivateKey, PublicKey, Workspace};

/// Reads an input in all forms of keys, and returns how many of the forms of DER it has. Nothing
/// panics, and a private key that is taken signs rightly.
pub fn key_der(input: &[u8]) -> usize {
    let private =
        [PrivateKey::legacy_from_pkcs8_der(input), PrivateKey::legacy_from_pkcs1_der(input)];
    let public = [PublicKey::legacy_from_spki_der(input), PublicKey::legacy_from_pkcs1_der(input)];
    let forms = private.iter().flatten().count() + public.iter().flatten().count();
    private.iter().flatten().for_each(signs);
    if let Ok(text) = core::str::from_utf8(input) {
        PrivateKey::legacy_from_pem(text).iter().for_each(signs);
        let _ = PublicKey::legacy_from_pem(text);
    }
    forms
}

fn signs(key: &PrivateKey) {
    let padding = Padding::pkcs1v15(Hash::LEGACY_SHA1);
    let mut workspace = Workspace::new();
    let mut signature = vec![0; key.signature_length()];
    let signed = key.sign(padding, b"message", &mut signature, &mut workspace);
    assert_eq!(signed, Ok(()), "a key that was taken");
    let verified = key.public_key().verify(padding, b"message", &signature, &mut workspace);
    assert_eq!(verified, Ok(()), "a signature that was made");
    let again = key.to_pkcs8_der().map(|der| PrivateKey::legacy_from_pkcs8_der(&der).is_ok());
    assert_eq!(again, Ok(true), "the form of a key");
}
