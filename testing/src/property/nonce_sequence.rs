//! What must hold for any sequence of nonces: shared by a test, which runs it on a fixed corpus,
//! and by the fuzz target `nonce_sequence`, which searches for inputs that break it.

use std::collections::BTreeSet;

use lanecrypt_ciphers::{Algorithm, Error, Nonce, NonceSequence, Nonces, RandomNonces};

use super::Bytes;

/// Takes a sequence from the bytes of `input`, and asserts that its nonces are the ones that they
/// should be, that none comes twice, and that it ends where it should and stays there.
pub fn nonce_sequence(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let algorithm = *bytes.choice(Algorithm::ALL);
    let steps = bytes.length() % 300;
    let first = first(&mut bytes);
    match bytes.choice(&[Kind::Counter, Kind::Masked, Kind::Random]) {
        Kind::Counter => {
            let length = bytes.length() % 40;
            counted(algorithm, &bytes.take(length), first, steps);
        }
        Kind::Masked => {
            let usual = bytes.byte() < 200;
            let length = if usual { algorithm.nonce_length() } else { bytes.length() % 40 };
            masked(algorithm, &bytes.repeated(length), first, steps);
        }
        Kind::Random => random(algorithm, first, steps),
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Masked,
    Random,
}

/// Where it begins: anywhere, mostly near to where counters end.
fn first(bytes: &mut Bytes<'_>) -> u64 {
    let near = bytes.length() as u64 % 300;
    match bytes.byte() % 8 {
        0 => near,
        1 => u64::MAX - near,
        // Counters of 4 to 7 bytes.
        shift @ 2..=5 => (1_u64 << (8 * (shift + 2))) - near,
        _ => u64::from_le_bytes(core::array::from_fn(|_| bytes.byte())),
    }
}

/// A fixed field, and a counter in the rest.
fn counted(algorithm: Algorithm, fixed: &[u8], first: u64, steps: usize) {
    let length = algorithm.nonce_length();
    let nonces = Nonces::counter(algorithm, fixed);
    if !algorithm.is_aead() || algorithm.needs_random_nonces() {
        assert_eq!(nonces.map(drop), Err(Error::Unsupported), "{algorithm}");
        return;
    }
    if fixed.len() + 4 > length {
        assert_eq!(nonces.map(drop), Err(Error::NonceLength), "{algorithm} {}", fixed.len());
        return;
    }
    let mut nonces = nonces.expect("there is room").starting_at(first);
    let field = length - fixed.len();
    let end = 1_u128 << (8 * field.min(8));
    let nonce = |count: u128| {
        let mut nonce = fixed.to_vec();
        nonce.extend(vec![0; field]);
        let count = count.to_be_bytes();
        let bytes = field.min(8);
        nonce[length - bytes..].copy_from_slice(&count[16 - bytes..]);
        nonce
    };
    follow(&mut nonces, first, end, steps, nonce);
}

/// A counter that is added to an initialization vector without carries.
fn masked(algorithm: Algorithm, iv: &[u8], first: u64, steps: usize) {
    let nonces = Nonces::masked(algorithm, iv);
    if !algorithm.is_aead() || algorithm.needs_random_nonces() {
        assert_eq!(nonces.map(drop), Err(Error::Unsupported), "{algorithm}");
        return;
    }
    if iv.len() != algorithm.nonce_length() {
        assert_eq!(nonces.map(drop), Err(Error::NonceLength), "{algorithm} {}", iv.len());
        return;
    }
    let mut nonces = nonces.expect("a good length").starting_at(first);
    let nonce = |count: u128| {
        let mut nonce = iv.to_vec();
        let count = count.to_be_bytes();
        nonce.iter_mut().rev().zip(count[8..].iter().rev()).for_each(|(to, from)| *to ^= from);
        nonce
    };
    follow(&mut nonces, first, 1 << 64, steps, nonce);
}

/// At random; as if others had been taken before.
fn random(algorithm: Algorithm, first: u64, steps: usize) {
    let nonces = RandomNonces::new(algorithm, lanecrypt_random::rng());
    if !algorithm.is_aead() {
        assert_eq!(nonces.map(drop), Err(Error::Unsupported), "{algorithm}");
        return;
    }
    let mut nonces = nonces.expect("it has nonces").already_used(first);
    let most = match algorithm.nonce_length() {
        12 => 1 << 32,
        16 => 1 << 48,
        _ => u64::MAX,
    };
    let mut seen = BTreeSet::new();
    for step in 0..steps as u64 {
        match nonces.fresh() {
            Ok(nonce) => {
                assert!(first.checked_add(step).is_some_and(|n| n < most), "{algorithm} {first}");
                assert_eq!(nonce.len(), algorithm.nonce_length());
                assert!(seen.insert(nonce.to_vec()), "{algorithm}: {nonce:?} came twice");
            }
            Err(error) => {
                assert_eq!(error, Error::NoncesExhausted, "{algorithm}");
                assert!(first.checked_add(step).is_none_or(|n| n >= most), "{algorithm} {first}");
            }
        }
    }
}

/// Asserts that the sequence is `nonce` of `first` and of what follows, up to `end`.
fn follow(
    nonces: &mut Nonces,
    first: u64,
    end: u128,
    steps: usize,
    nonce: impl Fn(u128) -> Vec<u8>,
) {
    let length = nonces.nonce_length();
    let mut seen = BTreeSet::new();
    for count in (u128::from(first)..).take(steps) {
        let answer: Result<Nonce, Error> = nonces.fresh();
        if count >= end {
            assert_eq!(answer, Err(Error::NoncesExhausted), "{count} of {end}");
            continue;
        }
        let answer = answer.expect("it is not the end");
        assert_eq!((&answer[..], answer.len()), (&nonce(count)[..], length), "{count}");
        assert!(seen.insert(answer.to_vec()), "{answer:?} came twice");
    }
}
