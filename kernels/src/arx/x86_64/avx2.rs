//! Blocks in registers of 256 bits: eight blocks lane by lane, or two whose rows lie side by side.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::simd::{load256 as load, store256 as store};

pub use core::arch::x86_64::{
    _mm256_add_epi32 as add32, _mm256_add_epi64 as add64, _mm256_set1_epi32 as set32,
    _mm256_shuffle_epi32 as shuffle32, _mm256_xor_si256 as xor32,
};
use core::arch::x86_64::{
    _mm256_unpackhi_epi32 as high32, _mm256_unpackhi_epi64 as high64,
    _mm256_unpacklo_epi32 as low32, _mm256_unpacklo_epi64 as low64,
};

sums!(__m256i, [__m256i; 2], 8, #[target_feature(enable = "avx2")]);
across!(__m256i, #[target_feature(enable = "avx2")]);
words!(__m256i, #[target_feature(enable = "avx2")]);
put!(__m256i, 8, 2, #[target_feature(enable = "avx2")]);

/// Two blocks from their rows: block `i` is in the `i`-th lane of 128 bits of each row.
#[inline]
#[target_feature(enable = "avx2")]
pub fn blocks([a, b, c, d]: [__m256i; 4]) -> [[__m256i; 2]; 2] {
    [
        [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x20>(c, d)],
        [_mm256_permute2x128_si256::<0x31>(a, b), _mm256_permute2x128_si256::<0x31>(c, d)],
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn in_order([[x0, x4], [x1, x5], [x2, x6], [x3, x7]]: [[[__m256i; 2]; 2]; 4]) -> [[__m256i; 2]; 8] {
    [x0, x1, x2, x3, x4, x5, x6, x7]
}

/// The same row in both lanes of 128 bits.
#[inline]
#[target_feature(enable = "avx2")]
pub fn row(&[w0, w1, w2, w3]: &[u32; 4]) -> __m256i {
    let row =
        _mm_setr_epi32(w0.cast_signed(), w1.cast_signed(), w2.cast_signed(), w3.cast_signed());
    _mm256_broadcastsi128_si256(row)
}
