//! AES (FIPS 197): the block function in both directions, and the modes ECB, CBC and CTR
//! (NIST SP 800-38A, sections 6.1, 6.2 and 6.5).
//!
//! Constant time in key and data at every level. Without AES instructions the portable kernel is
//! bitsliced, and that of `Ssse3` uses vector permutes. From `AesNi` and `ArmAes` on kernels use
//! the AES instructions of the processor: 8 blocks at a time with 128-bit registers, 16 with
//! 256-bit and 32 with 512-bit ones. The remaining blocks of a request run side by side in as many
//! registers as they need.
//!
//! A kernel moves `data` into a variable of its own before it cuts pieces off. The argument itself
//! lies in memory. If a kernel changed it there, callers would have to pass a copy, made with one
//! wide load of values that had just been stored in parts. The processor delays such a load until
//! all work before it is done, three times as long as a short request takes.

/// Calls the kernel `f` of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => {
        by_isa!(crate::aes, $($call)+: Avx512, Avx2Vaes, AesNi, Ssse3, ArmAes, _ => portable)
    };
}

/// Calls `f::<V, ..>` with `count` as the number `V`, which is from 1 to 8. Each number has its
/// own code, in which all `V` registers are in flight together.
///
/// `f` has a parameter `LAST` that only says that it is called from here. It makes a separate
/// function from the one that a loop calls, so that each is called only once and compiled into its
/// place.
macro_rules! for_count {
    ($count:expr, $f:ident::<_ $(, $more:tt)*> $args:tt) => {
        match $count {
            1 => $f::<1 $(, $more)*> $args,
            2 => $f::<2 $(, $more)*> $args,
            3 => $f::<3 $(, $more)*> $args,
            4 => $f::<4 $(, $more)*> $args,
            5 => $f::<5 $(, $more)*> $args,
            6 => $f::<6 $(, $more)*> $args,
            7 => $f::<7 $(, $more)*> $args,
            _ => $f::<8 $(, $more)*> $args,
        }
    };
}

/// `$body` with the round keys of all rounds but the last as an array `$middle`, so that rounds are
/// unrolled: a copy for each key size.
macro_rules! by_key_size {
    ($keys:expr, $middle:ident => $body:expr) => {
        match $keys.middle_by_size() {
            $crate::aes::round_keys::Middle::Nine($middle) => $body,
            $crate::aes::round_keys::Middle::Eleven($middle) => $body,
            $crate::aes::round_keys::Middle::Thirteen($middle) => $body,
        }
    };
}

/// Functions that all architectures share, with the instructions that they take on x86-64 and on
/// AArch64.
macro_rules! with_features {
    ($x86_64:literal, $aarch64:literal: $($item:item)+) => {$(
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = $x86_64))]
        #[cfg_attr(target_arch = "aarch64", target_feature(enable = $aarch64))]
        $item
    )+};
}

/// Functions of kernels with AES instructions on 128-bit registers.
macro_rules! with_aes {
    ($($item:item)+) => { with_features!("aes,sse4.1,ssse3", "aes": $($item)+); };
}

pub(crate) mod aarch64;
pub(crate) mod ctr;
pub(crate) mod lanes;
pub(crate) mod portable;
pub(crate) mod registers128;
pub(crate) mod round_keys;
pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

pub use self::ctr::AesCtr;
pub(crate) use self::round_keys::RoundKeys;
use crate::isa::Mode;
use crate::{BlockCipher, BlockEncrypt, Isa, Level};

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = best!(levels);

/// Which way the rounds go.
pub(crate) const FORWARD: bool = true;
/// The other way, by the schedule for decryption.
pub(crate) const INVERSE: bool = false;

/// AES with keys of `BITS` bits (128, 192 or 256) in both directions.
///
/// Room for the longest key schedules, twice 256 bytes, wiped on drop. [`AesForward`], for the
/// forward direction only, takes half of that. Constant time in key and data.
#[repr(C)]
pub struct Aes<const BITS: usize> {
    forward: RoundKeys,
    inverse: RoundKeys,
}

/// AES with keys of `BITS` bits (128, 192 or 256): the forward direction, which suffices for CTR
/// and the encryption of CBC.
///
/// Room for the longest key schedule, 256 bytes, wiped on drop. Constant time in key and data.
#[repr(C)]
pub struct AesForward<const BITS: usize> {
    forward: RoundKeys,
}

/// Encrypts blocks, for modes with keys that last as long as a message.
#[inline]
pub(crate) fn encrypt(isa: Isa, keys: &RoundKeys, blocks: InOutBuf<'_, '_, [u8; 16]>) {
    let mode = Mode::<FORWARD>;
    best!(isa, ecb(keys, blocks, mode));
}

/// The schedule of a key of 16 or 32 bytes, likewise.
pub(crate) fn expand(isa: Isa, key: &[u8], keys: &mut RoundKeys) {
    if let Ok(key) = key.try_into() {
        expand128(isa, key, keys);
    } else if let Ok(key) = key.try_into() {
        expand256(isa, key, keys);
    }
}

/// CBC encryption at levels without AES instructions, for a caller that has kernels of its own from
/// those on.
#[inline(always)]
pub(crate) fn cbc_encrypt_low(
    isa: Isa,
    keys: &RoundKeys,
    iv: &mut [u8; 16],
    blocks: InOutBuf<'_, '_, [u8; 16]>,
) {
    by_isa!(crate::aes, isa, cbc_encrypt(keys, iv, blocks): Ssse3, _ => portable);
}

/// The first 8 bytes of a block as a little-endian number.
#[inline]
fn first_eight(block: &[u8; 16]) -> u64 {
    u64::from_le_bytes(*block.first_chunk().expect("a block has 16 bytes"))
}

impl<const BITS: usize> AesForward<BITS> {
    #[inline]
    pub(crate) fn forward(&self) -> &RoundKeys {
        &self.forward
    }

    #[inline]
    pub(crate) fn forward_mut(&mut self) -> &mut RoundKeys {
        &mut self.forward
    }
}

impl<const BITS: usize> Aes<BITS> {
    #[inline]
    pub(crate) fn forward(&self) -> &RoundKeys {
        &self.forward
    }

    #[inline]
    pub(crate) fn inverse(&self) -> &RoundKeys {
        &self.inverse
    }
}

/// The methods of [`BlockEncrypt`] that need the forward schedule only, for both types.
macro_rules! forward {
    () => {
        fn encrypt(&self, blocks: InOutBuf<'_, '_, [u8; 16]>) {
            let keys = self.forward();
            let mode = Mode::<FORWARD>;
            best!(keys.isa(), ecb(keys, blocks, mode));
        }

        fn cbc_encrypt(&self, iv: &mut [u8; 16], blocks: InOutBuf<'_, '_, [u8; 16]>) {
            let keys = self.forward();
            best!(keys.isa(), cbc_encrypt(keys, iv, blocks));
        }

        fn ctr(&self, counter: &mut [u8; 16], data: InOutBuf<'_, '_, u8>) {
            let keys = self.forward();
            ctr::xor(keys.isa(), keys, counter, data);
        }

        fn ctr_keystream(&self, counter: &mut [u8; 16], out: &mut [u8]) {
            let keys = self.forward();
            ctr::keystream(keys.isa(), keys, counter, out);
        }
    };
}

// Each key size has one instance in this crate, not in the crate that uses it, so that programs get
// the kernels that were compiled and measured here.
macro_rules! key_size {
    ($bits:literal, $expand:ident, $both:ident) => {
        /// The key schedule, written in place: a copy would have to be wiped.
        fn $expand(isa: Isa, key: &[u8; $bits / 8], keys: &mut RoundKeys) {
            by_isa!(crate::aes, isa, $expand(key, keys): AesNi, Ssse3, ArmAes, _ => portable);
        }

        /// The key schedules of both directions, likewise.
        fn $both(isa: Isa, key: &[u8; $bits / 8], keys: [&mut RoundKeys; 2]) {
            by_isa!(crate::aes, isa, $both(isa, key, keys): AesNi, ArmAes, _ => one_by_one);
        }

        impl BlockEncrypt<16> for AesForward<$bits> {
            type Key = [u8; $bits / 8];

            #[inline]
            fn empty(isa: Isa) -> Self {
                Self { forward: RoundKeys::empty($bits, isa) }
            }

            #[inline]
            fn set_key(&mut self, key: &Self::Key) {
                $expand(self.forward.isa(), key, &mut self.forward);
            }

            forward!();
        }

        impl BlockEncrypt<16> for Aes<$bits> {
            type Key = [u8; $bits / 8];

            #[inline]
            fn empty(isa: Isa) -> Self {
                let room = || RoundKeys::empty($bits, isa);
                Self { forward: room(), inverse: room() }
            }

            #[inline]
            fn set_key(&mut self, key: &Self::Key) {
                $both(self.forward.isa(), key, [&mut self.forward, &mut self.inverse]);
            }

            forward!();
        }

        impl BlockCipher<16> for Aes<$bits> {
            fn decrypt(&self, blocks: InOutBuf<'_, '_, [u8; 16]>) {
                let keys = self.inverse();
                let mode = Mode::<INVERSE>;
                best!(keys.isa(), ecb(keys, blocks, mode));
            }

            fn cbc_decrypt(&self, iv: &mut [u8; 16], blocks: InOutBuf<'_, '_, [u8; 16]>) {
                let keys = self.inverse();
                best!(keys.isa(), cbc_decrypt(keys, iv, blocks));
            }
        }
    };
}

key_size!(128, expand128, both128);
key_size!(192, expand192, both192);
key_size!(256, expand256, both256);

/// Both schedules, if no kernel makes them at once.
mod one_by_one {
    use super::{Isa, RoundKeys, portable};

    macro_rules! key_size {
        ($bits:literal, $expand:ident, $both:ident) => {
            pub(super) fn $both(
                isa: Isa,
                key: &[u8; $bits / 8],
                [forward, inverse]: [&mut RoundKeys; 2],
            ) {
                super::$expand(isa, key, forward);
                by_isa!(crate::aes, isa, invert(forward, inverse): Ssse3, _ => portable);
            }
        };
    }

    key_size!(128, expand128, both128);
    key_size!(192, expand192, both192);
    key_size!(256, expand256, both256);
}

impl AesForward<128> {
    /// The first 8 bytes, as a little-endian number, of one encrypted block. Input and output do
    /// not pass through memory, where one block would wait for the one before.
    #[must_use]
    #[inline]
    pub fn front(&self, block: &[u8; 16]) -> u64 {
        let keys = self.forward();
        best!(keys.isa(), front(keys, block))
    }
}

impl AesForward<256> {
    /// The same for a longer key.
    #[must_use]
    #[inline]
    pub fn front(&self, block: &[u8; 16]) -> u64 {
        let keys = self.forward();
        best!(keys.isa(), front(keys, block))
    }
}

impl<const BITS: usize> AesForward<BITS> {
    /// The level of its kernels.
    #[must_use]
    #[inline]
    pub fn isa(&self) -> Isa {
        self.forward().isa()
    }
}

impl<const BITS: usize> Aes<BITS> {
    /// The level of its kernels.
    #[must_use]
    #[inline]
    pub fn isa(&self) -> Isa {
        self.forward().isa()
    }
}

impl<const BITS: usize> fmt::Debug for AesForward<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("AesForward");
        f.field("bits", &BITS).field("isa", &self.isa()).finish_non_exhaustive()
    }
}

impl<const BITS: usize> fmt::Debug for Aes<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aes").field("bits", &BITS).field("isa", &self.isa()).finish_non_exhaustive()
    }
}

// Schedules wipe themselves.
impl<const BITS: usize> ZeroizeOnDrop for AesForward<BITS> {}
impl<const BITS: usize> ZeroizeOnDrop for Aes<BITS> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamCore;
    use crate::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [[0; 16]; 3];
        let aes = |isa| {
            let aes = Aes::<128>::new(isa, &[1; 16]);
            forget();
            aes
        };
        assert_best(KERNELS, |isa| aes(isa).encrypt((&mut data[..]).into()));
        assert_best(KERNELS, |isa| aes(isa).decrypt((&mut data[..]).into()));
        assert_best(KERNELS, |isa| aes(isa).cbc_encrypt(&mut [2; 16], (&mut data[..]).into()));
        assert_best(KERNELS, |isa| aes(isa).cbc_decrypt(&mut [2; 16], (&mut data[..]).into()));
        assert_best(KERNELS, |isa| {
            let aes = AesForward::<256>::new(isa, &[1; 32]);
            forget();
            let _ = aes.front(&data[0]);
        });
        let data = data.as_flattened_mut();
        assert_best(KERNELS, |isa| aes(isa).ctr(&mut [2; 16], (&mut data[..]).into()));
        assert_best(KERNELS, |isa| aes(isa).ctr_keystream(&mut [2; 16], data));
        let core = |isa| {
            let core = AesCtr::<256>::new(isa, &[1; 32], &[2; 16]);
            forget();
            core
        };
        assert_best(KERNELS, |isa| core(isa).keystream(data));
        assert_best(KERNELS, |isa| core(isa).xor((&mut data[..]).into()));
    }

    #[test]
    fn fronts_are_those_of_blocks() {
        for &level in Level::built() {
            let isa = Isa::of_processor().at_most(level);
            let (short, long) = (AesForward::new(isa, &[7; 16]), AesForward::new(isa, &[8; 32]));
            for n in 0..8 {
                let block = [n * 35; 16];
                let (mut by_short, mut by_long) = ([block], [block]);
                AesForward::<128>::encrypt(&short, (&mut by_short[..]).into());
                AesForward::<256>::encrypt(&long, (&mut by_long[..]).into());
                assert_eq!(short.front(&block).to_le_bytes(), by_short[0][..8], "{level}");
                assert_eq!(long.front(&block).to_le_bytes(), by_long[0][..8], "{level}");
            }
        }
    }

    #[test]
    fn every_level_reaches_its_key_schedule() {
        let kernels = &[Level::Portable, Level::Ssse3, Level::AesNi, Level::ArmAes];
        assert_best(kernels, |isa| drop(AesForward::<192>::new(isa, &[1; 24])));
        // The last thing that this does is to invert the schedule.
        assert_best(kernels, |isa| drop(Aes::<192>::new(isa, &[1; 24])));
    }
}
