//! What the ciphers with authentication differ in, for tests of all of them.

use lanecrypt_ciphers::{Algorithm, Mac, Mode};

/// Every algorithm that authenticates.
pub fn aeads() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|row| row.is_aead())
}

/// Those of them that take messages in pieces.
pub fn in_pieces() -> impl Iterator<Item = Algorithm> {
    aeads().filter(|row| row.has_pieces())
}

/// Whether nonces may have any length but zero.
pub fn any_nonce(algorithm: Algorithm) -> bool {
    matches!(algorithm.mode(), Mode::Gcm | Mode::Siv)
}

/// Every length in bytes of the tags of an algorithm, the usual one first.
pub fn tag_lengths(algorithm: Algorithm) -> Vec<usize> {
    let (usual, others) = match (algorithm.mac(), algorithm.mode()) {
        (Some(Mac::HmacSha1), _) => (16, (12..=20).collect()),
        (Some(Mac::HmacSha256), _) => (16, (16..=32).collect()),
        (Some(Mac::HmacSha384), _) => (24, (24..=48).collect()),
        (None, Mode::Gcm) => (16, vec![4, 8, 12, 13, 14, 15]),
        _ => (16, Vec::new()),
    };
    let others = others.into_iter().filter(|&length| length != usual);
    [usual].into_iter().chain(others).collect()
}

/// The most bytes, of so many, that a message of the algorithm can have.
pub fn whole(algorithm: Algorithm, bytes: usize) -> usize {
    bytes - bytes % algorithm.granularity()
}
