//! Wycheproof's signatures of PKCS#1 v1.5 and PSS: each set in batches, at every level.

#[path = "../common/wycheproof.rs"]
mod cases;

use cases::Case;
use lanecrypt_rsa::{Error, PublicKey, Request, Workspace, process};

use crate::common::{BACKENDS, levels};

fn run((keys, cases): (Vec<PublicKey>, Vec<Case>)) {
    for (isa, &backend) in levels().flat_map(|isa| BACKENDS.iter().map(move |of| (isa, of))) {
        let keys: Vec<_> = keys.iter().map(|key| key.with_isa(isa)).collect();
        let mut workspace = Workspace::with_backend(backend);
        let mut requests: Vec<_> = cases
            .iter()
            .map(|case| {
                Request::verify(&keys[case.key], case.padding, &case.message, &case.signature)
            })
            .collect();
        let _ = process(&mut requests, &mut workspace);
        for (case, request) in cases.iter().zip(&requests) {
            let outcome = request.outcome().expect("it was processed");
            let place = &case.place;
            if let Some(answer) = case.answer {
                assert_eq!(outcome.is_ok(), answer, "{place}: {outcome:?}");
            }
            assert!(matches!(outcome, Ok(()) | Err(Error::Signature)), "{place}: {outcome:?}");
        }
    }
}

#[test]
fn pkcs1v15() {
    run(cases::pkcs1v15());
}

#[test]
fn probabilistic() {
    run(cases::probabilistic());
}
