//! Signatures need no more stack than other batches.

use lanecrypt_engine::{Engine, Request};
use lanecrypt_testing::depth::depth;

use crate::rsa_memory::{places, sessions};
use crate::signers::signers;

/// The documented stack use of `Engine::process` in bytes holds for signatures.
pub(crate) fn signatures_need_no_more_stack_than_ciphers() {
    let (engine, signers) = (Engine::new(), signers());
    let sessions = sessions(&engine, &signers);
    let mut places = places(&sessions);
    let mut requests: Vec<_> = sessions
        .iter()
        .cycle()
        .zip(&mut places)
        .map(|(it, place)| Request::sign(it, b"message", place))
        .collect();
    let deepest = depth(&mut || assert_eq!(engine.process(&mut requests), Ok(())));
    println!("{deepest} bytes");
    assert!((1000..40 << 10).contains(&deepest), "{deepest}");
}
