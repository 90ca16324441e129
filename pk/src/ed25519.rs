//! Ed25519 (RFC 8032): signatures of messages.

use core::fmt;

use ed25519_dalek as dalek;
use ed25519_dalek::hazmat::ExpandedSecretKey;
use lanecrypt_kernels::Isa;
use lanecrypt_kernels::curve25519::ed25519 as kernel;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::KeyError;
use crate::encoding::{self, ED25519};
use crate::secret::random;

/// A key that signs. It owns its public key, is wiped on drop, and may be used by many threads at
/// once.
pub struct SigningKey {
    seed: Zeroizing<[u8; 32]>,
    pub(crate) expanded: ExpandedSecretKey,
    pub(crate) lanes: kernel::SigningKey,
    public: VerifyingKey,
}

impl SigningKey {
    /// A key of any 32 bytes, which have to be random and secret. Computes the public key.
    #[must_use]
    pub fn from_bytes(seed: &[u8; 32]) -> Self {
        Self::of(Zeroizing::new(*seed))
    }

    fn of(seed: Zeroizing<[u8; 32]>) -> Self {
        let expanded = ExpandedSecretKey::from(&*seed);
        let public = VerifyingKey::of(dalek::VerifyingKey::from(&expanded));
        let lanes = kernel::SigningKey::new(Isa::detect(), &seed);
        Self { seed, expanded, lanes, public }
    }

    /// Signs by this key what the public key of another does not verify.
    #[cfg(test)]
    pub(crate) fn with_public_key_of(self, other: &Self) -> Self {
        Self { public: other.public.clone(), ..self }
    }

    /// A new key.
    ///
    /// # Errors
    ///
    /// [`KeyError::Entropy`].
    pub fn generate() -> Result<Self, KeyError> {
        Ok(Self::of(random()?))
    }

    /// The bytes that it was made of.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.seed
    }

    /// Its public key.
    #[must_use]
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    encoding::octets_methods!(&ED25519, seed, verifying_key);
}

impl ZeroizeOnDrop for SigningKey {}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("public", &self.public).finish_non_exhaustive()
    }
}

/// A key that checks signatures: a point in its canonical encoding, not of small order.
pub struct VerifyingKey {
    pub(crate) point: dalek::VerifyingKey,
}

impl VerifyingKey {
    /// A key of its bytes (RFC 8032, section 5.1.3).
    ///
    /// # Errors
    ///
    /// [`KeyError::Encoding`], [`KeyError::Point`], [`KeyError::SmallOrder`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        if !is_canonical(bytes) {
            return Err(KeyError::Encoding);
        }
        if SMALL_ORDERS.contains(bytes) {
            return Err(KeyError::SmallOrder);
        }
        let point = dalek::VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::Point)?;
        Ok(Self::of(point))
    }

    pub(crate) fn of(point: dalek::VerifyingKey) -> Self {
        Self { point }
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.point.as_bytes()
    }

    /// A key from the DER of `SubjectPublicKeyInfo` (RFC 8410), as in certificates.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::from_bytes(&encoding::read_public(&ED25519, der)?)
    }

    encoding::public_methods!(&ED25519, as_bytes);
}

/// Whether the y coordinate is less than 2^255 - 19, and the sign of an x coordinate that is zero,
/// where y is 1 or -1, is not set.
fn is_canonical(bytes: &[u8; 32]) -> bool {
    let [first, middle @ .., last] = bytes;
    let is_all = |byte| middle.iter().all(|&one| one == byte);
    let is_large = *first >= 0xed && is_all(0xff) && last & 0x7f == 0x7f;
    let is_one = *first == 1 && is_all(0) && *last == 0x80;
    let is_minus_one = *first == 0xec && is_all(0xff) && *last == 0xff;
    !(is_large || is_one || is_minus_one)
}

/// Whether a signature's R is the canonical encoding of a point of small order. Other encodings
/// equal no R that is computed.
pub(crate) fn has_small_order(signature: &[u8; 64]) -> bool {
    let (r, _) = signature.split_at(32);
    SMALL_ORDERS.iter().any(|point| r == point)
}

/// The canonical encodings of the eight points of small order.
const SMALL_ORDERS: [[u8; 32]; 8] = {
    const fn hex(digits: &[u8; 64]) -> [u8; 32] {
        const fn digit(digit: u8) -> u8 {
            if digit < b'a' { digit - b'0' } else { digit - b'a' + 10 }
        }
        let (mut bytes, mut i) = ([0; 32], 0);
        while i < 32 {
            bytes[i] = digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]);
            i += 1;
        }
        bytes
    }
    [
        hex(b"0000000000000000000000000000000000000000000000000000000000000000"),
        hex(b"0000000000000000000000000000000000000000000000000000000000000080"),
        hex(b"0100000000000000000000000000000000000000000000000000000000000000"),
        hex(b"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        hex(b"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
        hex(b"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"),
        hex(b"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
        hex(b"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"),
    ]
};

impl Clone for VerifyingKey {
    fn clone(&self) -> Self {
        Self::of(self.point)
    }
}

impl PartialEq for VerifyingKey {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for VerifyingKey {}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VerifyingKey").field(self.as_bytes()).finish()
    }
}

#[cfg(test)]
mod tests {
    use curve25519_dalek::constants::EIGHT_TORSION;
    use sha2::{Digest as _, Sha512};

    use super::*;

    fn half(bytes: [u8; 64]) -> [u8; 32] {
        *bytes.first_chunk().expect("it is longer")
    }

    #[test]
    fn all_points_of_small_order_are_known() {
        for point in EIGHT_TORSION {
            let mut signature = [0; 64];
            signature[..32].copy_from_slice(point.compress().as_bytes());
            assert!(has_small_order(&signature));
            let refused = VerifyingKey::from_bytes(point.compress().as_bytes()).err();
            assert_eq!(refused, Some(KeyError::SmallOrder));
        }
    }

    /// Of many encodings, those at the edges among them, against what is decoded.
    #[test]
    fn encodings_that_are_not_canonical_are_refused() {
        let edges = (0..=255).flat_map(|first| {
            [[0; 32], [0xff; 32]].into_iter().flat_map(move |mut bytes: [u8; 32]| {
                bytes[0] = first;
                [0, 1, 0x7f, 0x80, 0x81, 0xff].map(|last| {
                    bytes[31] = last;
                    bytes
                })
            })
        });
        let mut refused = [0; 4];
        for bytes in
            edges.chain((0..500_u16).map(|seed| Sha512::digest(seed.to_be_bytes()).0).map(half))
        {
            let found = VerifyingKey::from_bytes(&bytes).map(|key| *key.as_bytes());
            let right = match dalek::VerifyingKey::from_bytes(&bytes) {
                Ok(point) if point.to_edwards().compress().0 != bytes => Err(KeyError::Encoding),
                Ok(point) if point.is_weak() => Err(KeyError::SmallOrder),
                Ok(_) => Ok(bytes),
                // A number that is too large is refused before it is decoded.
                Err(_) if found == Err(KeyError::Encoding) => found,
                Err(_) => Err(KeyError::Point),
            };
            assert_eq!(found, right, "{bytes:02x?}");
            refused[match found {
                Ok(_) => 0,
                Err(KeyError::Encoding) => 1,
                Err(KeyError::SmallOrder) => 2,
                Err(_) => 3,
            }] += 1;
        }
        assert!(refused.iter().all(|&count| count > 2), "{refused:?}");
    }
}
