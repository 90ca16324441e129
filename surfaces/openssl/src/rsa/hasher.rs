//! The hash functions of messages that come in pieces.

use lanecrypt_rsa::Hash;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// A message so far.
#[derive(Clone)]
pub(super) enum Hasher {
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Hasher {
    /// For one of the hash functions that the module knows.
    pub(super) fn new(hash: Hash) -> Self {
        match hash {
            Hash::SHA384 => Self::Sha384(Sha384::new()),
            Hash::SHA512 => Self::Sha512(Sha512::new()),
            _ => Self::Sha256(Sha256::new()),
        }
    }

    pub(super) fn hash(&self) -> Hash {
        match self {
            Self::Sha256(_) => Hash::SHA256,
            Self::Sha384(_) => Hash::SHA384,
            Self::Sha512(_) => Hash::SHA512,
        }
    }

    pub(super) fn update(&mut self, piece: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(piece),
            Self::Sha384(hasher) => hasher.update(piece),
            Self::Sha512(hasher) => hasher.update(piece),
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        match self {
            Self::Sha256(hasher) => hasher.finalize().to_vec(),
            Self::Sha384(hasher) => hasher.finalize().to_vec(),
            Self::Sha512(hasher) => hasher.finalize().to_vec(),
        }
    }
}
