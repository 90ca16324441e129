//! Eight blocks of different keys, one in each lane of 32 bits of registers of 256 bits.

use core::arch::x86_64::*;

use super::{CHACHA, Key, Starts, in_order, last_row, row_of};
use crate::arx::avx512::row;
use crate::arx::halves;
use crate::simd::opaque_count;
use crate::{chacha, salsa};

/// The first eight blocks of keystream, in halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn eight_blocks<S: Starts<16>>(double_rounds: usize, starts: &S) -> [[__m256i; 2]; 8] {
    let keys = core::array::from_fn(|at| starts.key(at));
    let x = eight_words(S::CIPHER, double_rounds, &keys, || last_of_eight(starts));
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [a0, a1, a2, a3] = across([x0, x1, x2, x3]);
    let [b0, b1, b2, b3] = across([x4, x5, x6, x7]);
    let [c0, c1, c2, c3] = across([x8, x9, x10, x11]);
    let [d0, d1, d2, d3] = across([x12, x13, x14, x15]);
    let [x0, x4] = blocks([a0, b0, c0, d0]);
    let [x1, x5] = blocks([a1, b1, c1, d1]);
    let [x2, x6] = blocks([a2, b2, c2, d2]);
    let [x3, x7] = blocks([a3, b3, c3, d3]);
    [x0, x1, x2, x3, x4, x5, x6, x7]
}

/// The words of eight blocks of keystream, each of all blocks: of their keys and their last four
/// words, which a closure gives: so each caller has an instance of its own, compiled into its place.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn eight_words(
    cipher: bool,
    double_rounds: usize,
    keys: &[&Key; 8],
    last: impl FnOnce() -> [__m256i; 4],
) -> [__m256i; 16] {
    let [s0, s1, s2, s3] = words_of_eight(keys, 0);
    let [s4, s5, s6, s7] = words_of_eight(keys, 1);
    let [s8, s9, s10, s11] = words_of_eight(keys, 2);
    let [s12, s13, s14, s15] = last();
    let start = [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15];
    let start = in_order(cipher, start);
    let mut x = start;
    for _ in 0..opaque_count(double_rounds) {
        x = if cipher == CHACHA {
            chacha::avx512::two::diagonals(chacha::avx512::two::columns(x))
        } else {
            salsa::avx512::two::rows(salsa::avx512::two::columns(x))
        };
    }
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15] = start;
    let [x0, x1, x2, x3] = plus([x0, x1, x2, x3], [s0, s1, s2, s3]);
    let [x4, x5, x6, x7] = plus([x4, x5, x6, x7], [s4, s5, s6, s7]);
    let [x8, x9, x10, x11] = plus([x8, x9, x10, x11], [s8, s9, s10, s11]);
    let [x12, x13, x14, x15] = plus([x12, x13, x14, x15], [s12, s13, s14, s15]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn words_of_eight(keys: &[&Key; 8], at: usize) -> [__m256i; 4] {
    words_of_eight_rows(|block| row(row_of(keys[block], at)))
}

/// The words of the rows of all blocks, each of all blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn words_of_eight_rows(row: impl Fn(usize) -> __m128i) -> [__m256i; 4] {
    let two = |first: usize| {
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(row(first)), row(4 + first))
    };
    across([two(0), two(1), two(2), two(3)])
}

/// [`last`] of the first eight blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn last_of_eight(starts: &impl Starts<16>) -> [__m256i; 4] {
    let [c0, c1, n0, n1] = words_of_eight_rows(|at| last_row(starts.last(at)));
    let shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    let [bits, _] = halves(starts.ahead());
    let ahead = _mm256_srlv_epi32(splat(bits), shifts);
    let ahead = _mm256_and_si256(ahead, splat(15));
    let ahead = _mm256_add_epi32(ahead, splat(starts.all_ahead()));
    let [far, _] = starts.far_ahead().map(u64::cast_signed);
    let ahead = _mm256_add_epi32(ahead, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(far)));
    [_mm256_add_epi32(c0, ahead), c1, n0, n1]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn splat(word: u32) -> __m256i {
    _mm256_set1_epi32(word.cast_signed())
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn plus([x0, x1, x2, x3]: [__m256i; 4], [y0, y1, y2, y3]: [__m256i; 4]) -> [__m256i; 4] {
    [
        _mm256_add_epi32(x0, y0),
        _mm256_add_epi32(x1, y1),
        _mm256_add_epi32(x2, y2),
        _mm256_add_epi32(x3, y3),
    ]
}

/// Puts words across within lanes of 128 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn across([x0, x1, x2, x3]: [__m256i; 4]) -> [__m256i; 4] {
    let (low01, high01) = (_mm256_unpacklo_epi32(x0, x1), _mm256_unpackhi_epi32(x0, x1));
    let (low23, high23) = (_mm256_unpacklo_epi32(x2, x3), _mm256_unpackhi_epi32(x2, x3));
    [
        _mm256_unpacklo_epi64(low01, low23),
        _mm256_unpackhi_epi64(low01, low23),
        _mm256_unpacklo_epi64(high01, high23),
        _mm256_unpackhi_epi64(high01, high23),
    ]
}

/// Two blocks from their rows: block `i` is in the `i`-th lane of 128 bits of each row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn blocks([a, b, c, d]: [__m256i; 4]) -> [[__m256i; 2]; 2] {
    [
        [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x20>(c, d)],
        [_mm256_permute2x128_si256::<0x31>(a, b), _mm256_permute2x128_si256::<0x31>(c, d)],
    ]
}
