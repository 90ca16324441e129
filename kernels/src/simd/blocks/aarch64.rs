//! Blocks in registers of AArch64.
#![cfg(target_arch = "aarch64")]

use core::arch::aarch64::*;
use core::arch::asm;

use crate::opaque;

/// A block.
pub type Block = uint8x16_t;

#[inline]
#[target_feature(enable = "neon")]
pub fn zero128() -> Block {
    vdupq_n_u8(0)
}

#[inline]
#[target_feature(enable = "neon")]
pub fn xor128(a: Block, b: Block) -> Block {
    veorq_u8(a, b)
}

#[inline]
#[target_feature(enable = "neon")]
pub fn and128(a: Block, b: Block) -> Block {
    vandq_u8(a, b)
}

#[inline]
#[target_feature(enable = "neon")]
pub fn or128(a: Block, b: Block) -> Block {
    vorrq_u8(a, b)
}

/// Sums of words.
#[inline]
#[target_feature(enable = "neon")]
pub fn add_words(a: Block, b: Block) -> Block {
    vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)))
}

/// Sums of halves.
#[inline]
#[target_feature(enable = "neon")]
pub fn add_halves(a: Block, b: Block) -> Block {
    vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)))
}

/// A block of two halves, the lower one first.
#[inline]
#[target_feature(enable = "neon")]
pub fn of_halves([low, high]: [u64; 2]) -> Block {
    vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)))
}

/// Loads both halves separately.
#[inline]
#[target_feature(enable = "neon")]
pub fn load_halves(bytes: &[u8; 16]) -> Block {
    let (halves, _) = bytes.as_chunks();
    of_halves([halves[0], halves[1]].map(|half| opaque::word(u64::from_le_bytes(half))))
}

/// A block of words, the lowest first.
#[inline]
#[target_feature(enable = "neon")]
pub fn of_words([a, b, c, d]: [i32; 4]) -> Block {
    let half = |low: i32, high: i32| {
        u64::from(high.cast_unsigned()) << 32 | u64::from(low.cast_unsigned())
    };
    of_halves([half(a, b), half(c, d)])
}

/// A block of four times the same word.
#[inline]
#[target_feature(enable = "neon")]
pub fn of_word(word: i32) -> Block {
    vreinterpretq_u8_s32(vdupq_n_s32(word))
}

#[inline]
#[target_feature(enable = "neon")]
pub fn low_half(x: Block) -> u64 {
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(x))
}

#[inline]
#[target_feature(enable = "neon")]
pub fn high_half(x: Block) -> u64 {
    vgetq_lane_u64::<1>(vreinterpretq_u64_u8(x))
}

/// The lower halves of two blocks.
#[inline]
#[target_feature(enable = "neon")]
pub fn low_halves(low: Block, high: Block) -> Block {
    let halves = vzip1q_u64(vreinterpretq_u64_u8(low), vreinterpretq_u64_u8(high));
    vreinterpretq_u8_u64(halves)
}

/// The upper halves of two blocks.
#[inline]
#[target_feature(enable = "neon")]
pub fn high_halves(low: Block, high: Block) -> Block {
    let halves = vzip2q_u64(vreinterpretq_u64_u8(low), vreinterpretq_u64_u8(high));
    vreinterpretq_u8_u64(halves)
}

/// The upper half of a block, and the lower half of the next.
#[inline]
#[target_feature(enable = "neon")]
pub fn inner_halves(low: Block, high: Block) -> Block {
    vextq_u8::<8>(low, high)
}

/// A block moved up by a word.
#[inline]
#[target_feature(enable = "neon")]
pub fn up_by_word(x: Block) -> Block {
    vextq_u8::<12>(zero128(), x)
}

/// A block moved up by a half.
#[inline]
#[target_feature(enable = "neon")]
pub fn up_by_half(x: Block) -> Block {
    vextq_u8::<8>(zero128(), x)
}

/// The upper half in the place of the lower.
#[inline]
#[target_feature(enable = "neon")]
pub fn down_by_half(x: Block) -> Block {
    vextq_u8::<8>(x, zero128())
}

/// The highest word in all four places.
#[inline]
#[target_feature(enable = "neon")]
pub fn highest_word(x: Block) -> Block {
    vreinterpretq_u8_u32(vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(x)))
}

/// The highest words of both halves, that of the upper one first, each twice.
#[inline]
#[target_feature(enable = "neon")]
pub fn top_words(x: Block) -> Block {
    let words = vreinterpretq_u32_u8(exchanged(x));
    vreinterpretq_u8_u32(vtrn2q_u32(words, words))
}

/// The sign of each word, in all its bits.
#[inline]
#[target_feature(enable = "neon")]
pub fn signs(x: Block) -> Block {
    vreinterpretq_u8_s32(vshrq_n_s32::<31>(vreinterpretq_s32_u8(x)))
}

/// The halves exchanged.
#[inline]
#[target_feature(enable = "neon")]
pub fn exchanged(x: Block) -> Block {
    vextq_u8::<8>(x, x)
}

/// The bytes with these numbers, each less than 16.
#[inline]
#[target_feature(enable = "neon")]
pub fn bytes_of(x: Block, numbers: Block) -> Block {
    vqtbl1q_u8(x, numbers)
}

/// All bytes in the other order.
#[inline]
#[target_feature(enable = "neon")]
pub fn reversed(x: Block) -> Block {
    exchanged(vrev64q_u8(x))
}

/// An integer in the form of [`turned`], here the upper half before the lower, each little-endian.
#[inline]
#[target_feature(enable = "neon")]
#[expect(clippy::cast_possible_truncation, reason = "a half is meant")]
pub fn of_number(number: u128) -> Block {
    of_halves([(number >> 64) as u64, number as u64])
}

/// A big-endian block as an integer, or the other way round.
#[inline]
#[target_feature(enable = "neon")]
pub fn turned(x: Block) -> Block {
    vrev64q_u8(x)
}

/// A block between two rounds, and the key of the round before, which the first instruction of the
/// next round adds.
#[derive(Clone, Copy, Debug)]
pub struct InRounds {
    block: Block,
    key: Block,
}

impl InRounds {
    #[inline]
    pub(crate) fn block_mut(&mut self) -> &mut Block {
        &mut self.block
    }
}

/// Adds the first round key. The register of the block is overwritten in the first round, that of
/// the key is not.
#[inline]
#[target_feature(enable = "neon")]
pub fn first_key(block: Block, key: Block) -> InRounds {
    InRounds { block, key }
}

/// A round with its key.
///
/// Assembly, because processors do both instructions at once if nothing is between them, and the
/// compiler now and then puts something there.
#[inline]
#[target_feature(enable = "aes")]
pub fn round(InRounds { mut block, key: before }: InRounds, key: Block) -> InRounds {
    // SAFETY: the instructions change only that register, and the feature is enabled.
    unsafe {
        asm!("aese {0:v}.16b, {1:v}.16b", "aesmc {0:v}.16b, {0:v}.16b",
            inout(vreg) block, in(vreg) before, options(pure, nomem, nostack, preserves_flags));
    }
    InRounds { block, key }
}

/// The last round with its key.
#[inline]
#[target_feature(enable = "aes")]
pub fn last_round(x: InRounds, key: Block) -> Block {
    veorq_u8(vaeseq_u8(x.block, x.key), key)
}

/// The last round, of which the result is at once the beginning of another block: `key` is the sum
/// of both keys and of what is added between.
#[inline]
#[target_feature(enable = "aes")]
pub fn last_and_first(x: InRounds, key: Block) -> InRounds {
    InRounds { block: vaeseq_u8(x.block, x.key), key }
}

/// The sum of a block that begins and of `add`.
#[inline]
#[target_feature(enable = "neon")]
pub fn begun_plus(x: InRounds, add: Block) -> Block {
    veorq_u8(x.block, veorq_u8(x.key, add))
}

/// A round of the equivalent inverse cipher with its key. As in [`round`], both instructions stay
/// together.
#[inline]
#[target_feature(enable = "aes")]
pub fn inverse_round(InRounds { mut block, key: before }: InRounds, key: Block) -> InRounds {
    // SAFETY: the instructions change only that register, and the feature is enabled.
    unsafe {
        asm!("aesd {0:v}.16b, {1:v}.16b", "aesimc {0:v}.16b, {0:v}.16b",
            inout(vreg) block, in(vreg) before, options(pure, nomem, nostack, preserves_flags));
    }
    InRounds { block, key }
}

/// The last round of the inverse cipher with its key.
#[inline]
#[target_feature(enable = "aes")]
pub fn last_inverse_round(x: InRounds, key: Block) -> Block {
    veorq_u8(vaesdq_u8(x.block, x.key), key)
}

/// A round key of the equivalent inverse cipher.
#[inline]
#[target_feature(enable = "aes")]
pub fn inverse_key(key: Block) -> Block {
    vaesimcq_u8(key)
}

/// Hides the origin of a value: the compiler takes it as it is, in a register.
#[inline]
#[target_feature(enable = "neon")]
pub fn opaque128(mut v: Block) -> Block {
    // SAFETY: the assembly is empty and leaves the register as it was.
    unsafe { asm!("/* {0:v} */", inout(vreg) v, options(pure, nomem, nostack, preserves_flags)) };
    v
}

/// Hides the place of a value, so that the compiler loads it alone and anew at each use.
#[inline]
pub fn opaque_place<T>(value: &T) -> &T {
    let mut place: *const T = value;
    // SAFETY: the assembly is empty and leaves the register as it was.
    unsafe { asm!("/* {0} */", inout(reg) place, options(readonly, nostack, preserves_flags)) };
    // SAFETY: it is the reference that came in.
    unsafe { &*place }
}
