//! Every peer that is found in the dynamic loader's usual places; and what is said of those that
//! are not.

mod aeads;
mod alone;
mod batches;
mod ciphers;
mod crate_versions;
mod generators;
mod missing;
mod public_keys;
mod signers;
mod softhsm;

use lanecrypt_peers::{Availability, Peer, PeerLibraries, lengths, whole_blocks};

/// The peers of a kind that are found.
fn found<T: ?Sized>(all: fn(&PeerLibraries) -> Vec<Peer<T>>) -> Vec<Peer<T>> {
    let mut peers = all(&PeerLibraries::new());
    peers.retain(|peer| matches!(peer.availability, Availability::Found(_)));
    peers
}

/// The peer of the crates for an algorithm, which every other one is compared with.
fn reference<T: ?Sized>(all: fn(&PeerLibraries) -> Vec<Peer<T>>, algorithm: &str) -> Peer<T> {
    let mut peers = all(&PeerLibraries::new());
    // RustCrypto has no AEGIS.
    let source = if algorithm.starts_with("aegis") { "libaegis" } else { "rustcrypto" };
    peers.retain(|peer| peer.source == source && peer.subject == algorithm);
    peers.pop().expect("crates are always there")
}

fn name<T: ?Sized>(peer: &Peer<T>) -> String {
    format!("{} {} {}", peer.source, peer.api, peer.subject)
}

/// Bytes that differ for every `seed` and do not repeat soon.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[3]
    };
    (0..len).map(|_| next()).collect()
}

fn key(algorithm: &str, seed: u64) -> Vec<u8> {
    bytes(seed + 1, lengths(algorithm).expect("a known algorithm").0)
}

/// An IV or a nonce.
fn iv(algorithm: &str, seed: u64) -> Vec<u8> {
    bytes(seed + 1000, lengths(algorithm).expect("a known algorithm").1)
}

/// A length that every peer takes: `len`, or the next whole blocks of 16 bytes. With AES-SIV,
/// libcrypto refuses messages without a byte.
fn fitting(algorithm: &str, len: usize) -> usize {
    match algorithm {
        "aes-siv-256" | "aes-siv-512" => len.max(1),
        _ if whole_blocks(algorithm) => len.next_multiple_of(16),
        _ => len,
    }
}

/// Checks a list: each peer has a different name, and is found or has a hint how to get it.
fn is_whole<T: ?Sized>(peers: &[Peer<T>]) {
    let mut names: Vec<String> = peers.iter().map(name).collect();
    names.sort_unstable();
    assert!(names.is_sorted_by(|a, b| a < b), "two rows of one name: {names:?}");
    for peer in peers {
        let (Availability::Found(text) | Availability::Missing(text)) = &peer.availability else {
            panic!("{peer:?}")
        };
        println!("{peer:?}");
        // Such a peer would be skipped by the other tests.
        assert!(!text.is_empty() && !text.contains("has no working"), "{peer:?}");
    }
}
