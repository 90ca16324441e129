//! Public keys.

use core::fmt;

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::montgomery::Modulus;

use crate::KeyError;
#[cfg(feature = "aws-lc")]
use crate::aws_lc::Verifier;
use crate::numbers::{bits, to_limbs, trimmed, write_bytes};

/// The most bits of a modulus.
pub const MAX_BITS: usize = 8192;

/// Which sizes of keys are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sizes {
    /// From 2048 bits on.
    Standard,
    /// From 512 bits on.
    #[cfg(feature = "legacy")]
    Legacy,
}

impl Sizes {
    pub(crate) const fn contains(self, bits: usize) -> bool {
        let least = match self {
            Self::Standard => 2048,
            #[cfg(feature = "legacy")]
            Self::Legacy => 512,
        };
        least <= bits && bits <= MAX_BITS
    }
}

/// An RSA public key: a modulus of 2048 to 8192 bits, and an odd exponent from 3 on, of at most 64
/// bits.
///
/// It may be used by many threads at once.
pub struct PublicKey {
    modulus: Modulus,
    exponent: u64,
    #[cfg(feature = "aws-lc")]
    pub(crate) aws_lc: Verifier,
}

impl PublicKey {
    /// A key from its modulus and its exponent, most significant byte first; zeros may precede
    /// them.
    ///
    /// # Errors
    ///
    /// [`KeyError::Size`], [`KeyError::Modulus`], [`KeyError::PublicExponent`].
    pub fn new(n: &[u8], e: &[u8]) -> Result<Self, KeyError> {
        Self::with_sizes(Sizes::Standard, n, e)
    }

    pub(crate) fn with_sizes(sizes: Sizes, n: &[u8], e: &[u8]) -> Result<Self, KeyError> {
        if !sizes.contains(bits(n)) {
            return Err(KeyError::Size);
        }
        let exponent = trimmed(e);
        let exponent = match exponent.len() {
            0..=8 => exponent.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)),
            _ => return Err(KeyError::PublicExponent),
        };
        if exponent < 3 || exponent.is_multiple_of(2) {
            return Err(KeyError::PublicExponent);
        }
        let modulus = Modulus::new(Isa::detect(), &to_limbs(n)).ok_or(KeyError::Modulus)?;
        Ok(Self::of_parts(modulus, exponent))
    }

    fn of_parts(modulus: Modulus, exponent: u64) -> Self {
        Self {
            modulus,
            exponent,
            #[cfg(feature = "aws-lc")]
            aws_lc: Verifier::default(),
        }
    }

    /// The same key, with the kernels of `isa`.
    #[must_use]
    pub fn with_isa(&self, isa: Isa) -> Self {
        Self::of_parts(of_level(&self.modulus, isa), self.exponent)
    }

    /// The number of bits of the modulus.
    #[must_use]
    pub const fn bits(&self) -> usize {
        self.modulus.bits()
    }

    /// The length of the modulus, and so of signatures, in bytes.
    #[must_use]
    pub const fn signature_length(&self) -> usize {
        self.bits().div_ceil(8)
    }

    /// The modulus, most significant byte first.
    #[must_use]
    pub fn n(&self) -> Vec<u8> {
        let mut n = vec![0; self.signature_length()];
        write_bytes(self.modulus.limbs(), &mut n);
        n
    }

    /// The exponent.
    #[must_use]
    pub const fn e(&self) -> u64 {
        self.exponent
    }

    pub(crate) const fn modulus(&self) -> &Modulus {
        &self.modulus
    }
}

impl Clone for PublicKey {
    fn clone(&self) -> Self {
        self.with_isa(self.modulus.isa())
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.modulus.limbs() == other.modulus.limbs() && self.exponent == other.exponent
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("bits", &self.bits())
            .field("e", &self.exponent)
            .finish_non_exhaustive()
    }
}

/// A modulus again, for other kernels.
pub(crate) fn of_level(modulus: &Modulus, isa: Isa) -> Modulus {
    Modulus::new(isa, modulus.limbs()).expect("a number that was a modulus before")
}
