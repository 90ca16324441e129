//! AEGIS-128L and AEGIS-256 (draft-irtf-cfrg-aegis-aead): encryption with authentication
//! from rounds of AES, with tags of 16 bytes.
//!
//! Constant time in key, nonce and data at every level; lengths are public.
//!
//! Each step takes 32 bytes of data with AEGIS-128L, or 16 with AEGIS-256, into a state of eight or
//! six blocks, with a round of AES for each block of it. All rounds of a step are independent; the
//! steps of a message follow one another.

/// Calls the kernel `f` of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => { by_isa!(crate::aegis, $($call)+: Avx2, AesNi, _ => portable) };
}

#[macro_use]
pub(crate) mod x86_64;
mod lanes;
mod message;
mod portable;

use core::fmt;
use core::ops::{BitAnd, BitXor};

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

pub use self::lanes::Lane;
pub use self::message::Message;
use crate::isa::Mode;
use crate::{Aead, Isa, Level, wipe};

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = best!(levels);

/// The direction: the state takes the plaintext, which is the input or the output.
const SEAL: bool = true;
const OPEN: bool = false;

/// AEGIS with keys and nonces of `KEY` bytes: see [`Aegis128L`] and [`Aegis256`].
///
/// The key is kept as it comes, and wiped on drop. Requests only read it, so any number of threads
/// can share it.
pub struct Aegis<const KEY: usize> {
    key: [u8; KEY],
    isa: Isa,
}

/// AEGIS-128L: keys and nonces of 16 bytes.
pub type Aegis128L = Aegis<16>;

/// AEGIS-256: keys and nonces of 32 bytes, enough to choose nonces at random.
pub type Aegis256 = Aegis<32>;

/// The state of a message: eight blocks with keys of 16 bytes; with those of 32 bytes, six and two
/// that stay zero. Wiped on drop.
struct State<const KEY: usize>([[u8; 16]; 8]);

impl<const KEY: usize> State<KEY> {
    const EMPTY: Self = Self([[0; 16]; 8]);
}

/// The bytes that a step takes.
const fn rate(key: usize) -> usize {
    if key == 16 { 32 } else { 16 }
}

/// The constants of both states: Fibonacci numbers modulo 256.
const CONSTANTS: [[u8; 16]; 2] = [
    [
        0x00, 0x01, 0x01, 0x02, 0x03, 0x05, 0x08, 0x0d, 0x15, 0x22, 0x37, 0x59, 0x90, 0xe9, 0x79,
        0x62,
    ],
    [
        0xdb, 0x3d, 0x18, 0x55, 0x6d, 0xc2, 0x2f, 0xf1, 0x20, 0x11, 0x31, 0x42, 0x73, 0xb5, 0x28,
        0xdd,
    ],
];

/// The keystream of a state, or of bits of it: two blocks, or one and zero.
#[inline]
fn keystream<const KEY: usize, T>([_, b, c, d, e, f, g, h]: [T; 8]) -> [T; 2]
where
    T: Copy + Default + BitXor<Output = T> + BitAnd<Output = T>,
{
    if KEY == 16 { [g ^ b ^ (c & d), c ^ f ^ (g & h)] } else { [b ^ e ^ f ^ (c & d), T::default()] }
}

// Each key size has one instance in this crate, not in the crate that uses it, so that programs get
// the kernels that were compiled and measured here.
macro_rules! key_size {
    ($bytes:literal) => {
        impl Aead for Aegis<$bytes> {
            type Key = [u8; $bytes];
            type Nonce = [u8; $bytes];

            /// 2^61 - 1: the number of bits has 64 bits.
            const LONGEST: u64 = (1 << 61) - 1;
            const LONGEST_AAD: u64 = Self::LONGEST;
            const LEVELS: &'static [&'static [Level]] = &[KERNELS];

            type Message = Message<$bytes>;

            #[inline]
            fn empty(isa: Isa) -> Self {
                Self { key: [0; $bytes], isa }
            }

            #[inline]
            fn set_key(&mut self, key: &[u8; $bytes]) {
                self.key = *key;
            }

            #[inline]
            fn isa(&self) -> Isa {
                self.isa
            }

            fn seal(
                &self,
                nonce: &[u8; $bytes],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                self.run::<SEAL>(nonce, aad, data)
            }

            fn open(
                &self,
                nonce: &[u8; $bytes],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                _tag: &[u8; 16],
            ) -> [u8; 16] {
                self.run::<OPEN>(nonce, aad, data)
            }

            #[inline]
            fn begin(&self, nonce: &[u8]) -> Option<Message<$bytes>> {
                Some(Message::new(self.isa, &self.key, nonce.try_into().ok()?))
            }
        }
    };
}

key_size!(16);
key_size!(32);

impl<const KEY: usize> Aegis<KEY> {
    #[inline(always)]
    fn run<const MODE: bool>(
        &self,
        nonce: &[u8; KEY],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; 16] {
        let (isa, key, mode) = (self.isa, &self.key, Mode::<MODE>);
        best!(isa, run(key, nonce, aad, data, mode))
    }
}

impl<const KEY: usize> fmt::Debug for Aegis<KEY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("Aegis");
        f.field("key_bytes", &KEY).field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl<const KEY: usize> Drop for Aegis<KEY> {
    #[inline]
    fn drop(&mut self) {
        wipe::memory(&mut self.key);
    }
}

impl<const KEY: usize> ZeroizeOnDrop for Aegis<KEY> {}

impl<const KEY: usize> Drop for State<KEY> {
    #[inline]
    fn drop(&mut self) {
        wipe::memory(self.0.as_flattened_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Incremental;
    use crate::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [0; 50];
        assert_best(KERNELS, |isa| {
            let cipher = Aegis128L::new(isa, &[1; 16]);
            let _tag = cipher.seal(&[2; 16], &[3], (&mut data[..]).into());
        });
        assert_best(KERNELS, |isa| {
            let cipher = Aegis256::new(isa, &[1; 32]);
            let _tag = cipher.open(&[2; 32], &[3], (&mut data[..]).into(), &[0; 16]);
        });
    }

    #[test]
    fn pieces_reach_their_kernels() {
        let mut data = [0; 48];
        let begun = |isa| {
            let cipher = Aegis128L::new(isa, &[1; 16]);
            let message = cipher.begin(&[2; 16]).expect("a nonce");
            forget();
            (cipher, message)
        };
        assert_best(KERNELS, |isa| {
            let _message = Aegis256::new(isa, &[1; 32]).begin(&[2; 32]);
        });
        assert_best(KERNELS, |isa| {
            let (cipher, mut message) = begun(isa);
            message.associate(&cipher, &[3; 32]);
        });
        assert_best(KERNELS, |isa| {
            let (cipher, mut message) = begun(isa);
            message.encrypt(&cipher, (&mut data[..]).into());
        });
        assert_best(KERNELS, |isa| {
            let (cipher, mut message) = begun(isa);
            message.decrypt(&cipher, (&mut data[..]).into());
        });
        assert_best(KERNELS, |isa| {
            let (cipher, message) = begun(isa);
            let _tag = message.tag(&cipher);
        });
    }
}
