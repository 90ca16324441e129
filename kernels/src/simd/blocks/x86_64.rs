//! Blocks in registers of x86-64.
#![cfg(target_arch = "x86_64")]

use core::arch::x86_64::*;

use crate::simd::{load128, opaque128};

/// A block.
pub type Block = __m128i;

#[inline]
#[target_feature(enable = "sse2")]
pub fn zero128() -> Block {
    _mm_setzero_si128()
}

#[inline]
#[target_feature(enable = "sse2")]
pub fn xor128(a: Block, b: Block) -> Block {
    _mm_xor_si128(a, b)
}

#[inline]
#[target_feature(enable = "sse2")]
pub fn and128(a: Block, b: Block) -> Block {
    _mm_and_si128(a, b)
}

#[inline]
#[target_feature(enable = "sse2")]
pub fn or128(a: Block, b: Block) -> Block {
    _mm_or_si128(a, b)
}

/// Sums of words.
#[inline]
#[target_feature(enable = "sse2")]
pub fn add_words(a: Block, b: Block) -> Block {
    _mm_add_epi32(a, b)
}

/// Sums of halves.
#[inline]
#[target_feature(enable = "sse2")]
pub fn add_halves(a: Block, b: Block) -> Block {
    _mm_add_epi64(a, b)
}

/// A block of two halves, the lower one first.
#[inline]
#[target_feature(enable = "sse2")]
pub fn of_halves([low, high]: [u64; 2]) -> Block {
    _mm_set_epi64x(high.cast_signed(), low.cast_signed())
}

/// Loads both halves separately.
#[inline]
#[target_feature(enable = "sse4.1")]
pub fn load_halves(bytes: &[u8; 16]) -> Block {
    let (halves, _) = bytes.as_chunks();
    let low = opaque128(_mm_cvtsi64_si128(i64::from_le_bytes(halves[0])));
    _mm_insert_epi64::<1>(low, i64::from_le_bytes(halves[1]))
}

/// A block of words, the lowest first.
#[inline]
#[target_feature(enable = "sse2")]
pub fn of_words([a, b, c, d]: [i32; 4]) -> Block {
    _mm_set_epi32(d, c, b, a)
}

/// A block of four times the same word.
#[inline]
#[target_feature(enable = "sse2")]
pub fn of_word(word: i32) -> Block {
    _mm_set1_epi32(word)
}

#[inline]
#[target_feature(enable = "sse2")]
pub fn low_half(x: Block) -> u64 {
    _mm_cvtsi128_si64(x).cast_unsigned()
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub fn high_half(x: Block) -> u64 {
    _mm_extract_epi64::<1>(x).cast_unsigned()
}

/// The lower halves of two blocks.
#[inline]
#[target_feature(enable = "sse2")]
pub fn low_halves(low: Block, high: Block) -> Block {
    _mm_unpacklo_epi64(low, high)
}

/// The upper half of a block, and the lower half of the next.
#[inline]
#[target_feature(enable = "ssse3")]
pub fn inner_halves(low: Block, high: Block) -> Block {
    _mm_alignr_epi8::<8>(high, low)
}

/// A block moved up by a word.
#[inline]
#[target_feature(enable = "sse2")]
pub fn up_by_word(x: Block) -> Block {
    _mm_slli_si128::<4>(x)
}

/// A block moved up by a half.
#[inline]
#[target_feature(enable = "sse2")]
pub fn up_by_half(x: Block) -> Block {
    _mm_slli_si128::<8>(x)
}

/// The upper half in the place of the lower.
#[inline]
#[target_feature(enable = "sse2")]
pub fn down_by_half(x: Block) -> Block {
    _mm_srli_si128::<8>(x)
}

/// The highest word in all four places.
#[inline]
#[target_feature(enable = "sse2")]
pub fn highest_word(x: Block) -> Block {
    _mm_shuffle_epi32::<0xff>(x)
}

/// The highest words of both halves, that of the upper one first, each twice.
#[inline]
#[target_feature(enable = "sse2")]
pub fn top_words(x: Block) -> Block {
    _mm_shuffle_epi32::<0b01_01_11_11>(x)
}

/// The sign of each word, in all its bits.
#[inline]
#[target_feature(enable = "sse2")]
pub fn signs(x: Block) -> Block {
    _mm_srai_epi32::<31>(x)
}

/// The halves exchanged.
#[inline]
#[target_feature(enable = "sse2")]
pub fn exchanged(x: Block) -> Block {
    _mm_shuffle_epi32::<0b01_00_11_10>(x)
}

/// The bytes with these numbers, each less than 16.
#[inline]
#[target_feature(enable = "ssse3")]
pub fn bytes_of(x: Block, numbers: Block) -> Block {
    _mm_shuffle_epi8(x, numbers)
}

/// All bytes in the other order.
#[inline]
#[target_feature(enable = "ssse3")]
pub fn reversed(x: Block) -> Block {
    _mm_shuffle_epi8(x, _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f))
}

/// An integer in the form of [`turned`], here little-endian.
#[inline]
#[target_feature(enable = "sse2")]
pub fn of_number(number: u128) -> Block {
    load128(&number.to_le_bytes())
}

/// A big-endian block as an integer, or the other way round.
#[inline]
#[target_feature(enable = "ssse3")]
pub fn turned(x: Block) -> Block {
    reversed(x)
}

/// A block between two rounds.
pub type InRounds = Block;

/// Adds the first round key.
#[inline]
#[target_feature(enable = "sse2")]
pub fn first_key(x: Block, key: Block) -> InRounds {
    _mm_xor_si128(x, key)
}

/// A round with its key.
#[inline]
#[target_feature(enable = "aes")]
pub fn round(x: InRounds, key: Block) -> InRounds {
    _mm_aesenc_si128(x, key)
}

/// The last round with its key.
#[inline]
#[target_feature(enable = "aes")]
pub fn last_round(x: InRounds, key: Block) -> Block {
    _mm_aesenclast_si128(x, key)
}

/// The last round, of which the result is at once the beginning of another block: `key` is the sum
/// of both keys and of what is added between.
#[inline]
#[target_feature(enable = "aes")]
pub fn last_and_first(x: InRounds, key: Block) -> InRounds {
    _mm_aesenclast_si128(x, key)
}

/// The sum of a block that begins and of `add`.
#[inline]
#[target_feature(enable = "sse2")]
pub fn begun_plus(x: InRounds, add: Block) -> Block {
    _mm_xor_si128(x, add)
}

/// A round of the equivalent inverse cipher with its key.
#[inline]
#[target_feature(enable = "aes")]
pub fn inverse_round(x: InRounds, key: Block) -> InRounds {
    _mm_aesdec_si128(x, key)
}

/// The last round of the inverse cipher with its key.
#[inline]
#[target_feature(enable = "aes")]
pub fn last_inverse_round(x: InRounds, key: Block) -> Block {
    _mm_aesdeclast_si128(x, key)
}

/// A round key of the equivalent inverse cipher.
#[inline]
#[target_feature(enable = "aes")]
pub fn inverse_key(key: Block) -> Block {
    _mm_aesimc_si128(key)
}
