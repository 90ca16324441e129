//! One block, with a row in each register of 128 bits. Its time is that of a chain of dependent
//! operations.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32 as add32, _mm_rol_epi32, _mm_shuffle_epi32 as shuffle32, _mm_slli_epi32,
    _mm_srli_epi32, _mm_ternarylogic_epi32,
};

use crate::arx::Key;
use crate::arx::x86_64::avx512::row;
use crate::simd::{load128, low_number, opaque_count, opaque128, store128};

rows!(__m128i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
one_block!(__m128i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);

/// The words of `early` and of `late` XORed, then rotated left by `LEFT` bits; `RIGHT` is 32 less
/// `LEFT`.
///
/// A rotation takes two cycles on Zen 4; a shift and an XOR of three take one each. `early` is
/// rotated before `late` is ready, which makes the chain a quarter shorter.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(early: __m128i, late: __m128i) -> __m128i {
    const { assert!(LEFT + RIGHT == 32) };
    // Opaque, because the compiler would make a rotation of both shifts.
    let left = opaque128(_mm_slli_epi32::<LEFT>(late));
    let right = _mm_srli_epi32::<RIGHT>(late);
    _mm_ternarylogic_epi32::<0x96>(_mm_rol_epi32::<LEFT>(early), left, right)
}
