//! AES-GCM-SIV (RFC 8452): encryption with authentication that survives nonces used twice.
//!
//! Constant time in key and data at every level. Lengths and nonces are public.
//!
//! Each nonce has its own keys, for the hash and for the cipher, which the key of the caller
//! encrypts from it. They are made for each message and wiped behind it.

mod in_turn;

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::aes::AesForward;
use crate::isa::Way;
use crate::{BlockEncrypt, Isa, Level, Siv};

/// The levels that have a kernel of their own, lowest first; others run the next one below. The
/// lowest runs the kernels of AES and the portable hash in turn.
pub const KERNELS: &[Level] = &[Level::Portable];

/// The direction: the hash takes the plaintext, which is the input or the output.
const SEAL: bool = true;
const OPEN: bool = false;

/// Calls the kernel `f` of the highest level that there is.
///
/// All have the arguments `isa: Isa, keys: &[[u8; 16]; N], nonce: &[u8; 12], aad: &[u8], data:
/// InOutBuf<'_, '_, u8>, came: &[u8; 16], way: Way<WAY>` and return the tag. `came` is the tag that
/// came with a message that is opened.
macro_rules! best {
    ($isa:expr, $f:ident $args:tt) => {
        by_isa!($isa, $f $args: _ => in_turn)
    };
}

/// AES-GCM-SIV with keys of `BITS` bits (128 or 256).
///
/// A key schedule of 240 bytes, wiped on drop. Requests only read it, so any number of threads can
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
        impl AesGcmSiv<$bits> {
            #[inline(always)]
            fn run<const WAY: bool>(
                &self,
                nonce: &[u8; 12],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                came: &[u8; 16],
            ) -> [u8; 16] {
                let (isa, keys, way) = (self.isa(), self.cipher.forward(), Way::<WAY>);
                best!(isa, run(isa, keys, nonce, aad, data, came, way))
            }
        }

        impl Siv<{ $bits / 8 }, 12> for AesGcmSiv<$bits> {
            /// 2^36, of the message and of the associated data (section 6).
            const LONGEST: u64 = 1 << 36;

            #[inline]
            fn empty(isa: Isa) -> Self {
                Self { cipher: AesForward::empty(isa) }
            }

            #[inline]
            fn set_key(&mut self, key: &[u8; $bits / 8]) {
                self.cipher.set_key(key);
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
        }
    };
}

key_size!(128);
key_size!(256);

impl<const BITS: usize> AesGcmSiv<BITS> {
    /// The level of its kernels.
    #[must_use]
    #[inline]
    pub fn isa(&self) -> Isa {
        self.cipher.isa()
    }
}

impl<const BITS: usize> fmt::Debug for AesGcmSiv<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("AesGcmSiv");
        f.field("bits", &BITS).field("isa", &self.isa()).finish_non_exhaustive()
    }
}

impl<const BITS: usize> ZeroizeOnDrop for AesGcmSiv<BITS> {}
