//! What Lanecrypt is measured against: one file a peer, all foreign calls.
//!
//! Libraries are found at run time by `dlopen`, so that nothing has to be installed to build;
//! an absent one is reported with the command that installs it.

mod aead;
mod aeads;
#[cfg(feature = "aws-lc")]
mod aws_lc;
mod cipher;
mod ciphers;
mod crypt;
mod draw;
#[cfg(target_pointer_width = "64")]
mod elf;
mod generator;
mod glibc;
mod ipsec_mb;
mod kernel;
mod libgcrypt;
mod library;
mod libsodium;
mod nettle;
mod openssl;
mod rust_random;
mod sealing;
pub mod streams;
#[cfg(target_pointer_width = "64")]
mod vdso;
pub mod vectors;

pub use aead::{Aead, AeadPeer, Packet, aead_lengths};
pub use cipher::{Cipher, CipherPeer, Direction, Message, lengths};
pub use crypt::{Crypt, cipher, rounds};
pub use draw::{Draw, Failed, generator};
pub use generator::{Availability, Generator, GeneratorPeer};
pub use library::{BadLibrary, CannotOpen, PeerLibraries};
pub use rust_random::hc128_keystream;
pub use sealing::{Sealing, aead};

/// Every generator that Lanecrypt is measured against, those that are missing here included.
///
/// Libraries are looked for where the dynamic loader looks; see [`generators_with`].
#[must_use]
pub fn generators() -> Vec<GeneratorPeer> {
    generators_with(&PeerLibraries::new())
}

/// Every generator that Lanecrypt is measured against, from the libraries at the given paths.
///
/// A library is opened once in a process and stays open. Asked for again at another path, it is
/// reported as missing, because [`GeneratorPeer::make`] could not tell the two apart.
///
/// Each peer that is found has also been tried: it gave 32 bytes.
#[must_use]
pub fn generators_with(libraries: &PeerLibraries) -> Vec<GeneratorPeer> {
    let mut peers = Vec::new();
    peers.extend(kernel::generators());
    peers.extend(glibc::generators());
    peers.extend(openssl::generators(libraries));
    peers.extend(libsodium::generators(libraries));
    peers.extend(libgcrypt::generators(libraries));
    peers.extend(rust_random::generators());
    peers.extend(aws_lc_generators());
    peers
}

/// Every cipher that Lanecrypt is measured against, from where the dynamic loader looks.
#[must_use]
pub fn ciphers() -> Vec<CipherPeer> {
    ciphers_with(&PeerLibraries::new())
}

/// Every cipher that Lanecrypt is measured against, those that are missing here included, from the
/// libraries at the given paths.
///
/// Libraries are opened as for [`generators_with`]. Each peer that is found has also been tried:
/// what it encrypted it could decrypt.
#[must_use]
pub fn ciphers_with(libraries: &PeerLibraries) -> Vec<CipherPeer> {
    ciphers::all(libraries)
}

/// Every cipher with authentication that Lanecrypt is measured against, from where the dynamic
/// loader looks.
#[must_use]
pub fn aeads() -> Vec<AeadPeer> {
    aeads_with(&PeerLibraries::new())
}

/// Every cipher with authentication that Lanecrypt is measured against, those that are missing here
/// included, from the libraries at the given paths.
///
/// Libraries are opened as for [`generators_with`]. Each peer that is found has also been tried:
/// what it sealed it could open, and a forged tag it refused.
#[must_use]
pub fn aeads_with(libraries: &PeerLibraries) -> Vec<AeadPeer> {
    aeads::all(libraries)
}

#[cfg(feature = "aws-lc")]
fn aws_lc_generators() -> [GeneratorPeer; 1] {
    aws_lc::generators()
}

#[cfg(not(feature = "aws-lc"))]
fn aws_lc_generators() -> [GeneratorPeer; 1] {
    let hint = "build with the feature aws-lc of lanecrypt-peers".to_owned();
    [GeneratorPeer::tried("aws-lc", "system-random", "aes-256-ctr", Err(hint), || None)]
}
