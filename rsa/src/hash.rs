//! Hash functions, and digests of messages.

use core::fmt;

/// The most bytes of a digest.
pub(crate) const MAX_LENGTH: usize = 64;

/// A hash function (FIPS 180-4).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(Function);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Function {
    #[cfg(feature = "legacy")]
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    /// SHA-256.
    pub const SHA256: Self = Self(Function::Sha256);
    /// SHA-384.
    pub const SHA384: Self = Self(Function::Sha384);
    /// SHA-512.
    pub const SHA512: Self = Self(Function::Sha512);
    /// SHA-1, which is **broken**: two messages with one digest, and so with one signature, have
    /// been made.
    #[cfg(feature = "legacy")]
    pub const LEGACY_SHA1: Self = Self(Function::Sha1);

    /// All hash functions.
    pub const ALL: &'static [Self] = &[
        Self::SHA256,
        Self::SHA384,
        Self::SHA512,
        #[cfg(feature = "legacy")]
        Self::LEGACY_SHA1,
    ];

    /// Its name: `sha256`, `sha384`, `sha512` or `sha1`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            #[cfg(feature = "legacy")]
            Function::Sha1 => "sha1",
            Function::Sha256 => "sha256",
            Function::Sha384 => "sha384",
            Function::Sha512 => "sha512",
        }
    }

    /// The length of its digests in bytes.
    #[must_use]
    pub const fn length(self) -> usize {
        match self.0 {
            #[cfg(feature = "legacy")]
            Function::Sha1 => 20,
            Function::Sha256 => 32,
            Function::Sha384 => 48,
            Function::Sha512 => 64,
        }
    }

    /// What stands before a digest in PKCS#1 v1.5: the DER of `DigestInfo` (RFC 8017, section 9.2,
    /// note 1).
    pub(crate) const fn prefix(self) -> &'static [u8] {
        match self.0 {
            #[cfg(feature = "legacy")]
            Function::Sha1 => b"\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14",
            Function::Sha256 => {
                b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"
            }
            Function::Sha384 => {
                b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30"
            }
            Function::Sha512 => {
                b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40"
            }
        }
    }

    /// The digest of parts, one behind the other.
    #[must_use]
    pub fn digest(self, parts: &[&[u8]]) -> Digest {
        match self.0 {
            #[cfg(feature = "legacy")]
            Function::Sha1 => digest::<sha1::Sha1>(parts),
            Function::Sha256 => digest::<sha2::Sha256>(parts),
            Function::Sha384 => digest::<sha2::Sha384>(parts),
            Function::Sha512 => digest::<sha2::Sha512>(parts),
        }
    }
}

fn digest<D: sha2::Digest>(parts: &[&[u8]]) -> Digest {
    let mut hash = D::new();
    for part in parts {
        hash.update(part);
    }
    let output = hash.finalize();
    let mut bytes = [0; MAX_LENGTH];
    bytes[..output.len()].copy_from_slice(&output);
    Digest { bytes, length: output.len() }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A digest.
#[derive(Clone, Copy)]
pub struct Digest {
    bytes: [u8; MAX_LENGTH],
    length: usize,
}

impl Digest {
    /// A digest that the caller has computed; none if it is longer than all digests are.
    pub(crate) fn new(from: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_LENGTH];
        bytes.get_mut(..from.len())?.copy_from_slice(from);
        Some(Self { bytes, length: from.len() })
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Digest").field(&self.bytes()).finish()
    }
}
