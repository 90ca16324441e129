//! AES-XTS (IEEE 1619-2018, NIST SP 800-38E): encryption of storage, sector by sector.
//!
//! A sector, or whatever else is written as a whole (the standards say *data unit*), has a number,
//! its tweak. Encrypted under the second half of the key it becomes the mask of the first block;
//! each next block's mask is the last one times x in GF(2^128). A block is masked, encrypted under
//! the first half of the key, and masked again. What is left of a last block takes the end of the
//! ciphertext before it to become a block (ciphertext stealing), so that nothing grows.
//!
//! Constant time in key and data at every level; numbers and lengths are public. With AES
//! instructions the masks of a part of the sector are computed side by side in vector registers,
//! each from the part's first, and blocks are in flight as in [`aes`](crate::aes). Without, masks
//! are computed one after the other, for the best kernel of AES that there is.

#[cfg(target_arch = "x86_64")]
mod aesni;
#[cfg(all(target_arch = "x86_64", feature = "isa-avx2"))]
mod avx2vaes;
#[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
mod avx512;
mod in_turn;

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::aes::{Aes, AesForward};
use crate::{BlockEncrypt, Isa, Level, wipe};

/// The levels that have a kernel of their own, lowest first; others run the next one below. The
/// lowest runs the best kernel of AES that there is.
pub const KERNELS: &[Level] = &[Level::Portable, Level::AesNi, Level::Avx2Vaes, Level::Avx512];

/// The fewest bytes of a data unit, one block: less has nothing to steal from.
pub const SHORTEST: usize = 16;

/// The most bytes of a data unit: 2^20 blocks (NIST SP 800-38E, section 4).
pub const LONGEST: usize = 16 << 20;

/// Sectors whose tweaks are encrypted together.
const GROUP: usize = 32;

/// Which way data go.
const ENCRYPT: bool = true;
const DECRYPT: bool = false;

/// The same as an argument, from which a kernel infers for which way it is compiled.
#[derive(Clone, Copy)]
struct Way<const ENCRYPT: bool>;

/// AES-XTS with keys of twice `BITS` bits (128 or 256).
///
/// Room for the longest key schedules, three times 240 bytes, which are wiped on drop. Requests
/// read them only, so that any number of threads can share it.
///
/// Nothing here compares the two halves of the key, which must differ (FIPS 140), nor holds data
/// units to at most [`LONGEST`] bytes. The checked layer does both.
//
// Each part wipes itself.
pub struct AesXts<const BITS: usize> {
    data: Aes<BITS>,
    tweak: AesForward<BITS>,
    isa: Isa,
}

/// Calls the kernel `f` of the highest level that there is.
macro_rules! best {
    ($isa:expr, $f:ident $args:tt) => {
        by_isa!($isa, $f $args: Avx512 => avx512, Avx2Vaes => avx2vaes, AesNi => aesni,
            _ => in_turn)
    };
}

// One instance for each key size stands in this crate, and not in whatever crate asks for it, so
// that programs get the kernels as they were compiled and measured here.
macro_rules! key_size {
    ($bits:literal) => {
        impl AesXts<$bits> {
            /// The place of a key: nothing may be asked of it before [`set_key`](Self::set_key).
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

            /// Expands another key in the place of the one that is there, for the same kernels.
            ///
            /// Cheaper than a new cipher, for what is overwritten needs no wiping.
            #[inline]
            pub fn set_key(&mut self, key: &[u8; $bits / 4]) {
                let (data, tweak) = halves(key);
                self.data.set_key(data);
                self.tweak.set_key(tweak);
            }

            /// Encrypts one data unit, in place or from one buffer to another.
            ///
            /// `tweak` is what tells this unit from all others under the key: a sector's number,
            /// little-endian.
            ///
            /// # Panics
            ///
            /// If `data` are less than [`SHORTEST`] bytes.
            pub fn encrypt(&self, tweak: &[u8; 16], data: InOutBuf<'_, '_, u8>) {
                assert!(data.len() >= SHORTEST, "a data unit has a block at least");
                let (cipher, tweaks) = (&self.data, &self.tweak);
                let (keys, tweak_keys) = (cipher.forward(), tweaks.forward());
                let way = Way::<ENCRYPT>;
                best!(self.isa, one(way, cipher, tweaks, keys, tweak_keys, tweak, data));
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
                let way = Way::<DECRYPT>;
                best!(self.isa, one(way, cipher, tweaks, keys, tweak_keys, tweak, data));
            }

            /// Encrypts consecutive sectors of `size` bytes each, any number from [`SHORTEST`] on,
            /// in place or from one buffer to another.
            ///
            /// The tweak of the first is `first` as 16 little-endian bytes, and each next one is
            /// one more; it wraps.
            ///
            /// # Panics
            ///
            /// If `size` is less than [`SHORTEST`], or `data` are not whole sectors.
            pub fn encrypt_sectors(&self, first: u128, size: usize, data: InOutBuf<'_, '_, u8>) {
                self.in_groups(first, size, data, |tweaks, data| {
                    let (way, cipher, keys) = (Way::<ENCRYPT>, &self.data, self.data.forward());
                    best!(self.isa, units(way, cipher, keys, tweaks, size, data));
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
                    let (way, cipher, keys) = (Way::<DECRYPT>, &self.data, self.data.inverse());
                    best!(self.isa, units(way, cipher, keys, tweaks, size, data));
                });
            }

            /// Calls `units` with so many sectors at a time and the encrypted tweak of each.
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

/// Bytes at the end of a data unit that steal and are stolen from: the last whole block and what
/// comes after it; none where all blocks are whole.
#[inline]
fn stealing(length: usize) -> usize {
    match length % 16 {
        0 => 0,
        part => 16 + part,
    }
}

impl<const BITS: usize> AesXts<BITS> {
    /// Whose kernels it runs.
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
    use crate::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        // Without AES instructions, the last dispatch is that of AES.
        let kernels =
            &[Level::Portable, Level::Ssse3, Level::AesNi, Level::Avx2Vaes, Level::Avx512];
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
