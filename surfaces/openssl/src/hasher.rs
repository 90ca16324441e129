//! The hash functions of messages that come in pieces.

use core::ffi::CStr;

use lanecrypt_rsa::Hash;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use crate::abi::{Param, UTF8};

/// Names of the hash functions by which we sign.
const HASHES: [(&[&str], Hash); 3] = [
    (&["SHA256", "SHA2-256", "SHA-256", "2.16.840.1.101.3.4.2.1"], Hash::SHA256),
    (&["SHA384", "SHA2-384", "SHA-384", "2.16.840.1.101.3.4.2.2"], Hash::SHA384),
    (&["SHA512", "SHA2-512", "SHA-512", "2.16.840.1.101.3.4.2.3"], Hash::SHA512),
];

/// A name that a context tells.
pub(crate) struct Name([u8; 64]);

impl Name {
    /// The hash function, if we have it.
    pub(crate) fn hash(&self) -> Option<Hash> {
        let name = CStr::from_bytes_until_nul(&self.0).ok()?.to_str().ok()?;
        let mut hashes = HASHES.iter();
        let found =
            hashes.find(|(names, _)| names.iter().any(|own| own.eq_ignore_ascii_case(name)));
        found.map(|(_, hash)| *hash)
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0[0] == 0
    }

    /// A parameter with the place of the name, whose last byte stays zero.
    pub(crate) fn param(&mut self, key: &'static CStr) -> Param {
        let mut param = Param::described(key.as_ptr(), UTF8, self.0.len() - 1);
        param.data = self.0.as_mut_ptr().cast();
        param
    }

    /// Makes the parameter as long as its name.
    pub(crate) fn shorten(param: &mut Param) {
        // SAFETY: the place of a name, whose last byte is zero.
        param.data_size = unsafe { CStr::from_ptr(param.data.cast()) }.count_bytes();
    }
}

impl Default for Name {
    fn default() -> Self {
        Self([0; 64])
    }
}

/// A message so far.
#[derive(Clone)]
pub(crate) enum Hasher {
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Hasher {
    /// For one of the hash functions that the module knows.
    pub(crate) fn new(hash: Hash) -> Self {
        match hash {
            Hash::SHA384 => Self::Sha384(Sha384::new()),
            Hash::SHA512 => Self::Sha512(Sha512::new()),
            _ => Self::Sha256(Sha256::new()),
        }
    }

    pub(crate) fn hash(&self) -> Hash {
        match self {
            Self::Sha256(_) => Hash::SHA256,
            Self::Sha384(_) => Hash::SHA384,
            Self::Sha512(_) => Hash::SHA512,
        }
    }

    pub(crate) fn update(&mut self, piece: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(piece),
            Self::Sha384(hasher) => hasher.update(piece),
            Self::Sha512(hasher) => hasher.update(piece),
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        match self {
            Self::Sha256(hasher) => hasher.finalize().to_vec(),
            Self::Sha384(hasher) => hasher.finalize().to_vec(),
            Self::Sha512(hasher) => hasher.finalize().to_vec(),
        }
    }
}
