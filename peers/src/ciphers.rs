//! The peers' ciphers: one file a peer.

#[cfg(feature = "aws-lc")]
mod aws_lc;
mod ipsec_mb;
mod libgcrypt;
mod nettle;
mod openssl;
mod rust_crypto;

use crate::{CipherPeer, PeerLibraries};

pub(crate) fn all(libraries: &PeerLibraries) -> Vec<CipherPeer> {
    let mut peers = Vec::new();
    peers.extend(openssl::ciphers(libraries));
    peers.extend(libgcrypt::ciphers(libraries));
    peers.extend(nettle::ciphers(libraries));
    peers.extend(aws_lc());
    peers.extend(ipsec_mb::ciphers(libraries));
    peers.extend(rust_crypto::ciphers());
    peers
}

#[cfg(feature = "aws-lc")]
fn aws_lc() -> Vec<CipherPeer> {
    aws_lc::ciphers()
}

#[cfg(not(feature = "aws-lc"))]
fn aws_lc() -> Vec<CipherPeer> {
    let hint = "build with the feature aws-lc of lanecrypt-peers";
    [
        ["aws-lc", "evp", "aes-128-cbc"],
        ["aws-lc", "evp", "aes-128-ctr"],
        ["aws-lc", "evp", "aes-256-xts"],
        ["aws-lc", "evp", "des-cbc"],
        ["aws-lc", "evp", "3des-cbc"],
        ["aws-lc", "direct", "chacha20-ietf"],
    ]
    .map(|names| CipherPeer::missing(names, hint))
    .into()
}
