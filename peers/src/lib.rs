//! The peers that Lanecrypt is measured against: one file or folder for each peer, with all foreign
//! calls.
//!
//! Libraries are found at run time by `dlopen`, so that nothing has to be installed to build; a
//! missing one is reported with the command that installs it.

mod aead;
mod arc4random;
mod array;
mod cipher;
mod direction;
mod generator;
mod hold;
mod ia32cap;
#[cfg(any(feature = "aws-lc", feature = "ring"))]
mod less_safe;
mod library;
mod loops;
mod named;
mod peer;
mod project;
mod public_key;
mod reference;
mod signer;
pub mod streams;
pub mod vectors;

// The peers.
mod aws_lc;
mod crypto_mb;
mod dalek;
mod glibc;
mod ipsec_mb;
mod kernel;
mod libaegis;
mod libgcrypt;
mod libsodium;
mod nettle;
mod openssl;
mod ring;
mod rust_crypto;
mod rust_random;
mod softhsm;

pub use aead::{Aead, Packet, Sealing, aead};
pub use cipher::{Cipher, Crypt, Message, cipher};
pub use direction::Direction;
pub use generator::{Draw, Generator, generator};
pub use hold::{CannotHold, environment, is_held};
pub use library::PeerLibraries;
pub use loops::{Addressed, Messages, Run, rounds};
pub use named::{BadLibrary, CannotOpen};
pub use peer::{Availability, Peer, lengths, whole_blocks};
pub use public_key::{Job, KeyKind, KeyPair, Operation, PublicKey, PublicKeySession, public_key};
pub use reference::{Asked, Key};
pub use rust_random::hc128_keystream;
pub use signer::{RsaKey, Signature, Signer, Signing, signer};
pub use softhsm::{SoftHsm, TokenKey};

/// Every peer, in the order of the tables.
const PROJECTS: &[&dyn project::Project] = &[
    &kernel::Kernel,
    &glibc::Glibc,
    &openssl::OpenSsl,
    &libsodium::LibSodium,
    &libgcrypt::LibGcrypt,
    &nettle::LibNettle,
    &rust_random::RustRandom,
    &aws_lc::AwsLc,
    &ring::Ring,
    &libaegis::Libaegis,
    &ipsec_mb::IntelIpsecMb,
    &crypto_mb::CryptoMb,
    &rust_crypto::RustCrypto,
    &dalek::Dalek,
    &softhsm::SoftHsm2,
];

/// Every generator that Lanecrypt is measured against, including missing ones, from the given
/// libraries.
///
/// A library is opened once in a process and stays open. If it is asked for again at another path,
/// it is reported as missing, because both would be the same library.
///
/// Each peer that is found has also been tried: it gave 32 bytes.
#[must_use]
pub fn generators(libraries: &PeerLibraries) -> Vec<Peer<dyn Generator>> {
    PROJECTS.iter().flat_map(|project| project.generators(libraries)).collect()
}

/// Every cipher that Lanecrypt is measured against, as for [`generators`]. Each one that is found
/// has decrypted what it encrypted.
#[must_use]
pub fn ciphers(libraries: &PeerLibraries) -> Vec<Peer<dyn Cipher>> {
    PROJECTS.iter().flat_map(|project| project.ciphers(libraries)).collect()
}

/// Every cipher with authentication that Lanecrypt is measured against, as for [`generators`]. Each
/// one that is found has opened what it sealed, and refused a forged tag.
#[must_use]
pub fn aeads(libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
    PROJECTS.iter().flat_map(|project| project.aeads(libraries)).collect()
}

/// Every library for RSA signatures that Lanecrypt is measured against, as for [`generators`]. Each
/// one that is found has made and accepted a known signature, and refused a wrong one.
#[must_use]
pub fn signers(libraries: &PeerLibraries) -> Vec<Peer<dyn Signer>> {
    PROJECTS.iter().flat_map(|project| project.signers(libraries)).collect()
}

/// Every public-key operation that Lanecrypt is measured against, as for [`generators`]; the
/// [`Peer::subject`] is that of an [`Operation`]. Each one that is found has answered correctly,
/// and refused wrong signatures.
#[must_use]
pub fn public_keys(libraries: &PeerLibraries) -> Vec<Peer<dyn PublicKey>> {
    PROJECTS.iter().flat_map(|project| project.public_keys(libraries)).collect()
}

/// The subject of [`signers`]: PKCS#1 v1.5 with SHA-256, under keys of any size.
pub const SIGNATURES: &str = "rsa";

/// A request failed: a generator gave no or too few bytes, a cipher refused, or there is no such
/// call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

impl Failed {
    /// An error unless `success`.
    #[inline]
    pub(crate) fn unless(success: bool) -> Result<(), Self> {
        if success { Ok(()) } else { Err(Self) }
    }
}
