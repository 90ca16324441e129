//! Every public-key operation that is found works, in sessions with different keys and in every
//! number at once.

use std::collections::HashSet;

use lanecrypt_peers::{Asked, Job, Key, KeyPair, Operation, PeerLibraries, Run, public_keys};

use crate::name;

/// Keys of an operation: three, or one without a meaning.
fn keys(operation: Operation) -> Vec<Option<Key>> {
    match operation.key() {
        Some(kind) => [(); 3].map(|()| Some(Key::generate(kind))).into(),
        None => vec![None],
    }
}

fn pairs(keys: &[Option<Key>]) -> Vec<KeyPair<'_>> {
    let none = KeyPair { private: &[], public: &[] };
    keys.iter().map(|key| key.as_ref().map_or(none, Key::pair)).collect()
}

#[test]
fn the_list_is_whole_and_says_how_to_get_what_is_missing() {
    let peers = public_keys(&PeerLibraries::new());
    let of = |source: &str| peers.iter().filter(|peer| peer.source == source).count();
    let counts = ["openssl", "aws-lc", "ring", "dalek", "rustcrypto", "crypto-mb"].map(of);
    assert_eq!(counts, [26, 13, 7, 4, 9, 9]);
    assert!(peers.iter().all(|peer| peer.operation().is_some()));
    crate::is_whole(&peers);
}

#[test]
fn answers_are_right_under_every_key_and_in_every_batch() {
    for peer in crate::found(public_keys) {
        let operation = peer.operation().expect("an operation");
        let keys = keys(operation);
        let mut by = peer.with_key_pairs(&pairs(&keys)).expect("it was found");
        for batch in [1, 2, 3, 7, 8, 9, 17] {
            let key = |at: usize| keys[at % keys.len()].as_ref();
            let asked = |at| Asked::new(operation, key(at)).expect("a key of this kind");
            let mut asked: Vec<Asked> = (0..batch).map(asked).collect();
            let mut jobs: Vec<Job<'_>> =
                asked.iter_mut().enumerate().map(|(at, it)| it.job(at % keys.len())).collect();
            let run = Run::of(batch).in_batches(batch);
            assert_eq!(by.jobs(&mut jobs, run), Ok(()), "{} {batch}", name(&peer));
            for (at, it) in asked.iter().enumerate() {
                assert!(it.is_answered(key(at)), "{} {at} of {batch}", name(&peer));
            }
            if operation.generated().is_some() {
                let last = asked.last().expect("one at least");
                assert!(last.has_generated(&mut *by), "{} {batch}", name(&peer));
                let made: HashSet<&[u8]> = asked.iter().map(Asked::output).collect();
                assert_eq!(made.len(), batch, "{}: the same key twice", name(&peer));
            }
        }
    }
}

#[test]
fn a_wrong_signature_is_found_in_every_place_of_a_batch() {
    for peer in crate::found(public_keys) {
        let operation = peer.operation().expect("an operation");
        if !operation.is_check() {
            continue;
        }
        let keys = keys(operation);
        let mut by = peer.with_key_pairs(&pairs(&keys)).expect("it was found");
        let asked =
            |at: usize| Asked::new(operation, keys[at % 3].as_ref()).expect("a key of this kind");
        let mut asked: Vec<Asked> = (0..9).map(asked).collect();
        for wrong in 0..9 {
            for byte in [3, 35] {
                asked[wrong].output_mut()[byte] ^= 1;
                let mut jobs: Vec<Job<'_>> =
                    asked.iter_mut().enumerate().map(|(at, it)| it.job(at % 3)).collect();
                let outcome = by.jobs(&mut jobs, Run::of(9).in_batches(9));
                assert!(outcome.is_err(), "{} {wrong}", name(&peer));
                asked[wrong].output_mut()[byte] ^= 1;
            }
        }
        let mut jobs: Vec<Job<'_>> =
            asked.iter_mut().enumerate().map(|(at, it)| it.job(at % 3)).collect();
        assert_eq!(by.jobs(&mut jobs, Run::of(9).in_batches(9)), Ok(()), "{}", name(&peer));
    }
}

#[test]
fn jobs_of_wrong_lengths_and_sessions_are_refused() {
    for peer in crate::found(public_keys) {
        let operation = peer.operation().expect("an operation");
        let keys = keys(operation);
        let mut by = peer.with_key_pairs(&pairs(&keys)).expect("it was found");
        let mut asked = Asked::new(operation, keys[0].as_ref()).expect("a key of this kind");
        assert!(by.jobs(&mut [], Run::of(1)).is_err(), "{}", name(&peer));
        assert!(by.jobs(&mut [asked.job(keys.len())], Run::of(1)).is_err(), "{}", name(&peer));
        let Job { input, message, digest, output, .. } = asked.job(0);
        let (short, _) = output.split_at_mut(31);
        let job = Job { session: 0, input, message, digest, output: short };
        assert!(by.jobs(&mut [job], Run::of(1)).is_err(), "{}", name(&peer));
        assert!(peer.with_key_pairs(&[]).is_none(), "{}", name(&peer));
    }
}
