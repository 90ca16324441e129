//! Keys of signatures from PEM and DER: every form is read, and nothing else.

#[cfg(feature = "pk")]
#[test]
fn keys_of_curves_are_read() {
    use lanecrypt_engine::AsymmetricKey;
    use lanecrypt_pk::{KeyError, ed25519, p256};

    type Read = fn(&[u8]) -> Result<AsymmetricKey, KeyError>;
    let edwards = ed25519::SigningKey::from_bytes(&[3; 32]);
    let weierstrass = p256::SigningKey::from_bytes(&[3; 32]).expect("it is in range");
    let (edwards_public, weierstrass_public) = (edwards.verifying_key(), weierstrass.public_key());
    let cases: [(Read, [Vec<u8>; 4]); 2] = [
        (
            AsymmetricKey::ed25519_from_pem_or_der,
            [
                edwards.to_pkcs8_der().to_vec(),
                edwards.to_pem().as_bytes().to_vec(),
                edwards_public.to_spki_der(),
                edwards_public.to_pem().into_bytes(),
            ],
        ),
        (
            AsymmetricKey::p256_from_pem_or_der,
            [
                weierstrass.to_pkcs8_der().to_vec(),
                weierstrass.to_pem().as_bytes().to_vec(),
                weierstrass_public.to_spki_der(),
                weierstrass_public.to_pem().into_bytes(),
            ],
        ),
    ];
    for (at, (read, forms)) in cases.iter().enumerate() {
        let (other, others) = &cases[1 - at];
        for (number, form) in forms.iter().enumerate() {
            let key = read(form).expect("it is a form");
            assert_eq!(
                (key.is_private(), &key.to_spki_der().expect("no fault")),
                (number < 2, &forms[2])
            );
            assert_eq!(other(form).err(), Some(KeyError::Algorithm));
            assert_eq!(read(&form[..form.len() / 2]).err(), Some(KeyError::Encoding));
        }
        assert!(others.iter().all(|form| read(form).is_err()));
        // Bytes of a public key are not one of its forms: they could as well be those of a secret.
        for form in [&b""[..], b"-----", b"\xff", b"-----\xff", &forms[2][forms[2].len() - 32..]] {
            assert_eq!(read(form).err(), Some(KeyError::Encoding));
        }
    }
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----";
    for (read, _) in cases {
        assert_eq!(read(encrypted.as_bytes()).err(), Some(KeyError::Encrypted));
    }
}

#[cfg(feature = "rsa")]
#[test]
fn keys_of_rsa_are_read() {
    use lanecrypt_engine::RsaKey;
    use lanecrypt_rsa::PrivateKey;

    let pem = include_str!("../../../rsa/tests/key.pem");
    let key = PrivateKey::from_pem(pem).expect("it is a key");
    let (pkcs8, pkcs1) = (key.to_pkcs8_der(), key.to_pkcs1_der());
    let (pkcs8, pkcs1) = (pkcs8.expect("it has primes"), pkcs1.expect("it has primes"));
    let public = key.public_key();
    for form in [pem.as_bytes(), &pkcs8, &pkcs1] {
        let found = RsaKey::from_pem_or_der(form).expect("it is a form");
        assert!(found.private_key().is_some() && found.public_key() == public);
    }
    let pem = public.to_pem();
    for form in [pem.as_bytes(), &public.to_spki_der(), &public.to_pkcs1_der()] {
        let found = RsaKey::from_pem_or_der(form).expect("it is a form");
        assert!(found.private_key().is_none() && found.public_key() == public);
    }
    let forged = pem.replace('A', "B");
    for form in [&b""[..], b"-----", b"\xff", b"-----\xff", forged.as_bytes(), &pkcs8[1..]] {
        assert!(RsaKey::from_pem_or_der(form).is_err());
    }
}
