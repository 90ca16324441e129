//! Keys of key exchange, signatures and encapsulation: two sides agree, and what must be refused.

use lanecrypt_libcrypto::{Error, KeyType};

use crate::builds;

/// Bytes of public keys.
const CURVES: [(KeyType, usize); 2] = [(KeyType::X25519, 32), (KeyType::P256, 65)];

#[test]
fn both_sides_derive_the_same_secret() {
    for libcrypto in builds() {
        for (of, length) in CURVES {
            let Ok(mut generator) = libcrypto.generator(of) else {
                assert!(libcrypto.version().starts_with('1'), "from 3.0 on it is there");
                continue;
            };
            let keys = [(); 2].map(|()| generator.generate().expect("there is entropy"));
            let public = keys.each_ref().map(|key| {
                let mut public = vec![0; length];
                key.public(&mut public).expect("so many bytes");
                assert_eq!(key.public(&mut vec![0; length + 1]), Err(Error::DataLength));
                assert!(key.public(&mut vec![0; length - 1]).is_err());
                public
            });
            assert_ne!(public[0], public[1]);
            let [mut one, mut other] = keys.map(|key| key.into_deriver().expect("it derives"));
            for _ in 0..2 {
                let mut secrets = [[0; 32]; 2];
                one.derive(&public[1], &mut secrets[0]).expect("a good key");
                other.derive(&public[0], &mut secrets[1]).expect("a good key");
                assert!(secrets[0] == secrets[1] && secrets[0] != [0; 32], "{of:?}");
                // Not a point, or one of low order.
                assert_eq!(one.derive(&vec![0; length], &mut secrets[0]), Err(Error::Failed));
                assert_eq!(one.derive(&public[1][1..], &mut secrets[0]), Err(Error::Failed));
            }
        }
    }
}

#[test]
fn signatures_are_accepted_and_others_refused() {
    for libcrypto in builds() {
        for (of, length) in [(KeyType::Ed25519, 32), (KeyType::P256, 65)] {
            let Ok(mut generator) = libcrypto.generator(of) else { continue };
            let key = generator.generate().expect("there is entropy");
            let mut public = vec![0; length];
            key.public(&mut public).expect("so many bytes");
            let mut signer = key.into_signer().expect("it signs");
            let public = libcrypto.public_key(of, &public).expect("a good key");
            let mut verifier = public.into_signer().expect("it checks");
            for message in [[1; 32], [2; 32]] {
                let mut signature = [0; 72];
                let length = signer.sign(&message, &mut signature).expect("there is room");
                let signature = &mut signature[..length];
                assert_eq!(verifier.verify(&message, signature), Ok(()));
                assert_eq!(verifier.verify(&[3; 32], signature), Err(Error::Failed));
                signature[length - 1] ^= 1;
                assert_eq!(verifier.verify(&message, signature), Err(Error::Failed));
                assert!(verifier.sign(&message, &mut [0; 72]).is_err(), "a public key");
                assert!(signer.sign(&message, &mut [0; 20]).is_err(), "no room");
            }
        }
    }
}

#[test]
fn encapsulated_secrets_are_recovered() {
    for libcrypto in builds() {
        let Ok(mut generator) = libcrypto.generator(KeyType::MlKem768) else {
            println!("SKIPPED openssl-newest: {} has no ML-KEM (make peers)", libcrypto.version());
            continue;
        };
        let key = generator.generate().expect("there is entropy");
        let mut public = vec![0; 1184];
        key.public(&mut public).expect("so many bytes");
        let public = libcrypto.public_key(KeyType::MlKem768, &public).expect("a good key");
        let (mut ciphertext, mut secrets) = (vec![0; 1088], [[0; 32]; 2]);
        public.encapsulate(&mut ciphertext, &mut secrets[0]).expect("good lengths");
        key.decapsulate(&ciphertext, &mut secrets[1]).expect("good lengths");
        assert!(secrets[0] == secrets[1] && secrets[0] != [0; 32]);
        ciphertext[5] ^= 1;
        key.decapsulate(&ciphertext, &mut secrets[1]).expect("rejected without a word");
        assert_ne!(secrets[0], secrets[1]);
        assert!(public.encapsulate(&mut ciphertext[1..], &mut secrets[0]).is_err());
        assert!(key.decapsulate(&ciphertext[1..], &mut secrets[0]).is_err());
    }
}

#[test]
fn keys_of_other_lengths_and_uses_are_refused() {
    for libcrypto in builds() {
        let Ok(mut generator) = libcrypto.generator(KeyType::Ed25519) else { continue };
        assert!(generator.generate().expect("there is entropy").into_deriver().is_err());
        for (of, length) in CURVES {
            assert!(libcrypto.public_key(of, &vec![4; length - 1]).is_err(), "{of:?}");
            assert!(libcrypto.private_key(of, &[1; 31], &vec![4; length]).is_err(), "{of:?}");
        }
        let key = libcrypto.private_key(KeyType::X25519, &[1; 32], &[]).expect("any 32 bytes");
        assert!(key.into_signer().is_err());
    }
}
