//! AES-SIV (RFC 5297): deterministic encryption with authentication.
//!
//! S2V hashes any number of strings, and last the plaintext, by CMAC (NIST SP 800-38B) under the
//! first half of the key. The result V is the tag, and the first counter block of CTR under the
//! second half of the key. Equal strings and plaintexts give equal results, so a nonce, if there is
//! one, is the last string before the plaintext.
//!
//! Constant time in key and data at every level; lengths are public. CMAC is one chain, so wider
//! registers do not make it faster: of one message, only the blocks of CTR run side by side. Many
//! messages under one key do, see [`Lane`].

/// CMAC of a string.
///
/// Not a function: if it were not inlined, the blocks would be stored in halves and loaded as
/// wholes, and the processor delays such a load until all work before it is done.
macro_rules! mac {
    ($keys:expr, $string:expr) => {{
        let string = $string;
        let (body, last) = (string.body, block(string.last));
        match string.next {
            None => chain($keys, body, [last]),
            Some(next) => chain($keys, body, [block(next), last]),
        }
    }};
}

/// The functions that a dispatch chooses from, by `chain`, which makes a CMAC, and `crypt`, which
/// is CTR from V on, of a module: S2V of more strings, and the two directions.
macro_rules! kernels {
    ($(#[$feature:meta])*) => {
        $(#[$feature])*
        pub(crate) fn associate(
            keys: &Keys<'_>,
            sum: u128,
            strings: &[&[u8]],
        ) -> u128 {
            let mut sum = sum;
            for string in strings {
                sum = doubled(sum) ^ number(mac!(keys.mac, keys.cmac.plain(string)));
            }
            sum
        }

        $(#[$feature])*
        pub(crate) fn seal(
            keys: &Keys<'_>,
            sum: u128,
            strings: &[&[u8]],
            data: InOutBuf<'_, '_, u8>,
        ) -> u128 {
            let sum = associate(keys, sum, strings);
            let v = mac!(keys.mac, keys.cmac.last(sum, data.get_in()));
            crypt(keys.cipher, v, in_parts(data));
            number(v)
        }

        $(#[$feature])*
        pub(crate) fn open(
            keys: &Keys<'_>,
            sum: u128,
            strings: &[&[u8]],
            v: &[u8; 16],
            data: InOutBuf<'_, '_, u8>,
        ) -> u128 {
            let mut data = data;
            crypt(keys.cipher, load128(v), in_parts(data.reborrow()));
            let sum = associate(keys, sum, strings);
            number(mac!(keys.mac, keys.cmac.last(sum, data.get_out())))
        }
    };
}

pub(crate) mod aarch64;
mod cmac;
mod lanes;
mod registers128;
mod two_pass;
pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use self::cmac::Subkeys;
pub use self::lanes::Lane;
use crate::aead::NoMessage;
use crate::aes::AesForward;
use crate::aes::RoundKeys;
use crate::{Aead, BlockEncrypt, Isa, Level, aes, wipe};

/// Calls the kernel `f` of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => {
        by_isa!(crate::siv, $($call)+: Avx512, Avx2Vaes, AesNi, ArmAes, _ => two_pass)
    };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below. The
/// lowest runs the best kernel of AES without AES instructions.
pub const KERNELS: &[Level] = best!(levels);

/// AES-SIV with keys of twice `BITS` bits (128, 192 or 256): that of CMAC and that of CTR.
///
/// Two key schedules, the subkeys of CMAC and its value of zeros, about 540 bytes, wiped on drop.
/// Requests only read them, so any number of threads can share it.
///
/// Nothing here compares tags. The checked layer does.
//
// The schedules wipe themselves, and so does the start.
pub struct AesSiv<const BITS: usize> {
    mac: AesForward<BITS>,
    cipher: AesForward<BITS>,
    cmac: Subkeys,
    /// CMAC of a block of zeros, which S2V begins with.
    start: Strings,
}

/// What S2V has made of the strings so far, under one key. Wiped on drop.
///
/// Strings that many messages have in common are hashed once: keep a clone.
#[derive(Clone)]
pub struct Strings {
    /// As a little-endian number, like all blocks here.
    sum: u128,
}

/// What a kernel reads of a key.
pub(crate) struct Keys<'k> {
    isa: Isa,
    mac: &'k RoundKeys,
    cipher: &'k RoundKeys,
    cmac: &'k Subkeys,
}

// Each key size has one instance in this crate, not in the crate that uses it, so that programs get
// the kernels that were compiled and measured here.
macro_rules! key_size {
    ($bits:literal) => {
        impl AesSiv<$bits> {
            /// Hashes more strings, in this order.
            ///
            /// RFC 5297 allows 126 before the plaintext. Nothing here counts them.
            pub fn associate(&self, strings: &mut Strings, more: &[&[u8]]) {
                let (keys, sum) = (&self.keys(), strings.sum);
                strings.sum = best!(keys.isa, associate(keys, sum, more));
            }

            /// Encrypts a message, in place or from one buffer to another, after the strings that
            /// have been hashed and `more`, and returns its V.
            #[must_use]
            pub fn seal_after(
                &self,
                strings: &Strings,
                more: &[&[u8]],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                let (keys, sum) = (&self.keys(), strings.sum);
                best!(keys.isa, seal(keys, sum, more, data)).to_le_bytes()
            }

            /// Decrypts a message that came with `v`, in place or from one buffer to another, and
            /// returns the V that it should have.
            ///
            /// The caller compares both, in constant time, and wipes the plaintext if they differ.
            #[must_use]
            pub fn open_after(
                &self,
                strings: &Strings,
                more: &[&[u8]],
                v: &[u8; 16],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                let (keys, sum) = (&self.keys(), strings.sum);
                best!(keys.isa, open(keys, sum, more, v, data)).to_le_bytes()
            }

            #[inline(always)]
            fn keys(&self) -> Keys<'_> {
                Keys {
                    isa: self.mac.isa(),
                    mac: self.mac.forward(),
                    cipher: self.cipher.forward(),
                    cmac: &self.cmac,
                }
            }
        }

        impl Aead for AesSiv<$bits> {
            type Key = [u8; $bits / 4];
            type Nonce = [u8; 16];

            /// Any length: the counter has 128 bits.
            const LONGEST: u64 = u64::MAX;
            const LEVELS: &'static [&'static [Level]] = &[KERNELS, aes::KERNELS];

            #[inline]
            fn empty(isa: Isa) -> Self {
                Self {
                    mac: AesForward::empty(isa),
                    cipher: AesForward::empty(isa),
                    cmac: Subkeys::EMPTY,
                    start: Strings { sum: 0 },
                }
            }

            fn set_key(&mut self, key: &[u8; $bits / 4]) {
                let (mac, cipher) = halves(key);
                self.mac.set_key(mac);
                self.cipher.set_key(cipher);
                let mut block = [[0; 16]];
                self.mac.encrypt((&mut block[..]).into());
                self.cmac = Subkeys::new(u128::from_le_bytes(block[0]));
                block[0] = self.cmac.whole.to_le_bytes();
                self.mac.encrypt((&mut block[..]).into());
                self.start.sum = u128::from_le_bytes(block[0]);
                wipe::memory(&mut block[0]);
            }

            #[inline]
            fn isa(&self) -> Isa {
                self.mac.isa()
            }

            /// The strings are `aad`, even if it is empty, and the nonce (section 3).
            fn seal(&self, nonce: &[u8; 16], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16] {
                self.seal_after(&self.start, &[aad, nonce], data)
            }

            fn open(
                &self,
                nonce: &[u8; 16],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8; 16],
            ) -> [u8; 16] {
                self.open_after(&self.start, &[aad, nonce], tag, data)
            }

            /// Nonces of all lengths are hashed alike.
            #[cold]
            #[inline(never)]
            fn seal_hashed(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> Option<[u8; 16]> {
                Some(self.seal_after(&self.start, &[aad, nonce], data))
            }

            #[cold]
            #[inline(never)]
            fn open_hashed(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8; 16],
            ) -> Option<[u8; 16]> {
                Some(self.open_after(&self.start, &[aad, nonce], tag, data))
            }

            type Message = NoMessage;
        }
    };
}

key_size!(128);
key_size!(192);
key_size!(256);

impl<const BITS: usize> AesSiv<BITS> {
    /// The state of S2V before the first string.
    #[must_use]
    #[inline]
    pub fn strings(&self) -> &Strings {
        &self.start
    }
}

/// The two halves of a key.
#[inline]
fn halves<const KEY: usize, const HALF: usize>(key: &[u8; KEY]) -> (&[u8; HALF], &[u8; HALF]) {
    const { assert!(KEY == 2 * HALF) };
    let mac = key.first_chunk().expect("asserted: half as long");
    let cipher = key.last_chunk().expect("asserted: half as long");
    (mac, cipher)
}

/// The first counter block of V, as a number: two bits are cleared (section 2.5), so that the lower
/// word of 64 bits never runs over, and that of 32 bits only in messages of more than 2^31 blocks.
#[inline(always)]
fn counter(v: u128) -> u128 {
    v.swap_bytes() & !(1 << 63 | 1 << 31)
}

impl<const BITS: usize> fmt::Debug for AesSiv<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("AesSiv");
        f.field("bits", &BITS).field("isa", &self.mac.isa()).finish_non_exhaustive()
    }
}

impl<const BITS: usize> Drop for AesSiv<BITS> {
    #[inline]
    fn drop(&mut self) {
        let Subkeys { whole, part } = &mut self.cmac;
        wipe::words(core::slice::from_mut(whole));
        wipe::words(core::slice::from_mut(part));
    }
}

impl<const BITS: usize> ZeroizeOnDrop for AesSiv<BITS> {}

impl fmt::Debug for Strings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strings").finish_non_exhaustive()
    }
}

impl Drop for Strings {
    #[inline]
    fn drop(&mut self) {
        wipe::words(core::slice::from_mut(&mut self.sum));
    }
}

impl ZeroizeOnDrop for Strings {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        // Without AES instructions, the last dispatch is that of AES.
        let kernels = aes::KERNELS;
        let mut data = [0; 40];
        let siv = |isa| {
            let siv = AesSiv::<128>::new(isa, &[1; 32]);
            let strings = siv.strings().clone();
            forget();
            (siv, strings)
        };
        assert_best(kernels, |isa| {
            let (siv, mut strings) = siv(isa);
            siv.associate(&mut strings, &[&[2]]);
        });
        assert_best(kernels, |isa| {
            let (siv, strings) = siv(isa);
            let _v = siv.seal_after(&strings, &[], (&mut data[..]).into());
        });
        assert_best(kernels, |isa| {
            let (siv, strings) = siv(isa);
            let _v = siv.open_after(&strings, &[], &[3; 16], (&mut data[..]).into());
        });
    }
}
