//! Signatures are right for an independent implementation (ring), and its signatures for us; single
//! and in batches, of all paddings.

use lanecrypt_rsa::{
    Backend, Error, Hash, Padding, PrivateKey, PublicKey, Request, Workspace, process,
};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases};
use ring::rand::SystemRandom;
use ring::signature::{
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PKCS1_SHA256, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RSA_PSS_SHA512, RsaKeyPair, RsaParameters, UnparsedPublicKey,
};

/// All that may serve requests.
const BACKENDS: &[Backend] = &[
    Backend::Own,
    #[cfg(feature = "aws-lc")]
    Backend::AwsLc,
    #[cfg(feature = "aws-lc")]
    Backend::Measured,
];

fn key() -> PrivateKey {
    PrivateKey::from_pem(include_str!("../key.pem")).expect("a good key")
}

fn paddings() -> [(Padding, &'static RsaParameters); 6] {
    [
        (Padding::pkcs1v15(Hash::SHA256), &RSA_PKCS1_2048_8192_SHA256),
        (Padding::pkcs1v15(Hash::SHA384), &RSA_PKCS1_2048_8192_SHA384),
        (Padding::pkcs1v15(Hash::SHA512), &RSA_PKCS1_2048_8192_SHA512),
        (Padding::pss(Hash::SHA256), &RSA_PSS_2048_8192_SHA256),
        (Padding::pss(Hash::SHA384), &RSA_PSS_2048_8192_SHA384),
        (Padding::pss(Hash::SHA512), &RSA_PSS_2048_8192_SHA512),
    ]
}

#[test]
fn ours_for_ring() {
    let key = key();
    let public = key.public_key().to_pkcs1_der();
    let mut numbers = Numbers(7);
    for (isa, &backend) in levels().flat_map(|isa| BACKENDS.iter().map(move |of| (isa, of))) {
        let [key, without] = [key.with_isa(isa), key.without_primes().with_isa(isa)];
        let mut workspace = Workspace::with_backend(backend);
        let mut done = 0;
        while done < cases(100) {
            let count = 1 + numbers.below(40);
            let messages: Vec<_> = (0..count)
                .map(|_| {
                    let length = numbers.below(200);
                    numbers.bytes(length)
                })
                .collect();
            let mut signatures = vec![vec![0; 256]; count];
            let mut requests: Vec<_> = messages
                .iter()
                .zip(&mut signatures)
                .enumerate()
                .map(|(i, (message, signature))| {
                    let key = if i % 16 == 3 { &without } else { &key };
                    Request::sign(key, paddings()[i % 6].0, message, signature)
                })
                .collect();
            process(&mut requests, &mut workspace).expect("all are good");
            for (i, (message, signature)) in messages.iter().zip(&signatures).enumerate() {
                let parameters = paddings()[i % 6].1;
                let verified =
                    UnparsedPublicKey::new(parameters, &public).verify(message, signature);
                assert!(verified.is_ok(), "{i}: {:?}", paddings()[i % 6].0);
            }
            done += count as u64;
        }
    }
}

#[test]
fn those_of_ring_for_us() {
    let key = key();
    let pair = RsaKeyPair::from_der(&key.to_pkcs1_der().expect("it has primes")).expect("a key");
    let mut signature = vec![0; 256];
    for (isa, &backend) in levels().flat_map(|isa| BACKENDS.iter().map(move |of| (isa, of))) {
        let mut workspace = Workspace::with_backend(backend);
        let public = key.public_key().with_isa(isa);
        for (padding, of_ring) in [
            (
                Padding::pkcs1v15(Hash::SHA256),
                &RSA_PKCS1_SHA256 as &dyn ring::signature::RsaEncoding,
            ),
            (Padding::pss(Hash::SHA512), &RSA_PSS_SHA512),
        ] {
            pair.sign(of_ring, &SystemRandom::new(), b"message", &mut signature).expect("signed");
            assert_eq!(public.verify(padding, b"message", &signature, &mut workspace), Ok(()));
            let wrong = public.verify(padding, b"massage", &signature, &mut workspace);
            assert_eq!(wrong, Err(Error::Signature));
        }
    }
}

#[test]
fn digests_and_their_lengths() {
    for &backend in BACKENDS {
        digests_by(backend);
    }
}

fn digests_by(backend: Backend) {
    let key = key();
    let public = PublicKey::from_spki_der(&key.public_key().to_spki_der()).expect("a good key");
    let mut workspace = Workspace::with_backend(backend);
    let [mut one, mut other] = [vec![0; 256], vec![0; 256]];
    for (padding, _) in paddings() {
        let digest = vec![7; padding.hash().length()];
        assert_eq!(key.sign_digest(padding, &digest, &mut one, &mut workspace), Ok(()));
        assert_eq!(public.verify_digest(padding, &digest, &one, &mut workspace), Ok(()));
        for length in [0, digest.len() - 1, digest.len() + 1, 65] {
            let digest = vec![7; length];
            let outcomes = [
                key.sign_digest(padding, &digest, &mut other, &mut workspace),
                public.verify_digest(padding, &digest, &one, &mut workspace),
            ];
            assert_eq!(outcomes, [Err(Error::DigestLength); 2], "{padding:?} {length}");
        }
        for length in [0, 255, 257] {
            let mut short = vec![0; length];
            let outcome = key.sign(padding, b"", &mut short, &mut workspace);
            assert_eq!(outcome, Err(Error::OutputLength));
            let outcome = public.verify(padding, b"", &short, &mut workspace);
            assert_eq!(outcome, Err(Error::Signature));
        }
    }
    assert!(other.iter().all(|&byte| byte == 0));
    // 256 = 64 + 2 + 190.
    for (length, outcome) in
        [(190, Ok(())), (191, Err(Error::KeyTooShort)), (usize::MAX, Err(Error::KeyTooShort))]
    {
        let padding = Padding::pss_with_salt_length(Hash::SHA512, length);
        assert_eq!(key.sign(padding, b"", &mut one, &mut workspace), outcome, "{length}");
        assert_eq!(public.verify(padding, b"", &one, &mut workspace), outcome, "{length}");
    }
}

/// Two signatures of PSS have two salts; a request is served once.
#[test]
fn salts_are_new_and_requests_are_served_once() {
    for &backend in BACKENDS {
        salts_by(backend);
    }
}

fn salts_by(backend: Backend) {
    let key = key();
    let mut workspace = Workspace::with_backend(backend);
    let mut signatures = [vec![0; 256], vec![0; 256]];
    let [one, other] = &mut signatures;
    let padding = Padding::pss(Hash::SHA256);
    let mut requests =
        [one, other].map(|signature| Request::sign(&key, padding, b"message", signature));
    assert_eq!(requests[0].outcome(), None);
    process(&mut requests, &mut workspace).expect("both are good");
    drop(requests);
    assert_ne!(signatures[0], signatures[1]);

    let before = signatures[0].clone();
    let mut requests = [Request::sign(&key, padding, b"message", &mut signatures[0])];
    process(&mut requests, &mut workspace).expect("it is good");
    process(&mut requests, &mut workspace).expect("it has been served");
    assert_eq!(requests[0].outcome(), Some(Ok(())));
    assert_ne!(signatures[0], before);
}
