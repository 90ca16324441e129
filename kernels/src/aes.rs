//! AES (FIPS 197): the block function and its counter mode (NIST SP 800-38A, section 6.5).
//!
//! Constant time in key and data at every level. The portable kernel is bitsliced, four blocks at
//! a time, and serves `Ssse3` too; from `AesNi` on the processor's AES instructions are used, on
//! 8 blocks at a time with 128-bit registers, 16 with 256-bit and 32 with 512-bit ones.

#[cfg(target_arch = "x86_64")]
mod aesni;
#[cfg(all(target_arch = "x86_64", feature = "isa-avx2"))]
mod avx2vaes;
#[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
mod avx512;
mod ctr;
#[cfg(target_arch = "x86_64")]
mod expand;
mod portable;

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

pub use self::ctr::AesCtr;
use crate::{Isa, Level, wipe};

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = &[Level::Portable, Level::AesNi, Level::Avx2Vaes, Level::Avx512];

/// Round keys of the longest schedule, that of AES-256: one before each of 14 rounds and a last.
const MAX_KEYS: usize = 15;

/// AES with keys of `BITS` bits (128, 192 or 256): the block function, forward direction.
///
/// Room for the longest key schedule, 240 bytes, which is wiped on drop. Constant time in key and
/// data.
pub struct Aes<const BITS: usize> {
    keys: [[u8; 16]; MAX_KEYS],
    isa: Isa,
}

impl<const BITS: usize> Aes<BITS> {
    /// The first `N` round keys.
    #[inline]
    fn keys<const N: usize>(&self) -> &[[u8; 16]; N] {
        const { assert!(N == BITS / 32 + 7 && N <= MAX_KEYS) };
        self.keys.first_chunk().expect("asserted: the array holds the keys of every size")
    }
}

// One instance for each key size stands in this crate, and not in whatever crate asks for it, so
// that programs get the kernels as they were compiled and measured here.
macro_rules! key_size {
    ($bits:literal, $expand:ident) => {
        /// The key schedule. A call of its own, so that it is written to where the caller wants
        /// it: one that is built and then moved would stay on the stack.
        #[inline(never)]
        fn $expand(isa: Isa, key: &[u8; $bits / 8]) -> [[u8; 16]; MAX_KEYS] {
            by_isa!(isa, $expand(key): AesNi => expand, _ => portable)
        }

        impl Aes<$bits> {
            /// Expands `key` for the kernels of `isa`.
            #[must_use]
            #[inline]
            pub fn new(isa: Isa, key: &[u8; $bits / 8]) -> Self {
                Self { keys: $expand(isa, key), isa }
            }

            /// Encrypts any number of blocks, each by itself (ECB), in place or from one buffer
            /// to another.
            pub fn encrypt(&self, blocks: InOutBuf<'_, '_, [u8; 16]>) {
                let keys = self.keys::<{ $bits / 32 + 7 }>();
                by_isa!(self.isa, encrypt(keys, blocks):
                    Avx512 => avx512, Avx2Vaes => avx2vaes, AesNi => aesni, _ => portable);
            }
        }
    };
}

key_size!(128, expand128);
key_size!(192, expand192);
key_size!(256, expand256);

impl<const BITS: usize> fmt::Debug for Aes<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aes").field("bits", &BITS).field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl<const BITS: usize> Drop for Aes<BITS> {
    #[inline]
    fn drop(&mut self) {
        wipe::memory(self.keys.as_flattened_mut());
    }
}

impl<const BITS: usize> ZeroizeOnDrop for Aes<BITS> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamCore;
    use crate::isa::reached::assert_best;

    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [[0; 16]; 3];
        assert_best(KERNELS, |isa| Aes::<128>::new(isa, &[1; 16]).encrypt((&mut data[..]).into()));
        let data = data.as_flattened_mut();
        let core = |isa| AesCtr::<256>::new(isa, &[1; 32], &[2; 16]);
        assert_best(KERNELS, |isa| core(isa).keystream(data));
        assert_best(KERNELS, |isa| core(isa).xor((&mut data[..]).into()));
        assert_best(&[Level::Portable, Level::AesNi], |isa| drop(Aes::<192>::new(isa, &[1; 24])));
    }
}
