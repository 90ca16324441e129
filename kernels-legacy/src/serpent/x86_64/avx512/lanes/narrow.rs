//! Two to eight messages, in registers of 256 bits with ternary logic. Constant time in keys and
//! data.
//!
//! A block takes as long as in registers of 128 bits.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use lanecrypt_kernels::simd::{
    load128, load256 as load, opaque_place, store128, store256 as store,
};

use crate::serpent::lanes::slots::Slots;

lanes!(__m256i, [0 1], 32, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
shallow_boxes!(__m256i, _mm256_ternarylogic_epi32);

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn linear_with([a, b, c, d]: [__m256i; 4], key: [__m256i; 4]) -> [__m256i; 4] {
    let a = _mm256_rol_epi32::<13>(a);
    let c = _mm256_rol_epi32::<3>(c);
    let b = xor3(xor(b, key[1]), c, a);
    let d = xor3(xor(d, key[3]), c, _mm256_slli_epi32::<3>(a));
    let b = _mm256_rol_epi32::<1>(b);
    let d = _mm256_rol_epi32::<7>(d);
    let a = xor3(xor(a, key[0]), b, d);
    let c = xor3(xor(c, key[2]), d, _mm256_slli_epi32::<7>(b));
    [_mm256_rol_epi32::<5>(a), b, _mm256_rol_epi32::<22>(c), d]
}

/// Transposes 4 x 4 words within each 128 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn across([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (low_ab, high_ab) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let (low_cd, high_cd) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(low_ab, low_cd),
        _mm256_unpackhi_epi64(low_ab, low_cd),
        _mm256_unpacklo_epi64(high_ab, high_cd),
        _mm256_unpackhi_epi64(high_ab, high_cd),
    ]
}

/// The register of two blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn join([a, b]: [__m128i; 2]) -> __m256i {
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b)
}

/// The two blocks of a register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn split(x: __m256i) -> [__m128i; 2] {
    [_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x)]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn xor3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    lut::<{ A ^ B ^ C }>(a, b, c)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn xor(a: __m256i, b: __m256i) -> __m256i {
    _mm256_xor_si256(a, b)
}
