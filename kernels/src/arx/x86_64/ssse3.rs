//! Blocks in registers of 128 bits: four blocks lane by lane, or one whose rows are registers.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::simd::{load128 as load, store128 as store};

pub use core::arch::x86_64::{
    _mm_add_epi32 as add32, _mm_add_epi64 as add64, _mm_set1_epi32 as set32,
    _mm_shuffle_epi32 as shuffle32, _mm_xor_si128 as xor32,
};
use core::arch::x86_64::{
    _mm_unpackhi_epi32 as high32, _mm_unpackhi_epi64 as high64, _mm_unpacklo_epi32 as low32,
    _mm_unpacklo_epi64 as low64,
};

sums!(__m128i, [__m128i; 4], 4, #[target_feature(enable = "ssse3")]);
across!(__m128i, #[target_feature(enable = "ssse3")]);
words!(__m128i, #[target_feature(enable = "ssse3")]);
put!(__m128i, 4, 4, #[target_feature(enable = "ssse3")]);

/// The block of these rows.
#[inline]
#[target_feature(enable = "ssse3")]
pub fn blocks(rows: [__m128i; 4]) -> [[__m128i; 4]; 1] {
    [rows]
}

#[inline]
#[target_feature(enable = "ssse3")]
fn in_order([[x0], [x1], [x2], [x3]]: [[[__m128i; 4]; 1]; 4]) -> [[__m128i; 4]; 4] {
    [x0, x1, x2, x3]
}

/// A row of words.
#[inline]
#[target_feature(enable = "ssse3")]
pub fn row(&[w0, w1, w2, w3]: &[u32; 4]) -> __m128i {
    _mm_setr_epi32(w0.cast_signed(), w1.cast_signed(), w2.cast_signed(), w3.cast_signed())
}
