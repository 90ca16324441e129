//! AES-GCM (NIST SP 800-38D): encryption with authentication, one message a call.
//!
//! Constant time in key and data at every level; the lengths and the nonce are public. With 512-bit
//! registers counter mode and GHASH run in one pass over the message; other levels run the two
//! kernels in turn over parts that stay in the first-level cache.

#[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
mod avx512;
mod in_turn;

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::aes::AesForward;
use crate::{BlockEncrypt, Isa, Level, ghash};

/// The levels that have a kernel of their own, lowest first; others run the next one below. The
/// lowest runs the best kernels of AES and GHASH that there are.
pub const KERNELS: &[Level] = &[Level::Portable, Level::Avx512];

/// The most bytes of one message: 2^36 - 32, for the block counter has 32 bits (section 5.2.1.1).
pub const LONGEST: u64 = (1 << 36) - 32;

/// Which way data go: GHASH takes the ciphertext, which is what comes out, or what goes in.
const SEAL: bool = true;
const OPEN: bool = false;

/// AES-GCM with keys of `BITS` bits (128, 192 or 256) and nonces of 96 bits.
///
/// A key schedule and powers of the hash key, 608 bytes, which are wiped on drop. Requests read
/// them only, so that any number of threads can share it.
//
// Each part wipes itself.
pub struct AesGcm<const BITS: usize> {
    hash: ghash::Key,
    cipher: AesForward<BITS>,
    isa: Isa,
}

// One instance for each key size stands in this crate, and not in whatever crate asks for it, so
// that programs get the kernels as they were compiled and measured here.
macro_rules! key_size {
    ($bits:literal) => {
        impl AesGcm<$bits> {
            /// Expands `key` for the kernels of `isa`.
            #[must_use]
            #[inline]
            pub fn new(isa: Isa, key: &[u8; $bits / 8]) -> Self {
                let cipher = AesForward::<$bits>::new(isa, key);
                let mut h = [[0; 16]];
                cipher.encrypt((&mut h[..]).into());
                let gcm = Self { hash: ghash::Key::new(isa, &h[0]), cipher, isa };
                crate::wipe::memory(h.as_flattened_mut());
                gcm
            }

            /// Encrypts `data`, of at most [`LONGEST`] bytes, in place or from one buffer to
            /// another, and returns the tag of the ciphertext and of `aad`.
            ///
            /// The same nonce must never be used twice with a key: both messages could be read and
            /// others forged.
            #[must_use]
            pub fn seal(
                &self,
                nonce: &[u8; 12],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                let (hash, cipher, keys) = (&self.hash, &self.cipher, self.cipher.forward());
                by_isa!(self.isa, seal(hash, cipher, keys, nonce, aad, data):
                    Avx512 => avx512, _ => in_turn)
            }

            /// Decrypts `data`, of at most [`LONGEST`] bytes, in place or from one buffer to
            /// another, and returns the tag that the ciphertext and `aad` should have.
            ///
            /// The caller compares it with the one that came, in constant time, and wipes the
            /// plaintext if they differ.
            #[must_use]
            pub fn open(
                &self,
                nonce: &[u8; 12],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                let (hash, cipher, keys) = (&self.hash, &self.cipher, self.cipher.forward());
                by_isa!(self.isa, open(hash, cipher, keys, nonce, aad, data):
                    Avx512 => avx512, _ => in_turn)
            }
        }
    };
}

key_size!(128);
key_size!(192);
key_size!(256);

impl<const BITS: usize> fmt::Debug for AesGcm<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("AesGcm");
        f.field("bits", &BITS).field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl<const BITS: usize> ZeroizeOnDrop for AesGcm<BITS> {}

/// The last block of what is hashed: the numbers of bits, as a field element.
#[inline]
fn lengths(aad: &[u8], data: &InOutBuf<'_, '_, u8>) -> u128 {
    (aad.len() as u128) << 67 | (data.len() as u128) << 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::assert_best;

    #[test]
    fn every_level_reaches_its_kernel() {
        // At the levels between, the last dispatch is that of GHASH, on the lengths.
        let mut data = [0; 50];
        assert_best(&[Level::Portable, Level::AesNi, Level::Avx512], |isa| {
            let _tag =
                AesGcm::<128>::new(isa, &[1; 16]).seal(&[2; 12], &[3], (&mut data[..]).into());
        });
        assert_best(&[Level::Portable, Level::AesNi, Level::Avx512], |isa| {
            let _tag =
                AesGcm::<256>::new(isa, &[1; 32]).open(&[2; 12], &[3], (&mut data[..]).into());
        });
    }
}
