//! Two blocks, side by side in registers of 256 bits: a program that requests no more does not
//! power up the wider units.

use core::arch::x86_64::{
    __m256i, _mm256_add_epi32 as add32, _mm256_add_epi64 as add64, _mm256_broadcastsi128_si256,
    _mm256_rol_epi32, _mm256_setr_epi64x, _mm256_shuffle_epi32 as shuffle32,
    _mm256_xor_si256 as xor32,
};

use super::start;
use crate::simd::opaque_count;

rows!(__m256i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
lanes!(__m256i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
double_round!(__m256i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);

/// The words of `x` and `y` XORed, then rotated left by `LEFT` bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(x: __m256i, y: __m256i) -> __m256i {
    _mm256_rol_epi32::<LEFT>(xor32(x, y))
}

/// The rows of two blocks, side by side.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn rows_of_two(
    key: &[u32; 12],
    counter: u64,
    nonce: u64,
    wide: bool,
    double_rounds: usize,
) -> [__m256i; 4] {
    let [a, b, c, d] = start(key, counter, nonce);
    let (a, b) = (_mm256_broadcastsi128_si256(a), _mm256_broadcastsi128_si256(b));
    let (c, d) = (_mm256_broadcastsi128_si256(c), _mm256_broadcastsi128_si256(d));
    let start = Rows { a, b, c, d: count(d, _mm256_setr_epi64x(0, 0, 1, 0), wide) };
    let mut x = start;
    for _ in 0..opaque_count(double_rounds) {
        x = x.double_round();
    }
    x.sum(start)
}
