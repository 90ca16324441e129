//! Counter mode: what all kernels share.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

#[cfg(target_arch = "x86_64")]
use super::aesni;
#[cfg(all(target_arch = "x86_64", feature = "isa-avx2"))]
use super::avx2vaes;
#[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
use super::avx512;
use super::{Aes, portable};
use crate::{Isa, Seek, StreamCore};

/// AES in counter mode (NIST SP 800-38A, section 6.5) with keys of `BITS` bits (128, 192 or 256).
///
/// The nonce is the first counter block, a 128-bit big-endian number. Each block adds one to the
/// whole of it, modulo 2^128. The key schedule is wiped on drop. Constant time in key and data;
/// counter and length are public.
pub struct AesCtr<const BITS: usize> {
    aes: Aes<BITS>,
    /// The first counter block.
    nonce: u128,
    /// Blocks generated since then, or wherever [`Seek::seek`] went.
    position: u128,
}

impl<const BITS: usize> AesCtr<BITS> {
    #[inline]
    fn counter(&self) -> u128 {
        self.nonce.wrapping_add(self.position)
    }

    /// Takes the counter blocks of the next `bytes`: the counter to start from and the number of
    /// bytes until its lower half wraps, or all.
    ///
    /// Kernels may therefore add to the lower half alone.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half of the counter is meant")]
    fn advance(&mut self, bytes: usize) -> (u128, usize) {
        let counter = self.counter();
        let (lower, blocks) = (counter as u64, bytes.div_ceil(16) as u64);
        if lower.checked_add(blocks).is_some() {
            self.position = self.position.wrapping_add(u128::from(blocks));
            (counter, bytes)
        } else {
            // At most `blocks`, which came from a `usize`.
            let room = lower.wrapping_neg();
            self.position = self.position.wrapping_add(u128::from(room));
            (counter, bytes.min(room as usize * 16))
        }
    }
}

macro_rules! key_size {
    ($bits:literal) => {
        impl StreamCore for AesCtr<$bits> {
            type Key = [u8; $bits / 8];
            type Nonce = [u8; 16];
            const BLOCK: usize = 16;

            #[inline]
            fn new(isa: Isa, key: &Self::Key, nonce: &Self::Nonce) -> Self {
                Self {
                    aes: Aes::<$bits>::new(isa, key),
                    nonce: u128::from_be_bytes(*nonce),
                    position: 0,
                }
            }

            fn remaining(&self) -> u64 {
                match self.position.wrapping_neg() {
                    0 => u64::MAX,
                    left => u64::try_from(left).unwrap_or(u64::MAX),
                }
            }

            fn keystream(&mut self, mut out: &mut [u8]) {
                while !out.is_empty() {
                    let (counter, bytes) = self.advance(out.len());
                    let (part, rest) = out.split_at_mut(bytes);
                    let keys = self.aes.keys::<{ $bits / 32 + 7 }>();
                    by_isa!(self.aes.isa, keystream(keys, counter, part):
                        Avx512 => avx512, Avx2Vaes => avx2vaes, AesNi => aesni, _ => portable);
                    out = rest;
                }
            }

            fn xor(&mut self, mut data: InOutBuf<'_, '_, u8>) {
                while !data.is_empty() {
                    let (counter, bytes) = self.advance(data.len());
                    let (part, rest) = data.split_at(bytes);
                    let keys = self.aes.keys::<{ $bits / 32 + 7 }>();
                    by_isa!(self.aes.isa, xor(keys, counter, part):
                        Avx512 => avx512, Avx2Vaes => avx2vaes, AesNi => aesni, _ => portable);
                    data = rest;
                }
            }
        }

        impl Seek for AesCtr<$bits> {
            fn seek(&mut self, block: u64) {
                self.position = u128::from(block);
            }
        }
    };
}

key_size!(128);
key_size!(192);
key_size!(256);

impl<const BITS: usize> fmt::Debug for AesCtr<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AesCtr").field("aes", &self.aes).finish_non_exhaustive()
    }
}

// The schedule wipes itself; counters are public.
impl<const BITS: usize> ZeroizeOnDrop for AesCtr<BITS> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_is_exact_near_the_end() {
        let mut core = AesCtr::<128>::new(Isa::PORTABLE, &[0; 16], &[0xff; 16]);
        assert_eq!(core.remaining(), u64::MAX);
        core.position = u128::MAX - u128::from(u64::MAX);
        assert_eq!(core.remaining(), u64::MAX);
        core.position += 1;
        assert_eq!(core.remaining(), u64::MAX);
        core.position += 1;
        assert_eq!(core.remaining(), u64::MAX - 1);
        core.position = u128::MAX - 4;
        core.keystream(&mut [0; 33]);
        assert_eq!(core.remaining(), 2);
        core.keystream(&mut [0; 16]);
        assert_eq!(core.remaining(), 1);
    }
}
