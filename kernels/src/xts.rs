//! AES-XTS (IEEE 1619-2018, NIST SP 800-38E): encryption of storage, sector by sector.
//!
//! A sector, or another unit that is written as a whole (the standards say *data unit*), has a
//! number, its tweak. Encrypted under the second half of the key, the tweak becomes the mask of the
//! first block. The mask of each further block is the one before times x in GF(2^128). A block is
//! masked, encrypted under the first half of the key, and masked again. An incomplete last block
//! takes the end of the ciphertext before it to become a whole one (ciphertext stealing), so that
//! nothing grows.
//!
//! Constant time in key and data at every level; numbers and lengths are public. With AES
//! instructions, vector registers compute the masks of a part of the sector side by side from its
//! first, and as many blocks are in flight as in [`aes`](crate::aes). Without, masks are computed
//! one after the other, for the best kernel of AES.

/// The functions that are called for a data unit and for sectors, by `unit` of a module that has
/// AES instructions.
macro_rules! kernels {
    ($(#[$feature:meta])*) => {
        $(#[$feature])*
        pub(crate) fn one<const MODE: bool>(
            _way: Mode<MODE>,
            _cipher: &impl BlockCipher<16>,
            _tweaks: &impl BlockEncrypt<16>,
            keys: &RoundKeys,
            tweak_keys: &RoundKeys,
            tweak: &[u8; 16],
            data: InOutBuf<'_, '_, u8>,
        ) {
            let mask = encrypted(tweak_keys, tweak);
            unit::<MODE>(keys, mask, data);
        }

        $(#[$feature])*
        pub(crate) fn units<const MODE: bool>(
            _way: Mode<MODE>,
            _cipher: &impl BlockCipher<16>,
            keys: &RoundKeys,
            tweaks: &[[u8; 16]],
            size: usize,
            data: InOutBuf<'_, '_, u8>,
        ) {
            let mut data = data;
            for tweak in tweaks {
                let (sector, rest) = data.split_at(size);
                unit::<MODE>(keys, load128(tweak), sector);
                data = rest;
            }
        }
    };
}

pub(crate) mod aarch64;
mod registers128;
mod two_pass;
pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::aes::{Aes, AesForward};
use crate::isa::Mode;
use crate::{BlockEncrypt, Isa, Level, wipe};

/// Calls the kernel `f` of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => {
        by_isa!(crate::xts, $($call)+: Avx512, Avx2Vaes, AesNi, ArmAes, _ => two_pass)
    };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below. The
/// lowest runs the best kernel of AES.
pub const KERNELS: &[Level] = best!(levels);

/// The fewest bytes of a data unit, one block: a shorter one has nothing to steal from.
pub const SHORTEST: usize = 16;

/// The most bytes of a data unit: 2^20 blocks (NIST SP 800-38E, section 4).
pub const LONGEST: usize = 16 << 20;

/// Sectors whose tweaks are encrypted together.
const GROUP: usize = 32;

/// The direction.
const ENCRYPT: bool = true;
const DECRYPT: bool = false;

/// AES-XTS with keys of twice `BITS` bits (128 or 256).
///
/// Room for the longest key schedules, three times 256 bytes, wiped on drop. Requests only read
/// them, so any number of threads can share it.
///
/// Nothing here checks that the two halves of the key differ (FIPS 140), nor that data units are at
/// most [`LONGEST`] bytes long. The checked layer does both.
//
// Each part wipes itself.
pub struct AesXts<const BITS: usize> {
    data: Aes<BITS>,
    tweak: AesForward<BITS>,
    isa: Isa,
}

// Each key size has one instance in this crate, not in the crate that uses it, so that programs get
// the kernels that were compiled and measured here.
macro_rules! key_size {
    ($bits:literal) => {
        impl AesXts<$bits> {
            /// A place for a key: call [`set_key`](Self::set_key) before any other method.
            #[must_use]
            #[inline]
            pub fn empty(isa: Isa) -> Self {
                Self { data: Aes::<$bits>::empty(isa), tweak: AesForward::empty(isa), isa }
            }

            /// Expands `key`, the data's key and then the tweaks', for the kernels of `isa`.
            #[must_use]
            #[inline]
            pub fn new(isa: Isa, key: &[u8; $bits / 4]) -> Self {
                let mut xts = Self::empty(isa);
                xts.set_key(key);
                xts
            }

            /// Expands another key in the place of the current one, for the same kernels.
            ///
            /// Cheaper than a new cipher, because overwritten data need no wiping.
            #[inline]
            pub fn set_key(&mut self, key: &[u8; $bits / 4]) {
                let (data, tweak) = halves(key);
                self.data.set_key(data);
                self.tweak.set_key(tweak);
            }

            /// Encrypts one data unit, in place or from one buffer to another.
            ///
            /// `tweak` distinguishes this unit from all others under the key: the number of a
            /// sector, little-endian.
            ///
            /// # Panics
            ///
            /// If `data` are less than [`SHORTEST`] bytes.
            pub fn encrypt(&self, tweak: &[u8; 16], data: InOutBuf<'_, '_, u8>) {
                assert!(data.len() >= SHORTEST, "a data unit has a block at least");
                let (cipher, tweaks) = (&self.data, &self.tweak);
                let (keys, tweak_keys) = (cipher.forward(), tweaks.forward());
                let mode = Mode::<ENCRYPT>;
                best!(self.isa, one(mode, cipher, tweaks, keys, tweak_keys, tweak, data));
            }

            /// Decrypts one data unit, in place or from one buffer to another.
            ///
            /// # Panics
            ///
            /// If `data` are less than [`SHORTEST`] bytes.
            pub fn decrypt(&self, tweak: &[u8; 16], data: InOutBuf<'_, '_, u8>) {
                assert!(data.len() >= SHORTEST, "a data unit has a block at least");
                let (cipher, tweaks) = (&self.data, &self.tweak);
                let (keys, tweak_keys) = (cipher.inverse(), tweaks.forward());
                let mode = Mode::<DECRYPT>;
                best!(self.isa, one(mode, cipher, tweaks, keys, tweak_keys, tweak, data));
            }

            /// Encrypts consecutive sectors of `size` bytes each, any number from [`SHORTEST`] on,
            /// in place or from one buffer to another.
            ///
            /// The tweak of the first is `first` as 16 little-endian bytes; each further one is one
            /// more, and wraps.
            ///
            /// # Panics
            ///
            /// If `size` is less than [`SHORTEST`], or `data` are not whole sectors.
            pub fn encrypt_sectors(&self, first: u128, size: usize, data: InOutBuf<'_, '_, u8>) {
                self.in_groups(first, size, data, |tweaks, data| {
                    let (mode, cipher, keys) = (Mode::<ENCRYPT>, &self.data, self.data.forward());
                    best!(self.isa, units(mode, cipher, keys, tweaks, size, data));
                });
            }

            /// Decrypts consecutive sectors, the inverse of
            /// [`encrypt_sectors`](Self::encrypt_sectors).
            ///
            /// # Panics
            ///
            /// If `size` is less than [`SHORTEST`], or `data` are not whole sectors.
            pub fn decrypt_sectors(&self, first: u128, size: usize, data: InOutBuf<'_, '_, u8>) {
                self.in_groups(first, size, data, |tweaks, data| {
                    let (mode, cipher, keys) = (Mode::<DECRYPT>, &self.data, self.data.inverse());
                    best!(self.isa, units(mode, cipher, keys, tweaks, size, data));
                });
            }

            /// Calls `units` for groups of sectors, with the encrypted tweak of each.
            #[inline]
            fn in_groups(
                &self,
                first: u128,
                size: usize,
                data: InOutBuf<'_, '_, u8>,
                units: impl Fn(&[[u8; 16]], InOutBuf<'_, '_, u8>),
            ) {
                assert!(size >= SHORTEST, "a sector has a block at least");
                assert!(data.len().is_multiple_of(size), "sectors are whole");
                let (mut next, mut data) = (first, data);
                let mut tweaks = [[0; 16]; GROUP];
                while !data.is_empty() {
                    let count = (data.len() / size).min(GROUP);
                    let (part, rest) = data.split_at(count * size);
                    for tweak in &mut tweaks[..count] {
                        *tweak = next.to_le_bytes();
                        next = next.wrapping_add(1);
                    }
                    self.tweak.encrypt((&mut tweaks[..count]).into());
                    units(&tweaks[..count], part);
                    data = rest;
                }
                wipe::memory(tweaks.as_flattened_mut());
            }
        }
    };
}

key_size!(128);
key_size!(256);

/// The two halves of a key.
#[inline]
fn halves<const KEY: usize, const HALF: usize>(key: &[u8; KEY]) -> (&[u8; HALF], &[u8; HALF]) {
    const { assert!(KEY == 2 * HALF) };
    let data = key.first_chunk().expect("asserted: half as long");
    let tweak = key.last_chunk().expect("asserted: half as long");
    (data, tweak)
}

/// The bytes at the end of a data unit that take part in stealing: the last whole block and the
/// bytes after it; zero if all blocks are whole.
#[inline]
fn stealing(length: usize) -> usize {
    match length % 16 {
        0 => 0,
        part => 16 + part,
    }
}

impl<const BITS: usize> AesXts<BITS> {
    /// The level of its kernels.
    #[must_use]
    #[inline]
    pub fn isa(&self) -> Isa {
        self.isa
    }
}

impl<const BITS: usize> fmt::Debug for AesXts<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("AesXts");
        f.field("bits", &BITS).field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl<const BITS: usize> ZeroizeOnDrop for AesXts<BITS> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aes;
    use crate::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        // Without AES instructions, the last dispatch is that of AES.
        let kernels = aes::KERNELS;
        let mut data = [0; 40];
        let xts = |isa| {
            let xts = AesXts::<128>::new(isa, &[1; 32]);
            forget();
            xts
        };
        assert_best(kernels, |isa| xts(isa).encrypt(&[2; 16], (&mut data[..]).into()));
        assert_best(kernels, |isa| xts(isa).decrypt(&[2; 16], (&mut data[..]).into()));
        assert_best(kernels, |isa| xts(isa).encrypt_sectors(2, 20, (&mut data[..]).into()));
        assert_best(kernels, |isa| xts(isa).decrypt_sectors(2, 20, (&mut data[..]).into()));
    }
}
