//! Faults in the memory of keys: where signatures are checked, a wrong one is not given out.

use crate::{Backend, Error, Options, Request, ed25519, p256};

const BACKENDS: &[Backend] = &[
    Backend::Measured,
    Backend::Own,
    Backend::Lanes,
    #[cfg(feature = "aws-lc")]
    Backend::AwsLc,
];

/// Signs by good keys and a faulty one at each place, with and without checks.
fn check<K>(
    good: &K,
    faulty: &K,
    request: impl for<'a> Fn(&'a K, &'a mut [u8; 64]) -> Request<'a>,
    is_right: impl Fn(&[u8; 64]) -> bool,
) {
    for &backend in BACKENDS {
        for (count, place) in [1, 4, 9].into_iter().flat_map(|n| (0..n).map(move |at| (n, at))) {
            for checks in [false, true] {
                let options = Options::new().with_backend(backend).with_signature_checks(checks);
                let mut signatures = vec![[0; 64]; count];
                let mut requests: Vec<_> = signatures
                    .iter_mut()
                    .enumerate()
                    .map(|(at, signature)| {
                        request(if at == place { faulty } else { good }, signature)
                    })
                    .collect();
                assert_eq!(options.process(&mut requests).is_err(), checks);
                let outcomes: Vec<_> = requests.iter().map(Request::outcome).collect();
                drop(requests);
                for (at, (outcome, signature)) in outcomes.into_iter().zip(&signatures).enumerate()
                {
                    let case = (backend, count, place, at);
                    if at != place {
                        assert_eq!(outcome, Some(Ok(())), "{case:?}");
                        assert!(is_right(signature), "{case:?}");
                    } else if checks {
                        assert_eq!(outcome, Some(Err(Error::Fault)), "{case:?}");
                        assert_eq!(signature, &[0; 64], "{case:?}");
                    } else {
                        assert_eq!(outcome, Some(Ok(())), "{case:?}");
                        assert!(!is_right(signature), "{case:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn faults_in_keys_of_ed25519_are_found() {
    let [good, other] = [[1; 32], [2; 32]].map(|seed| ed25519::SigningKey::from_bytes(&seed));
    check(
        &good,
        &other.with_public_key_of(&good),
        |key, signature| Request::ed25519_sign(key, b"message", signature),
        |signature| good.verifying_key().verify(b"message", signature).is_ok(),
    );
}

#[test]
fn faults_in_keys_of_p256_are_found() {
    let [good, other] = [[1; 32], [2; 32]]
        .map(|number| p256::SigningKey::from_bytes(&number).expect("less than the order"));
    check(
        &good,
        &other.with_public_key_of(&good),
        |key, signature| Request::p256_sign(key, b"message", signature),
        |signature| good.public_key().verify(b"message", signature).is_ok(),
    );
}
