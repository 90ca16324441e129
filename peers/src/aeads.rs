//! The peers' ciphers with authentication: one file a peer.

#[cfg(feature = "aws-lc")]
mod aws_lc;
mod ipsec_mb;
mod libgcrypt;
mod nettle;
mod openssl;
#[cfg(feature = "ring")]
mod ring;
mod rust_crypto;

use crate::{AeadPeer, PeerLibraries};

pub(crate) fn all(libraries: &PeerLibraries) -> Vec<AeadPeer> {
    let mut peers = Vec::new();
    peers.extend(openssl::aeads(libraries));
    peers.extend(libgcrypt::aeads(libraries));
    peers.extend(nettle::aeads(libraries));
    peers.extend(aws_lc());
    peers.extend(ring());
    peers.extend(ipsec_mb::aeads(libraries));
    peers.extend(rust_crypto::aeads());
    peers
}

#[cfg(feature = "aws-lc")]
fn aws_lc() -> [AeadPeer; 3] {
    aws_lc::aeads()
}

#[cfg(not(feature = "aws-lc"))]
fn aws_lc() -> [AeadPeer; 3] {
    not_built("aws-lc", "build with the feature aws-lc of lanecrypt-peers")
}

#[cfg(feature = "ring")]
fn ring() -> [AeadPeer; 3] {
    ring::aeads()
}

#[cfg(not(feature = "ring"))]
fn ring() -> [AeadPeer; 3] {
    not_built("ring", "build with the feature ring of lanecrypt-peers")
}

#[cfg(not(all(feature = "aws-lc", feature = "ring")))]
fn not_built(source: &'static str, hint: &str) -> [AeadPeer; 3] {
    ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"]
        .map(|algorithm| AeadPeer::missing([source, "crate", algorithm], hint))
}

/// Whether two tags are the same, in constant time: what the caller of a library does that only
/// computes them.
#[inline]
fn same(a: &[u8; 16], b: &[u8; 16]) -> bool {
    u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b) == 0
}
