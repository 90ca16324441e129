//! Eight blocks of different keys, one in each lane of 32 bits of registers of 256 bits.

use core::arch::x86_64::{
    _mm256_add_epi32 as add32, _mm256_set1_epi32 as set32, _mm256_unpackhi_epi32 as high32,
    _mm256_unpackhi_epi64 as high64, _mm256_unpacklo_epi32 as low32,
    _mm256_unpacklo_epi64 as low64, *,
};

use super::{Key, Starts, last_row, row_of, state};
use crate::arx::halves;
use crate::arx::x86_64::avx512::{row, two_blocks as blocks};
use crate::simd::opaque_count;

across!(__m256i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
sums!(__m256i, [__m256i; 2], 8, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);

/// The first eight blocks of keystream, in halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn eight_blocks<S: Starts<16>>(
    double_rounds: usize,
    starts: &S,
    double_round: impl Fn([__m256i; 16]) -> [__m256i; 16],
) -> [[__m256i; 2]; 8] {
    let keys = core::array::from_fn(|at| starts.key(at));
    let last = || last_of_eight(starts);
    let (x, start) = eight_words(S::CIPHER, double_rounds, &keys, last, double_round);
    sums(x, start)
}

/// As [`sixteen_words`](super::sixteen_words), for eight blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn eight_words(
    cipher: bool,
    double_rounds: usize,
    keys: &[&Key; 8],
    last: impl FnOnce() -> [__m256i; 4],
    double_round: impl Fn([__m256i; 16]) -> [__m256i; 16],
) -> ([__m256i; 16], [__m256i; 16]) {
    let words = |at| words_of_eight(keys, at);
    let start = state(cipher, [words(0), words(1), words(2), last()]);
    let mut x = start;
    for _ in 0..opaque_count(double_rounds) {
        x = double_round(x);
    }
    (x, start)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn words_of_eight(keys: &[&Key; 8], at: usize) -> [__m256i; 4] {
    words_of_eight_rows(|block| row(row_of(keys[block], at)))
}

/// The words of the rows of all blocks, each of all blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn words_of_eight_rows(row: impl Fn(usize) -> __m128i) -> [__m256i; 4] {
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
fn in_order([[x0, x4], [x1, x5], [x2, x6], [x3, x7]]: [[[__m256i; 2]; 2]; 4]) -> [[__m256i; 2]; 8] {
    [x0, x1, x2, x3, x4, x5, x6, x7]
}
