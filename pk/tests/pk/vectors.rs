//! Vectors of standards, and signatures for another implementation.

use lanecrypt_pk::{Request, ed25519, hazmat, p256, x25519};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey,
};

use crate::common::{all_options, hex};

/// RFC 7748, section 5.2: k and u are 9 at first; then u is the last k, and k the last result.
#[test]
fn x25519_iterated() {
    for options in all_options() {
        let mut nine = [0; 32];
        nine[0] = 9;
        let secret = x25519::SecretKey::from_bytes(&nine);
        let mut public = [0; 32];
        let request = Request::x25519_public_key(&secret, &mut public);
        options.process(&mut [request]).expect("it is good");
        let first = hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079");
        assert_eq!(public, first);

        let (mut k, mut u) = (nine, nine);
        for _ in 0..1000 {
            let (secret, public) = (x25519::SecretKey::from_bytes(&k), u.into());
            u = k;
            let request = Request::x25519_shared_secret(&secret, &public, &mut k);
            options.process(&mut [request]).expect("it is good");
        }
        let last = hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
        assert_eq!(k, last, "{options:?}");
    }
}

/// RFC 8032, section 7.1, test 1.
#[test]
fn ed25519_signature() {
    let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    let key = ed25519::SigningKey::from_bytes(&seed);
    let public = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    assert_eq!(*key.verifying_key().as_bytes(), public);
    let expected = hex(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701c\
         f9b46bd25bf5f0595bbe24655141438e7a100b",
    );
    for options in all_options() {
        let mut signature = [0; 64];
        let request = Request::ed25519_sign(&key, b"", &mut signature);
        options.process(&mut [request]).expect("it is good");
        assert_eq!(signature, expected, "{options:?}");
    }
}

/// RFC 6979, section A.2.5: without entropy, the nonce depends on key and digest.
#[test]
fn ecdsa_signature() {
    let secret = hex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
    let key = p256::SigningKey::from_bytes(&secret).expect("in range");
    let digest = hex("af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf");
    let expected = hex(
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6\
         e29f65f3e900dbb9aff4064dc4ab2f843acda8",
    );
    for options in all_options() {
        let mut signature = [0; 64];
        let request = hazmat::p256_sign_digest(&key, &digest, None, &mut signature);
        options.process(&mut [request]).expect("it is good");
        assert_eq!(signature, expected, "{options:?}");
        let mut hedged = [0; 64];
        let request = hazmat::p256_sign_digest(&key, &digest, Some(&[0; 32]), &mut hedged);
        options.process(&mut [request]).expect("it is good");
        assert_ne!(hedged, expected, "{options:?}");
        assert_eq!(key.public_key().verify(b"sample", &hedged), Ok(()));
    }
}

/// Messages of all lengths around blocks of the hash function, many at once.
#[test]
fn signatures_for_ring() {
    let ed25519 = ed25519::SigningKey::from_bytes(&[3; 32]);
    let p256 = p256::SigningKey::from_bytes(&[5; 32]).expect("in range");
    let messages: Vec<_> = (0_u8..150).map(|length| vec![length; length.into()]).collect();
    for options in all_options() {
        let mut outs = vec![[[0; 64]; 2]; messages.len()];
        let mut requests: Vec<_> = messages
            .iter()
            .zip(&mut outs)
            .flat_map(|(message, [one, other])| {
                [
                    Request::ed25519_sign(&ed25519, message, one),
                    Request::p256_sign(&p256, message, other),
                ]
            })
            .collect();
        options.process(&mut requests).expect("all are good");
        drop(requests);
        for (message, [one, other]) in messages.iter().zip(&outs) {
            let public = ed25519.verifying_key().as_bytes();
            UnparsedPublicKey::new(&ED25519, public).verify(message, one).expect("right");
            let public = p256.public_key().as_sec1_bytes();
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public)
                .verify(message, other)
                .expect("right");
            let mut room = [0; p256::MAX_DER_LENGTH];
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, public)
                .verify(message, p256::signature_to_der(other, &mut room))
                .expect("right");
        }
    }
}

/// Signatures that other implementations take: S may be greater than the order, R and A may have a
/// small order, or a part of small order that a multiplication by the cofactor removes.
#[test]
fn lax_signatures_of_ed25519_are_refused() {
    use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT as B, EIGHT_TORSION};
    use curve25519_dalek::scalar::Scalar;
    use sha2::{Digest as _, Sha512};

    let scalar = |bytes: &[u8; 32]| Scalar::from_bytes_mod_order(*bytes);
    let (a, r) = (scalar(&[3; 32]), scalar(&[5; 32]));
    let sign = |point: [u8; 32], public: [u8; 32], r: Scalar, a: Scalar| {
        let hash = Sha512::new().chain_update(point).chain_update(public).chain_update(b"message");
        let k = Scalar::from_bytes_mod_order_wide(&hash.finalize().into());
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&point);
        signature[32..].copy_from_slice((r + k * a).as_bytes());
        signature
    };
    let public = (a * B).compress().to_bytes();
    let key = ed25519::VerifyingKey::from_bytes(&public).expect("a good key");
    let good = sign((r * B).compress().to_bytes(), public, r, a);
    let mut bad = Vec::new();
    // S + L.
    let order = hex::<32>("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let mut malleable = good;
    let mut carry = 0;
    for (byte, order) in malleable[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        (*byte, carry) = (sum.to_le_bytes()[0], sum >> 8);
    }
    bad.push(malleable);
    for point in EIGHT_TORSION {
        // R of small order: S = k a.
        bad.push(sign(point.compress().to_bytes(), public, Scalar::ZERO, a));
        // R with a part of small order.
        if point != EIGHT_TORSION[0] {
            bad.push(sign((r * B + point).compress().to_bytes(), public, r, a));
        }
    }
    // R = 0 in an encoding that is not canonical.
    let mut identity = [0xff; 32];
    (identity[0], identity[31]) = (0xee, 0x7f);
    bad.push(sign(identity, public, Scalar::ZERO, a));

    for options in all_options() {
        for count in [1, 8, 20] {
            for at in 0..count {
                for bad in &bad {
                    let mut requests: Vec<_> = (0..count)
                        .map(|i| {
                            Request::ed25519_verify(
                                &key,
                                b"message",
                                if i == at { bad } else { &good },
                            )
                        })
                        .collect();
                    let failed = options.process(&mut requests).expect_err("one is bad").failed;
                    assert_eq!(failed, 1);
                    assert!(requests[at].outcome().is_some_and(|outcome| outcome.is_err()));
                }
            }
        }
    }
    // A with a part of small order: without the cofactor, a multiple of it remains, unless k is one
    // of eight.
    for point in &EIGHT_TORSION[1..] {
        let public = (a * B + point).compress().to_bytes();
        let key = ed25519::VerifyingKey::from_bytes(&public).expect("not of small order");
        let dalek = ed25519_dalek::VerifyingKey::from_bytes(&public).expect("a good key");
        for number in 0..16 {
            let r = scalar(&[number; 32]);
            let signature = sign((r * B).compress().to_bytes(), public, r, a);
            let answer = dalek.verify_strict(b"message", &signature.into()).is_ok();
            for options in all_options() {
                let request = Request::ed25519_verify(&key, b"message", &signature);
                let verified = options.process(&mut [request]).is_ok();
                assert_eq!(verified, answer, "{options:?} {number}");
            }
        }
    }
}
