//! AES-GCM-SIV (RFC 8452): encryption with authentication that survives nonces used twice.
//!
//! Constant time in key and data at every level. Lengths and nonces are public.
//!
//! Each nonce has its own keys, for the hash and for the cipher, which the key of the caller
//! encrypts from it. They are made for each message and wiped behind it.

#[macro_use]
mod polyval;
#[macro_use]
mod message;
#[macro_use]
mod registers128;
pub(crate) mod aarch64;
mod lanes;
mod two_pass;
pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

pub use self::lanes::Lane;
use crate::aead::NoMessage;
use crate::aes::AesForward;
use crate::isa::Mode;
use crate::{Aead, BlockEncrypt, Isa, Level, opaque};

/// Calls the kernel `f` of the highest level that there is.
///
/// All have the arguments `isa: Isa, keys: &RoundKeys, nonce: &[u8; 12], aad: &[u8], data:
/// InOutBuf<'_, '_, u8>, received: &[u8; 16], mode: Mode<MODE>` and return the tag. `received` is
/// the tag that came with a message that is opened.
macro_rules! best {
    ($($call:tt)+) => {
        by_isa!(crate::gcm_siv, $($call)+: Avx2Vaes, Avx2, AesNi, ArmAes, _ => two_pass)
    };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below. The
/// lowest runs the kernels of AES and the portable hash in turn.
pub const KERNELS: &[Level] = best!(levels);

/// The direction: the hash takes the plaintext, which is the input or the output.
const SEAL: bool = true;
const OPEN: bool = false;

/// AES-GCM-SIV with keys of `BITS` bits (128 or 256).
///
/// A key schedule of 256 bytes, wiped on drop. Requests only read it, so any number of threads can
/// share it.
//
// The cipher wipes itself.
pub struct AesGcmSiv<const BITS: usize> {
    cipher: AesForward<BITS>,
}

// Each key size has one instance in this crate, not in the crate that uses it, so that programs get
// the kernels that were compiled and measured here.
macro_rules! key_size {
    ($bits:literal) => {
        impl Aead for AesGcmSiv<$bits> {
            type Key = [u8; $bits / 8];
            type Nonce = [u8; 12];

            /// 2^36, of the message and of the associated data (section 6).
            const LONGEST: u64 = 1 << 36;
            const LONGEST_AAD: u64 = Self::LONGEST;
            /// In turn, AES has one more level.
            const LEVELS: &'static [&'static [Level]] = &[KERNELS, &[Level::Ssse3]];

            #[inline]
            fn empty(isa: Isa) -> Self {
                Self { cipher: AesForward::empty(isa) }
            }

            #[inline]
            fn set_key(&mut self, key: &[u8; $bits / 8]) {
                self.cipher.set_key(key);
            }

            #[inline]
            fn isa(&self) -> Isa {
                self.cipher.isa()
            }

            fn seal(&self, nonce: &[u8; 12], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16] {
                self.run::<SEAL>(nonce, aad, data, &[0; 16])
            }

            fn open(
                &self,
                nonce: &[u8; 12],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8; 16],
            ) -> [u8; 16] {
                self.run::<OPEN>(nonce, aad, data, tag)
            }

            type Message = NoMessage;
        }
    };
}

key_size!(128);
key_size!(256);

impl<const BITS: usize> AesGcmSiv<BITS> {
    #[inline(always)]
    fn run<const MODE: bool>(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        received: &[u8; 16],
    ) -> [u8; 16] {
        let (isa, mode) = (self.cipher.isa(), Mode::<MODE>);
        let keys = self.cipher.forward();
        best!(isa, run(isa, keys, nonce, aad, data, received, mode))
    }
}

impl<const BITS: usize> fmt::Debug for AesGcmSiv<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("AesGcmSiv");
        f.field("bits", &BITS).field("isa", &self.cipher.isa()).finish_non_exhaustive()
    }
}

impl<const BITS: usize> ZeroizeOnDrop for AesGcmSiv<BITS> {}

/// A nonce as words. Each is loaded alone: a caller has often just stored the nonce in parts, and a
/// load of several parts would wait for them.
#[inline]
fn words(nonce: &[u8; 12]) -> [i32; 3] {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *nonce;
    [[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(|word| {
        let word = opaque::word(u32::from_le_bytes(word).into());
        let [a, b, c, d, ..] = word.to_le_bytes();
        i32::from_le_bytes([a, b, c, d])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [0; 50];
        let keyed = |isa| {
            let siv = AesGcmSiv::<256>::new(isa, &[1; 32]);
            forget();
            siv
        };
        // What runs in turn ends with a dispatch of AES.
        let levels: Vec<_> = [KERNELS, &[Level::Ssse3]].concat();
        let levels: Vec<_> =
            Level::built().iter().copied().filter(|level| levels.contains(level)).collect();
        assert_best(&levels, |isa| {
            let _tag = keyed(isa).seal(&[2; 12], &[3], (&mut data[..]).into());
        });
        assert_best(&levels, |isa| {
            let _tag = keyed(isa).open(&[2; 12], &[3], (&mut data[..]).into(), &[4; 16]);
        });
    }
}
