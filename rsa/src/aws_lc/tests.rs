//! Who serves what, and that nothing else differs.

use super::keys::MISSED;
use super::*;
use crate::{Backend, Workspace, process};

fn keys() -> [PrivateKey; 2] {
    let key = PrivateKey::from_pem(include_str!("../../tests/key.pem")).expect("a good key");
    let lowest = key.with_isa(Isa::PORTABLE);
    [key, lowest]
}

fn is_made(key: &PrivateKey) -> bool {
    key.aws_lc.pair.get().is_some_and(Option::is_some)
}

/// Signs so many messages at once.
fn signed(key: &PrivateKey, count: usize, workspace: &mut Workspace) -> Vec<Vec<u8>> {
    let mut signatures = vec![vec![0; key.signature_length()]; count];
    let mut requests: Vec<_> = (0_u8..)
        .zip(&mut signatures)
        .map(|(i, out)| Request::sign(key, Padding::pkcs1v15(Hash::SHA256), &[i], out))
        .collect();
    process(&mut requests, workspace).expect("all are good");
    signatures
}

#[test]
fn signatures_are_the_same_by_any_backend() {
    for key in keys() {
        for count in 1..=40 {
            let [own, aws_lc, measured] = [Backend::Own, Backend::AwsLc, Backend::Measured]
                .map(|backend| signed(&key, count, &mut Workspace::with_backend(backend)));
            assert_eq!(own, aws_lc, "{count}");
            assert_eq!(own, measured, "{count}");
        }
    }
}

/// A key is made for AWS-LC when AWS-LC is named, or when that has paid.
#[test]
fn keys_are_made_when_they_are_needed() {
    let [key, lowest] = keys();
    let mut own = Workspace::with_backend(Backend::Own);
    let _ = (signed(&key, 1, &mut own), signed(&lowest, 1, &mut own));
    assert!(!is_made(&key) && !is_made(&lowest));
    let _ = signed(&key, 1, &mut Workspace::with_backend(Backend::AwsLc));
    assert!(is_made(&key));
    let _ = signed(&lowest, 1, &mut Workspace::new());
    assert!(is_made(&lowest), "with the portable kernel, it costs less at once");

    let [key, _] = keys();
    let isa = key.public_key().modulus().isa();
    for turn in 0..=MISSED {
        assert!(!has_single(isa) || !is_made(&key), "{turn}");
        let _ = signed(&key, 1, &mut Workspace::new());
    }
    // It has been measured by this key or by another one.
    let known = || unreachable!("it is known");
    assert!(is_made(&key) || !may_be_faster(isa, 2048) || !cost::is_faster(2048, known, known));
}

#[test]
fn what_aws_lc_takes() {
    let [key, _] = keys();
    let without = key.without_primes();
    let taken = |padding| {
        let (mut out, signature) = (vec![0; 256], vec![0; 256]);
        [
            takes(&Request::sign(&key, padding, b"", &mut out)),
            takes(&Request::verify(key.public_key(), padding, b"", &signature)),
        ]
    };
    for &hash in &[Hash::SHA256, Hash::SHA384, Hash::SHA512] {
        assert_eq!(taken(Padding::pkcs1v15(hash)), [true; 2]);
        assert_eq!(taken(Padding::pss(hash)), [true; 2]);
        assert_eq!(taken(Padding::pss_with_salt_length(hash, 20)), [false; 2]);
    }
    #[cfg(feature = "legacy")]
    assert_eq!(taken(Padding::pkcs1v15(Hash::LEGACY_SHA1)), [false; 2]);

    let (padding, input, mut out) = (Padding::pss(Hash::SHA256), [0; 256], vec![0; 256]);
    assert!(!takes(&Request::sign(&without, padding, b"", &mut out)));
    assert!(!takes(&Request::sign(&key, padding, b"", &mut out[1..])));
    assert!(!takes(&Request::sign_digest(&key, padding, b"", &mut out)));
    assert!(!takes(&Request::verify(key.public_key(), padding, b"", &input[1..])));
    assert!(!takes(&crate::hazmat::raw_private(&key, &input, &mut out)));
    assert!(!takes(&crate::hazmat::sign_with_salt(&key, padding, b"", b"salt", &mut out)));
}

/// All methods are those of AWS-LC: nothing is left to our own path.
#[test]
fn every_method_is_served() {
    let [key, _] = keys();
    let mut own = Workspace::with_backend(Backend::Own);
    for &hash in &[Hash::SHA256, Hash::SHA384, Hash::SHA512] {
        for padding in [Padding::pkcs1v15(hash), Padding::pss(hash)] {
            let mut signature = vec![0; 256];
            let mut requests = [Request::sign(&key, padding, b"message", &mut signature)];
            serve(&mut requests, None);
            assert_eq!(requests[0].outcome(), Some(Ok(())), "{padding:?}");
            let verified = key.public_key().verify(padding, b"message", &signature, &mut own);
            assert_eq!(verified, Ok(()), "{padding:?}");
            let mut requests = [&b"message"[..], b"massage"]
                .map(|message| Request::verify(key.public_key(), padding, message, &signature));
            serve(&mut requests, None);
            let outcomes = requests.each_ref().map(Request::outcome);
            assert_eq!(outcomes, [Some(Ok(())), Some(Err(Error::Signature))], "{padding:?}");
        }
    }
}

/// A batch of which only some may go to AWS-LC, with errors among them.
#[test]
fn mixed_batches() {
    for key in keys() {
        let without = key.without_primes();
        let mut workspace = Workspace::new();
        let _ = signed(&key, 1, &mut Workspace::with_backend(Backend::AwsLc));
        let padding = Padding::pkcs1v15(Hash::SHA384);
        let mut expected = vec![0; 256];
        without.sign(padding, b"message", &mut expected, &mut workspace).expect("a good key");
        for count in 1..20 {
            let mut outs = vec![vec![0; 256]; count];
            let right = expected.clone();
            let mut requests: Vec<_> = outs
                .iter_mut()
                .enumerate()
                .map(|(i, out)| match i % 6 {
                    2 => Request::sign(&without, padding, b"message", out),
                    3 => Request::sign_digest(&key, padding, b"short", out),
                    4 => Request::verify(key.public_key(), padding, b"message", &right),
                    5 => Request::verify(key.public_key(), padding, b"massage", &right),
                    _ => Request::sign(&key, padding, b"message", out),
                })
                .collect();
            let _ = process(&mut requests, &mut workspace);
            for (i, request) in requests.iter().enumerate() {
                let outcome = match i % 6 {
                    3 => Err(Error::DigestLength),
                    5 => Err(Error::Signature),
                    _ => Ok(()),
                };
                assert_eq!(request.outcome(), Some(outcome), "{i} of {count}");
            }
            for (i, out) in outs.iter().enumerate() {
                let is_zero = out.iter().all(|&byte| byte == 0);
                assert!(if i % 6 < 3 { *out == expected } else { is_zero }, "{i} of {count}");
            }
        }
    }
}

/// AWS-LC checks keys when it takes them, so a damaged one is left to our own path, which finds the
/// wrong result.
#[test]
#[cfg(feature = "legacy")]
fn a_damaged_key_signs_nothing() {
    for key in keys() {
        let mut spoilt = key.with_isa(key.public_key().modulus().isa());
        spoilt.primes_mut().expect("a key with primes").exponents[0][3] ^= 1;
        let mut signature = vec![0; 256];
        for backend in [Backend::AwsLc, Backend::Measured, Backend::AwsLc] {
            let mut workspace = Workspace::with_backend(backend);
            let padding = Padding::pss(Hash::SHA256);
            let outcome = spoilt.sign(padding, b"message", &mut signature, &mut workspace);
            assert_eq!(outcome, Err(Error::Fault), "{backend:?}");
            assert!(signature.iter().all(|&byte| byte == 0));
        }
        assert!(!is_made(&spoilt) && spoilt.aws_lc.pair.get().is_some());
    }
}
