//! AES-GCM (NIST SP 800-38D): encryption with authentication.
//!
//! Constant time in key and data at every level. Lengths and nonce are public. If the nonce does
//! not have 96 bits, the last 32 bits of its hash are public too.
//!
//! With AES instructions, counter mode and GHASH run in one pass over a message. The two kernels
//! run in turn, over parts that stay in the first-level cache, without such instructions, for a
//! message in pieces, and if the counter wraps; and below 512-bit registers also for nonces that
//! are hashed.

#[macro_use]
mod steps;
pub(crate) mod aarch64;
mod keys;
mod message;
mod resumable;
mod two_pass;
pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

pub use self::message::Message;
pub use self::resumable::PartialState;
use crate::aes::AesForward;
use crate::{Aead, BlockEncrypt, Incremental, Isa, Level, aes, ghash, opaque};

/// Calls the kernel `f` of the highest level that there is.
///
/// All have the arguments `hash: &ghash::Key, keys: &RoundKeys, first: u128, aad: &[u8], data:
/// InOutBuf<'_, '_, u8>, mode: bool` and return the tag. `first` is the counter block of the
/// tag, as a big-endian number. Its last 32 bits are the counter. They do not wrap within the
/// message, so kernels may add to the number as a whole, and [`accepts`] says which of them they
/// may begin at.
macro_rules! best {
    ($($call:tt)+) => {
        by_isa!(crate::gcm, $($call)+: Avx512, Avx2Vaes, AesNi, ArmSha3, ArmAes, _ => two_pass)
    };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below. The
/// lowest runs AES and GHASH in turn.
pub const KERNELS: &[Level] = best!(levels);

/// The direction: GHASH takes the ciphertext, which is the output or the input.
const SEAL: bool = true;
const OPEN: bool = false;
/// Bytes of a part that AES and GHASH take in turn, and that stay in the first-level cache.
const PART: usize = 4096;

/// AES-GCM with keys of `BITS` bits (128, 192 or 256) and, through [`Aead`], nonces of 96 bits.
///
/// A key schedule and powers of the hash key, about 600 bytes, wiped on drop. Requests only read
/// them, so any number of threads can share it.
//
// Each part wipes itself.
pub struct AesGcm<const BITS: usize> {
    hash: ghash::Key,
    cipher: AesForward<BITS>,
}

// Each key size has one instance in this crate, not in the crate that uses it, so that programs get
// the kernels that were compiled and measured here.
macro_rules! key_size {
    ($bits:literal, $set:ident) => {
        impl AesGcm<$bits> {
            /// The first counter block for a nonce of any length (section 7.1). A nonce of 96 bits
            /// is followed by a counter of one; others are hashed, and must have at least one byte.
            /// The last 32 bits, the counter, are public to kernels.
            #[must_use]
            pub fn counter_block(&self, nonce: &[u8]) -> [u8; 16] {
                match nonce.try_into() {
                    Ok(nonce) => first_of(nonce).to_be_bytes(),
                    Err(_) => message::hashed(&self.hash, nonce),
                }
            }

            /// [`seal`](Aead::seal) from the first counter block that
            /// [`counter_block`](Self::counter_block) gives.
            #[must_use]
            pub fn seal_from(
                &self,
                first: &[u8; 16],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                self.run_from::<SEAL>(first, aad, data)
            }

            /// [`open`](Aead::open) from the first counter block that
            /// [`counter_block`](Self::counter_block) gives.
            #[must_use]
            pub fn open_from(
                &self,
                first: &[u8; 16],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                self.run_from::<OPEN>(first, aad, data)
            }

            /// [`begin`](Aead::begin) from the first counter block that
            /// [`counter_block`](Self::counter_block) gives.
            #[must_use]
            pub fn begin_from(&self, first: &[u8; 16]) -> Message {
                Message::new(u128::from_be_bytes(*first))
            }

            fn opened(&self, nonce: &[u8; 12], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16] {
                self.run::<OPEN>(first_of(nonce), aad, data)
            }

            #[inline(always)]
            fn run_from<const MODE: bool>(
                &self,
                first: &[u8; 16],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                let first = u128::from_be_bytes(*first);
                if message::wraps(first, data.len()) || !accepts(self.isa(), first) {
                    let (hash, keys) = (&self.hash, self.cipher.forward());
                    return two_pass::any::<MODE>(hash, keys, first, aad, data);
                }
                self.run::<MODE>(first, aad, data)
            }

            #[inline(always)]
            fn run<const MODE: bool>(
                &self,
                first: u128,
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                let (hash, keys, isa) = (&self.hash, self.cipher.forward(), self.hash.isa());
                let mode = MODE;
                best!(isa, run(hash, keys, first, aad, data, mode))
            }
        }

        impl Aead for AesGcm<$bits> {
            type Key = [u8; $bits / 8];
            type Nonce = [u8; 12];

            /// 2^36 - 32: the counter has 32 bits, and two blocks belong to the tag (section
            /// 5.2.1.1).
            const LONGEST: u64 = (1 << 36) - 32;
            /// 2^64 - 1 bits, in whole bytes (section 5.2.1.1).
            const LONGEST_AAD: u64 = (1 << 61) - 1;
            const LEVELS: &'static [&'static [Level]] = &[KERNELS, aes::KERNELS, ghash::KERNELS];

            type Message = Message;

            #[inline]
            fn empty(isa: Isa) -> Self {
                Self { hash: ghash::Key::empty(isa), cipher: AesForward::empty(isa) }
            }

            fn set_key(&mut self, key: &[u8; $bits / 8]) {
                keys::$set(self, key);
            }

            #[inline]
            fn isa(&self) -> Isa {
                self.hash.isa()
            }

            fn seal(&self, nonce: &[u8; 12], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16] {
                self.run::<SEAL>(first_of(nonce), aad, data)
            }

            #[inline(always)]
            fn open(
                &self,
                nonce: &[u8; 12],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                _tag: &[u8; 16],
            ) -> [u8; 16] {
                self.opened(nonce, aad, data)
            }

            #[cold]
            #[inline(never)]
            fn seal_hashed(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> Option<[u8; 16]> {
                Some(self.seal_from(&self.counter_block(nonce), aad, data))
            }

            #[cold]
            #[inline(never)]
            fn open_hashed(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                _tag: &[u8; 16],
            ) -> Option<[u8; 16]> {
                Some(self.open_from(&self.counter_block(nonce), aad, data))
            }

            #[inline]
            fn begin(&self, nonce: &[u8]) -> Option<Message> {
                Some(match nonce.try_into() {
                    Ok(nonce) => Message::new(first_of(nonce)),
                    Err(_) => self.begin_from(&self.counter_block(nonce)),
                })
            }
        }

        impl Incremental<AesGcm<$bits>> for Message {
            fn associate(&mut self, key: &AesGcm<$bits>, aad: &[u8]) {
                self.absorb(&key.hash, aad);
            }

            fn encrypt(&mut self, key: &AesGcm<$bits>, data: InOutBuf<'_, '_, u8>) {
                self.crypt::<SEAL>(&key.hash, key.cipher.forward(), data);
            }

            fn decrypt(&mut self, key: &AesGcm<$bits>, data: InOutBuf<'_, '_, u8>) {
                self.crypt::<OPEN>(&key.hash, key.cipher.forward(), data);
            }

            fn tag(self, key: &AesGcm<$bits>) -> [u8; 16] {
                self.finish(&key.hash, key.cipher.forward())
            }
        }
    };
}

key_size!(128, set128);
key_size!(192, set192);
key_size!(256, set256);

impl<const BITS: usize> fmt::Debug for AesGcm<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("AesGcm");
        f.field("bits", &BITS).field("isa", &self.hash.isa()).finish_non_exhaustive()
    }
}

impl<const BITS: usize> ZeroizeOnDrop for AesGcm<BITS> {}

/// Whether the kernels in one pass take messages from this counter block on: one, as after a nonce
/// of 96 bits, or with 512-bit registers any.
#[inline]
fn accepts(isa: Isa, first: u128) -> bool {
    let any = Level::Avx512.is_built() && isa.has(Level::Avx512);
    any || first & u128::from(u32::MAX) == 1
}

/// The counter block of the tag for a nonce of 96 bits, as a number.
#[inline]
fn first_of(nonce: &[u8; 12]) -> u128 {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *nonce;
    let [first, second, third] = [word([a, b, c, d]), word([e, f, g, h]), word([i, j, k, l])];
    u128::from(first << 32 | second) << 64 | u128::from(third << 32 | 1)
}

/// At most 16 bytes as a block, with zeros behind them, and as a number.
#[inline]
fn number(bytes: &[u8]) -> u128 {
    let (upper, lower) = bytes.split_at(bytes.len().min(8));
    u128::from(half(upper)) << 64 | u128::from(half(lower))
}

/// At most 8 bytes, as [`number`] takes them.
#[inline]
fn half(bytes: &[u8]) -> u64 {
    match *bytes {
        [] => 0,
        [a, b, c, d] => word([a, b, c, d]) << 32,
        [a, b, c, d, e, f, g, h] => word([a, b, c, d]) << 32 | word([e, f, g, h]),
        _ => {
            let number =
                bytes.iter().fold(0, |number, &byte| number << 8 | loaded_apart(byte.into()));
            number << (64 - 8 * bytes.len())
        }
    }
}

#[inline]
fn word(bytes: [u8; 4]) -> u64 {
    loaded_apart(u32::from_be_bytes(bytes).into())
}

/// A number that the compiler does not load together with its neighbours. A caller has often just
/// stored a nonce or associated data in parts. A load of more than one part waits until all are in
/// the cache: 20 cycles and more, for every message. Single words and bytes come straight from the
/// stores.
#[inline(always)]
fn loaded_apart(number: u64) -> u64 {
    opaque::word(number)
}

/// The last block that is hashed: the numbers of bits, as a field element.
#[inline]
fn lengths(aad: u64, data: u64) -> u128 {
    u128::from(aad) << 67 | u128::from(data) << 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [0; 50];
        let gcm = |isa| {
            let gcm = AesGcm::<128>::new(isa, &[1; 16]);
            forget();
            gcm
        };
        assert_best(ghash::KERNELS, |isa| drop(AesGcm::<192>::new(isa, &[1; 24])));
        assert_best(KERNELS, |isa| {
            let _tag = gcm(isa).seal(&[2; 12], &[3], (&mut data[..]).into());
        });
        assert_best(KERNELS, |isa| {
            let _tag = gcm(isa).open(&[2; 12], &[3], (&mut data[..]).into(), &[0; 16]);
        });
        // If the kernels run in turn, the last dispatch is that of GHASH, for the lengths.
        assert_best(ghash::KERNELS, |isa| {
            let _tag = gcm(isa).seal_from(&[2; 16], &[3], (&mut data[..]).into());
        });
        assert_best(ghash::KERNELS, |isa| {
            let _tag = gcm(isa).open_from(&[2; 16], &[3], (&mut data[..]).into());
        });
    }

    #[test]
    fn pieces_reach_the_kernels_of_hash_and_cipher() {
        let mut data = [0; 48];
        let begun = |isa| {
            let gcm = AesGcm::<256>::new(isa, &[1; 32]);
            let message = gcm.begin(&[2; 12]).expect("a nonce");
            forget();
            (gcm, message)
        };
        let ciphers = aes::KERNELS;
        assert_best(ghash::KERNELS, |isa| {
            let (gcm, mut message) = begun(isa);
            message.associate(&gcm, &[3; 16]);
        });
        assert_best(ghash::KERNELS, |isa| {
            let (gcm, mut message) = begun(isa);
            message.encrypt(&gcm, (&mut data[..]).into());
        });
        assert_best(ciphers, |isa| {
            let (gcm, mut message) = begun(isa);
            message.decrypt(&gcm, (&mut data[..]).into());
        });
        assert_best(ciphers, |isa| {
            let (gcm, message) = begun(isa);
            let _tag = message.tag(&gcm);
        });
        assert_best(ghash::KERNELS, |isa| {
            let (gcm, _) = begun(isa);
            let _first = gcm.counter_block(&[4; 16]);
        });
    }
}
