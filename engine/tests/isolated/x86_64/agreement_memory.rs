//! The stack that requests of curves and of ML-KEM use.

use lanecrypt_engine::{Engine, Request};
use lanecrypt_pk::{ed25519, p256};
use lanecrypt_testing::depth::depth;

use crate::agreement_memory::exchanges;

/// The documented stack use of `Engine::process` in bytes, for keys of the crate of curves.
const DOCUMENTED: usize = 256 << 10;
/// More than are served at once.
const COUNT: usize = 40;

pub(crate) fn curves_need_no_more_stack_than_documented() {
    let engine = Engine::new();
    let check = |requests: &mut [Request<'_>], what: &dyn core::fmt::Debug| {
        let deepest = depth(&mut || assert_eq!(engine.process(requests), Ok(())));
        println!("{deepest} bytes for {}: {what:?}", requests.len());
        assert!((1000..DOCUMENTED).contains(&deepest), "{deepest}: {what:?}");
    };
    for (key, received) in exchanges() {
        let session = engine.asymmetric_session(key.clone());
        for count in [1, COUNT] {
            let mut outs = vec![vec![0; session.agreement_length()]; count];
            let mut requests: Vec<_> =
                outs.iter_mut().map(|out| Request::agree(&session, &received, out)).collect();
            check(&mut requests, &key);
        }
    }
    let edwards = ed25519::SigningKey::from_bytes(&[1; 32]);
    let weierstrass = p256::SigningKey::from_bytes(&[1; 32]).expect("it is in range");
    for session in [engine.asymmetric_session(edwards), engine.asymmetric_session(weierstrass)] {
        for count in [1, COUNT] {
            let mut outs = vec![[0; 64]; count];
            let mut requests: Vec<_> =
                outs.iter_mut().map(|out| Request::sign(&session, b"message", out)).collect();
            check(&mut requests, &session);
            drop(requests);
            let mut requests: Vec<_> =
                outs.iter().map(|out| Request::verify(&session, b"message", out)).collect();
            check(&mut requests, &session);
        }
    }
}
