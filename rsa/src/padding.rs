//! Paddings of signatures: PKCS#1 v1.5 and PSS.

mod pss;

use crate::Error;
use crate::hash::{Digest, Hash};

/// How the digest of a message becomes a number (RFC 8017, section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Padding {
    kind: Kind,
    hash: Hash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Pkcs1v15,
    Pss { salt_length: usize },
}

impl Padding {
    /// RSASSA-PKCS1-v1_5: the same message always has the same signature.
    #[must_use]
    pub const fn pkcs1v15(hash: Hash) -> Self {
        Self { kind: Kind::Pkcs1v15, hash }
    }

    /// RSASSA-PSS with MGF1 of the same hash function, and with a random salt as long as a digest,
    /// which is what TLS and most others use.
    #[must_use]
    pub const fn pss(hash: Hash) -> Self {
        Self::pss_with_salt_length(hash, hash.length())
    }

    /// RSASSA-PSS with MGF1 of the same hash function, and with a random salt of so many bytes.
    /// Signatures with salts of other lengths are wrong.
    #[must_use]
    pub const fn pss_with_salt_length(hash: Hash, salt_length: usize) -> Self {
        Self { kind: Kind::Pss { salt_length }, hash }
    }

    /// The hash function.
    #[must_use]
    pub const fn hash(self) -> Hash {
        self.hash
    }

    /// Whether it is PSS; none if its salt is not as long as a digest.
    #[cfg(feature = "aws-lc")]
    pub(crate) fn is_usual_pss(self) -> Option<bool> {
        match self.kind {
            Kind::Pkcs1v15 => Some(false),
            Kind::Pss { salt_length } => (salt_length == self.hash.length()).then_some(true),
        }
    }

    /// The length of the salt of PSS in bytes; `None` for PKCS#1 v1.5.
    #[must_use]
    pub const fn salt_length(self) -> Option<usize> {
        match self.kind {
            Kind::Pkcs1v15 => None,
            Kind::Pss { salt_length } => Some(salt_length),
        }
    }

    /// The padded digest for a modulus of so many bits, in as many bytes as the modulus has. The
    /// salt of PSS is `salt`, or random.
    pub(crate) fn encode(
        self,
        digest: &Digest,
        salt: Option<&[u8]>,
        bits: usize,
        out: &mut [u8],
    ) -> Result<(), Error> {
        if digest.bytes().len() != self.hash.length() {
            return Err(Error::DigestLength);
        }
        match self.kind {
            Kind::Pkcs1v15 => pkcs1v15(self.hash, digest, out),
            Kind::Pss { salt_length } => {
                let salt_length = salt.map_or(salt_length, <[u8]>::len);
                pss::encode(self.hash, digest, salt, salt_length, bits, out)
            }
        }
    }

    /// Checks that `number`, which a public operation made of a signature, is the padded digest,
    /// and overwrites it. `room` has the same length.
    pub(crate) fn check(
        self,
        digest: &Digest,
        bits: usize,
        number: &mut [u8],
        room: &mut [u8],
    ) -> Result<(), Error> {
        if digest.bytes().len() != self.hash.length() {
            return Err(Error::DigestLength);
        }
        let right = match self.kind {
            // The whole of it is compared. Nothing is parsed.
            Kind::Pkcs1v15 => {
                pkcs1v15(self.hash, digest, room)?;
                number == room
            }
            Kind::Pss { salt_length } => pss::check(self.hash, digest, salt_length, bits, number)?,
        };
        if right { Ok(()) } else { Err(Error::Signature) }
    }
}

/// EMSA-PKCS1-v1_5 (RFC 8017, section 9.2): `00 01 FF … FF 00`, the prefix of the hash function,
/// the digest.
fn pkcs1v15(hash: Hash, digest: &Digest, out: &mut [u8]) -> Result<(), Error> {
    let (prefix, digest) = (hash.prefix(), digest.bytes());
    let end = prefix.len() + digest.len();
    // Three bytes, and at least eight times FF.
    let padding = out.len().checked_sub(end + 3).filter(|&padding| padding >= 8);
    let padding = padding.ok_or(Error::KeyTooShort)?;
    let (first, rest) = out.split_at_mut(2);
    let (ones, rest) = rest.split_at_mut(padding);
    let (zero, rest) = rest.split_at_mut(1);
    first.copy_from_slice(&[0, 1]);
    ones.fill(0xff);
    zero.fill(0);
    rest[..prefix.len()].copy_from_slice(prefix);
    rest[prefix.len()..].copy_from_slice(digest);
    Ok(())
}
