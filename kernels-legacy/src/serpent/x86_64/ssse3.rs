//! Serpent in registers of 128 bits: two groups of four blocks. Constant time in key and data.
//!
//! Single blocks are faster in ordinary registers, see [`portable`].

mod lanes;

use core::arch::x86_64::*;

use inout::InOutBuf;
use lanecrypt_kernels::Level;
use lanecrypt_kernels::simd::{load128 as load, store128 as store};

use crate::serpent::modes::Counter;
use crate::serpent::portable;

pub(crate) use self::lanes::cbc_encrypt_lanes;

pub(crate) const NEEDS: Level = Level::Ssse3;

boxes!(
    #[target_feature(enable = "ssse3")]
    __m128i
);
gates!(
    #[target_feature(enable = "ssse3")]
    __m128i
);
encryption!(
    inline(never),
    #[target_feature(enable = "ssse3")]
    __m128i
);
decryption!(
    inline(never),
    #[target_feature(enable = "ssse3")]
    __m128i
);
modes!(__m128i, 1, portable, 1, #[target_feature(enable = "ssse3")]);

/// The last words of the counter blocks from `number` on.
#[inline]
#[target_feature(enable = "ssse3")]
fn counters(number: u32) -> __m128i {
    let swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    _mm_shuffle_epi8(_mm_add_epi32(splat(number), _mm_set_epi32(3, 2, 1, 0)), swap)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn load_part(bytes: &[u8]) -> __m128i {
    let mut register = [0; WIDTH];
    register[..bytes.len()].copy_from_slice(bytes);
    load(&register)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn store_part(out: &mut [u8], x: __m128i) {
    let mut register = [0; WIDTH];
    store(&mut register, x);
    out.copy_from_slice(&register[..out.len()]);
}

/// Transposes 4 x 4 words within each 128 bits.
#[inline]
#[target_feature(enable = "ssse3")]
fn across([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let (low_ab, high_ab) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    let (low_cd, high_cd) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
    [
        _mm_unpacklo_epi64(low_ab, low_cd),
        _mm_unpackhi_epi64(low_ab, low_cd),
        _mm_unpacklo_epi64(high_ab, high_cd),
        _mm_unpackhi_epi64(high_ab, high_cd),
    ]
}

#[inline]
#[target_feature(enable = "ssse3")]
fn splat(word: u32) -> __m128i {
    _mm_set1_epi32(word.cast_signed())
}

#[inline]
#[target_feature(enable = "ssse3")]
fn xor(a: __m128i, b: __m128i) -> __m128i {
    _mm_xor_si128(a, b)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn and(a: __m128i, b: __m128i) -> __m128i {
    _mm_and_si128(a, b)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn and_not(a: __m128i, b: __m128i) -> __m128i {
    _mm_andnot_si128(b, a)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn or(a: __m128i, b: __m128i) -> __m128i {
    _mm_or_si128(a, b)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn not(a: __m128i) -> __m128i {
    xor(a, splat(u32::MAX))
}

#[inline]
#[target_feature(enable = "ssse3")]
fn shift_left<const N: i32>(a: __m128i) -> __m128i {
    _mm_slli_epi32::<N>(a)
}

/// `BACK` is how far the same rotation goes to the right.
#[inline]
#[target_feature(enable = "ssse3")]
fn rotate_left<const N: i32, const BACK: i32>(a: __m128i) -> __m128i {
    const { assert!(N + BACK == 32) };
    or(_mm_slli_epi32::<N>(a), _mm_srli_epi32::<BACK>(a))
}

tables!(
    #[target_feature(enable = "ssse3")]
    Ssse3,
    _mm_set1_epi32,
    _mm_cvtsi128_si32
);
