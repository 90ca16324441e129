//! Registers of eight words of 32 bits.

use core::arch::x86_64::*;

use crate::sha2::rounds256::Word;
use crate::simd::{load_words, store_words};

/// A word of each of eight messages. Only functions with AVX2 name it.
#[derive(Clone, Copy)]
pub(super) struct Eight(__m256i);

/// A call of one function that needs AVX2.
macro_rules! call {
    ($function:ident($($arg:expr),*)) => {{
        let result = {
            // SAFETY: only functions with AVX2 use the type whose method calls this.
            #[allow(clippy::macro_metavars_in_unsafe)]
            unsafe { $function($($arg),*) }
        };
        result
    }};
}

impl Eight {
    #[inline(always)]
    pub(super) fn load(words: &[u32; 8]) -> Self {
        Self(call!(load(words)))
    }

    #[inline(always)]
    pub(super) fn store(self, words: &mut [u32; 8]) {
        call!(store(words, self.0));
    }
}

impl Word for Eight {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        Self(call!(_mm256_set1_epi32(word.cast_signed())))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(call!(_mm256_add_epi32(self.0, other.0)))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(call!(_mm256_and_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(call!(_mm256_xor_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn shr<const BITS: u32>(self) -> Self {
        Self(call!(down(self.0, BITS)))
    }
    #[inline(always)]
    fn rotate_right<const BITS: u32>(self) -> Self {
        Self(call!(right(self.0, BITS)))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u32; 8]) -> __m256i {
    let (halves, _) = words.as_chunks();
    _mm256_set_m128i(load_words(&halves[1]), load_words(&halves[0]))
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(words: &mut [u32; 8], v: __m256i) {
    let (halves, _) = words.as_chunks_mut();
    store_words(&mut halves[0], _mm256_castsi256_si128(v));
    store_words(&mut halves[1], _mm256_extracti128_si256::<1>(v));
}

/// The compiler makes the immediate form of constant numbers of bits.
#[inline]
#[target_feature(enable = "avx2")]
fn down(v: __m256i, bits: u32) -> __m256i {
    _mm256_srl_epi32(v, _mm_cvtsi32_si128(bits.cast_signed()))
}

#[inline]
#[target_feature(enable = "avx2")]
fn right(v: __m256i, bits: u32) -> __m256i {
    let up = _mm256_sll_epi32(v, _mm_cvtsi32_si128(32 - bits.cast_signed()));
    _mm256_or_si256(down(v, bits), up)
}
