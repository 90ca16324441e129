//! Message authentication codes that an algorithm chains to a cipher.

use crate::KeyLengths;

/// A code that authenticates what a cipher encrypted: encrypt, then MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Mac {
    /// HMAC (RFC 2104) with SHA-1 (FIPS 180-4). SHA-1 is broken as a hash: collisions are known.
    /// HMAC does not rest on that, but new protocols use SHA-256.
    HmacSha1,
    /// HMAC with SHA-256.
    HmacSha256,
    /// HMAC with SHA-384.
    HmacSha384,
}

impl Mac {
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::HmacSha1 => "hmac-sha1",
            Self::HmacSha256 => "hmac-sha256",
            Self::HmacSha384 => "hmac-sha384",
        }
    }

    /// The length in bytes of the whole code, and of the longer of its keys.
    #[must_use]
    pub const fn output_length(self) -> usize {
        match self {
            Self::HmacSha1 => 20,
            Self::HmacSha256 => 32,
            Self::HmacSha384 => 48,
        }
    }

    /// The length in bytes of the shortest tag: 12 of SHA-1 (RFC 2404), otherwise half of the code
    /// (RFC 4868).
    #[must_use]
    pub const fn shortest_tag(self) -> usize {
        match self {
            Self::HmacSha1 => 12,
            Self::HmacSha256 => 16,
            Self::HmacSha384 => 24,
        }
    }

    /// The lengths of its keys: as long as the code (RFC 4868), or half of that (RFC 7518), but
    /// with SHA-1.
    pub(crate) const fn key_lengths(self) -> KeyLengths {
        let whole = self.output_length();
        match self {
            Self::HmacSha1 => KeyLengths::one(whole),
            Self::HmacSha256 | Self::HmacSha384 => KeyLengths::either(whole / 2, whole),
        }
    }
}
