//! Serpent in registers of 512 bits: two groups of 16 blocks, with ternary logic and rotations.
//! Constant time in key and data.

#[macro_use]
mod shallow;
mod chain;
mod lanes;
mod narrow;
mod sbox;

use core::arch::x86_64::*;

use inout::InOutBuf;
use lanecrypt_kernels::Level;
use lanecrypt_kernels::simd::{
    load512 as load, load512_part as load_part, store512 as store, store512_part as store_part,
};

use self::sbox::{i0, i1, i2, i3, i4, i5, i6, i7, s0, s1, s2, s3, s4, s5, s6, s7};
use crate::serpent::modes::Counter;

pub(crate) const NEEDS: Level = Level::Avx512;

encryption!(
    inline(never),
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m512i
);
decryption!(
    inline(never),
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m512i
);
modes!(__m512i, 4, narrow, 4, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);

pub(crate) use self::chain::cbc_encrypt;
pub(crate) use self::lanes::cbc_encrypt_lanes;

/// The last words of the counter blocks from `number` on, in the order that
/// [`across`] makes of blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn counters(number: u32) -> __m512i {
    let swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    let order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    _mm512_shuffle_epi8(_mm512_add_epi32(splat(number), order), _mm512_broadcast_i32x4(swap))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn linear([a, b, c, d]: [__m512i; 4], key: &[u32; 4]) -> [__m512i; 4] {
    let a = _mm512_rol_epi32::<13>(a);
    let c = _mm512_rol_epi32::<3>(c);
    let b = xor3(xor(b, splat(key[1])), c, a);
    let d = xor3(xor(d, splat(key[3])), c, _mm512_slli_epi32::<3>(a));
    let b = _mm512_rol_epi32::<1>(b);
    let d = _mm512_rol_epi32::<7>(d);
    let a = xor3(xor(a, splat(key[0])), b, d);
    let c = xor3(xor(c, splat(key[2])), d, _mm512_slli_epi32::<7>(b));
    [_mm512_rol_epi32::<5>(a), b, _mm512_rol_epi32::<22>(c), d]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn unlinear([a, b, c, d]: [__m512i; 4], key: &[u32; 4]) -> [__m512i; 4] {
    let c = _mm512_ror_epi32::<22>(c);
    let a = _mm512_ror_epi32::<5>(a);
    let c = xor(xor3(c, d, _mm512_slli_epi32::<7>(b)), splat(key[2]));
    let a = xor(xor3(a, b, d), splat(key[0]));
    let d = xor(_mm512_ror_epi32::<7>(d), splat(key[3]));
    let b = xor(_mm512_ror_epi32::<1>(b), splat(key[1]));
    let d = xor3(d, c, _mm512_slli_epi32::<3>(a));
    let b = xor3(b, a, c);
    let c = _mm512_ror_epi32::<3>(c);
    let a = _mm512_ror_epi32::<13>(a);
    [a, b, c, d]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<0x96>(a, b, c)
}

/// Transposes 4 x 4 words within each 128 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn across([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (low_ab, high_ab) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let (low_cd, high_cd) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(low_ab, low_cd),
        _mm512_unpackhi_epi64(low_ab, low_cd),
        _mm512_unpacklo_epi64(high_ab, high_cd),
        _mm512_unpackhi_epi64(high_ab, high_cd),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(word: u32) -> __m512i {
    _mm512_set1_epi32(word.cast_signed())
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor(a: __m512i, b: __m512i) -> __m512i {
    _mm512_xor_si512(a, b)
}
