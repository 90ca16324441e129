//! GHASH, the universal hash of GCM (NIST SP 800-38D, sections 6.3 and 6.4).
//!
//! Constant time in key and data at every level. The portable kernel multiplies integers with holes
//! between their bits, without tables. The others use the carry-less multiplication of the
//! processor, on eight blocks with 128-bit registers and on sixteen with wider ones before each
//! reduction.
//!
//! **How field elements are held.** The first bit of a block is the coefficient of x^0. A block
//! read as a big-endian number thus has its coefficients in reverse: that of x^0 is the highest
//! bit, and "times x" is a shift to the right. The carry-less product of two such numbers is the
//! reversed product, one bit too low. No kernel shifts it back: each power of H is kept divided by
//! x, which makes up for the bit. The product of two such numbers again has that form, so that the
//! same multiplication makes powers from powers.
//!
//! **Reduction.** A product has four words of 64 bits; the lowest stands for x^192 and above. By
//! x^128 = x^7 + x^2 + x + 1 that word is equal to itself two words up, plus itself times x^7 + x^2
//! + x. The next word is folded in the same way, and two words are left.
//!
//! POLYVAL, the hash of AES-GCM-SIV (RFC 8452, section 3), is GHASH of blocks in the other order of
//! bytes, with a key that is multiplied by x (appendix A). The order makes a block a little-endian
//! number, and the factor is the one by which keys are divided here: a key of POLYVAL is held as it
//! comes, and everything else is the same.

pub(crate) mod aarch64;
pub(crate) mod portable;
pub(crate) mod x86_64;

use core::fmt;

use zeroize::ZeroizeOnDrop;

use crate::{Isa, Level, wipe};

/// Calls the kernel of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => {
        by_isa!(crate::ghash, $($call)+: Avx512, Avx2Vaes, AesNi, ArmAes, _ => portable)
    };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = best!(levels);

/// The number of powers of H, and so of blocks that can share a reduction.
pub(crate) const POWERS: usize = 20;

/// x^6 + x + 1, with the coefficient of 1 in the highest bit: the product is a bit too low, which
/// is the x that is missing.
const FOLD: u64 = (1 << 63) | (1 << 62) | (1 << 57);

/// The powers and three zeros, so that four powers can be loaded from any of them. The same at
/// every level, so that a key has one size.
pub(crate) const ROOM: usize = POWERS + 3;

/// Powers of a hash key, prepared for the kernels of one instruction set.
///
/// 368 bytes of secrets, wiped on drop. Constant time in key and data.
//
// From H^20 down to H^1, each divided by x and in little-endian order, then zeros. `n` blocks need
// the last `n` powers, in the order of the blocks. The portable kernel keeps H^1 only, the one with
// 128-bit registers eight powers, that of AArch64 ten, with exchanged halves, and the sums of their
// halves before them.
#[repr(C, align(64))]
pub struct Key {
    powers: [[u8; 16]; ROOM],
    isa: Isa,
}

impl Key {
    /// Prepares the hash key `h`, which GCM gets by encrypting a block of zeros.
    #[must_use]
    #[inline]
    pub fn new(isa: Isa, h: &[u8; 16]) -> Self {
        let mut key = Self::empty(isa);
        key.set(h);
        key
    }

    /// A key of zeros, to be filled in.
    #[inline]
    pub(crate) fn empty(isa: Isa) -> Self {
        Self { powers: [[0; 16]; ROOM], isa }
    }

    /// Prepares another hash key in the place of the current one, for the same kernels.
    pub fn set(&mut self, h: &[u8; 16]) {
        let powers = &mut self.powers;
        best!(self.isa, fill(powers, h));
    }

    #[inline]
    pub(crate) fn isa(&self) -> Isa {
        self.isa
    }

    /// The powers, in the form of the kernels.
    #[inline]
    pub(crate) fn powers(&self) -> &[[u8; 16]; ROOM] {
        &self.powers
    }

    /// The place of the powers; zeros follow them.
    #[inline]
    pub(crate) fn powers_mut(&mut self) -> &mut [[u8; 16]; ROOM] {
        &mut self.powers
    }

    /// Takes blocks into the hash: for each of them, adds it to `state` and multiplies by H.
    ///
    /// A hash begins with a state of zeros, and calls continue one another.
    pub fn absorb(&self, state: &mut [u8; 16], blocks: &[[u8; 16]]) {
        let powers = &self.powers;
        best!(self.isa, absorb(powers, state, blocks));
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl Drop for Key {
    #[inline]
    fn drop(&mut self) {
        wipe::memory(self.powers.as_flattened_mut());
    }
}

impl ZeroizeOnDrop for Key {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        assert_best(KERNELS, |isa| drop(Key::new(isa, &[1; 16])));
        assert_best(KERNELS, |isa| {
            let key = Key::new(isa, &[1; 16]);
            forget();
            key.absorb(&mut [2; 16], &[[3; 16]; 5]);
        });
    }

    /// Every session has a key: its size must not grow by accident.
    #[test]
    fn a_key_takes_six_cache_lines() {
        assert_eq!(size_of::<Key>(), 384);
    }
}
