//! CBC encryption of many messages, in registers of 512 bits: one or two groups of 16 lanes; a few
//! in registers of 256 bits. Constant time in keys and data.

mod narrow;

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use inout::InOutBuf;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::simd::{
    load128, load512 as load, opaque_place, store128, store512 as store,
};

use super::sbox::{s0, s1, s2, s3, s4, s5, s6, s7};
use super::{across, chain, xor, xor3};
use crate::serpent::Serpent;
use crate::serpent::lanes::drive;
use crate::serpent::lanes::slots::Slots;

lanes!(__m512i, [0 1 2 3], 32, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);

/// The fewest blocks of each of two messages for which transposing their keys pays.
const WORTH_TWO: usize = 2;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn cbc_encrypt_lanes(lanes: &mut [Lane<'_, Serpent, 16>]) {
    let alone = |keys: &_, vector: &mut _, blocks: InOutBuf<'_, '_, _>| {
        chain::cbc_encrypt(keys, vector, blocks);
    };
    drive(lanes, WORTH_TWO, alone, |slots, count| match count {
        2..=8 => narrow::encrypt_lanes::<1>(slots, 1),
        9..=16 => encrypt_lanes::<1>(slots, 8),
        _ => encrypt_lanes::<2>(slots, 16),
    });
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn linear_with([a, b, c, d]: [__m512i; 4], key: [__m512i; 4]) -> [__m512i; 4] {
    let a = _mm512_rol_epi32::<13>(a);
    let c = _mm512_rol_epi32::<3>(c);
    let b = xor3(xor(b, key[1]), c, a);
    let d = xor3(xor(d, key[3]), c, _mm512_slli_epi32::<3>(a));
    let b = _mm512_rol_epi32::<1>(b);
    let d = _mm512_rol_epi32::<7>(d);
    let a = xor3(xor(a, key[0]), b, d);
    let c = xor3(xor(c, key[2]), d, _mm512_slli_epi32::<7>(b));
    [_mm512_rol_epi32::<5>(a), b, _mm512_rol_epi32::<22>(c), d]
}

/// The register of four blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn join([a, b, c, d]: [__m128i; 4]) -> __m512i {
    let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
    let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// The four blocks of a register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn split(x: __m512i) -> [__m128i; 4] {
    [
        _mm512_castsi512_si128(x),
        _mm512_extracti32x4_epi32::<1>(x),
        _mm512_extracti32x4_epi32::<2>(x),
        _mm512_extracti32x4_epi32::<3>(x),
    ]
}
