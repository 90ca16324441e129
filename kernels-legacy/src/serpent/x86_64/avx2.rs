//! Serpent in registers of 256 bits: two groups of eight blocks. Constant time in key and data.
//!
//! Single blocks are faster in ordinary registers, see [`portable`].

mod lanes;

use core::arch::x86_64::*;

use inout::InOutBuf;
use lanecrypt_kernels::Level;
use lanecrypt_kernels::simd::{load256 as load, store256 as store};

use crate::serpent::modes::Counter;
use crate::serpent::portable;

pub(crate) use self::lanes::cbc_encrypt_lanes;

pub(crate) const NEEDS: Level = Level::Avx2;

boxes!(
    #[target_feature(enable = "avx2")]
    __m256i
);
gates!(
    #[target_feature(enable = "avx2")]
    __m256i
);
encryption!(
    inline(never),
    #[target_feature(enable = "avx2")]
    __m256i
);
decryption!(
    inline(never),
    #[target_feature(enable = "avx2")]
    __m256i
);
modes!(__m256i, 2, portable, 1, #[target_feature(enable = "avx2")]);

/// The last words of the counter blocks from `number` on, in the order that
/// [`across`] makes of blocks.
#[inline]
#[target_feature(enable = "avx2")]
fn counters(number: u32) -> __m256i {
    let swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    let numbers = _mm256_add_epi32(splat(number), _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0));
    _mm256_shuffle_epi8(numbers, _mm256_broadcastsi128_si256(swap))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_part(bytes: &[u8]) -> __m256i {
    let mut register = [0; WIDTH];
    register[..bytes.len()].copy_from_slice(bytes);
    load(&register)
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_part(out: &mut [u8], x: __m256i) {
    let mut register = [0; WIDTH];
    store(&mut register, x);
    out.copy_from_slice(&register[..out.len()]);
}

/// Transposes 4 x 4 words within each 128 bits.
#[inline]
#[target_feature(enable = "avx2")]
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

#[inline]
#[target_feature(enable = "avx2")]
fn splat(word: u32) -> __m256i {
    _mm256_set1_epi32(word.cast_signed())
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor(a: __m256i, b: __m256i) -> __m256i {
    _mm256_xor_si256(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn and(a: __m256i, b: __m256i) -> __m256i {
    _mm256_and_si256(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn and_not(a: __m256i, b: __m256i) -> __m256i {
    _mm256_andnot_si256(b, a)
}

#[inline]
#[target_feature(enable = "avx2")]
fn or(a: __m256i, b: __m256i) -> __m256i {
    _mm256_or_si256(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn not(a: __m256i) -> __m256i {
    xor(a, splat(u32::MAX))
}

#[inline]
#[target_feature(enable = "avx2")]
fn shift_left<const N: i32>(a: __m256i) -> __m256i {
    _mm256_slli_epi32::<N>(a)
}

/// `BACK` is how far the same rotation goes to the right.
#[inline]
#[target_feature(enable = "avx2")]
fn rotate_left<const N: i32, const BACK: i32>(a: __m256i) -> __m256i {
    const { assert!(N + BACK == 32) };
    or(_mm256_slli_epi32::<N>(a), _mm256_srli_epi32::<BACK>(a))
}

tables!(
    #[target_feature(enable = "avx2")]
    Avx2,
    _mm256_set1_epi32,
    _mm256_cvtsi256_si32
);
