//! Sixteen blocks in registers of 512 bits, or eight in registers of 256 bits. Only two words of
//! each are transposed.

use core::arch::x86_64::*;

use crate::arx::lanes::CHACHA;
use crate::arx::lanes::x86_64::avx512::{
    eight_words, sixteen_words, words_of_eight_rows, words_of_rows,
};
use crate::chacha::header_masks::{Block, Key};
use crate::chacha::x86_64::avx512::{double_round, x2};
use crate::simd::{load128, store256, store512};
use crate::{Isa, Level};

pub(crate) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn header_masks(
    _: Isa,
    blocks: &[Block<'_>; 16],
    count: usize,
    masks: &mut [[u8; 8]; 16],
) {
    if count <= 8 {
        eight(blocks, masks);
    } else {
        sixteen(blocks, masks);
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn sixteen(blocks: &[Block<'_>; 16], masks: &mut [[u8; 8]; 16]) {
    let keys: [&Key; 16] = core::array::from_fn(|at| blocks[at].0);
    let last = || words_of_rows(|at| load128(blocks[at].1));
    let ([x0, x1, ..], [s0, s1, ..]) = sixteen_words(CHACHA, 10, &keys, last, |x| double_round(x));
    let (x0, x1) = (_mm512_add_epi32(x0, s0), _mm512_add_epi32(x1, s1));
    // Each lane of 128 bits has two of four blocks in `low` and the other two in `high`.
    let (low, high) = (_mm512_unpacklo_epi32(x0, x1), _mm512_unpackhi_epi32(x0, x1));
    let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    if let [front, back] = masks.as_flattened_mut().as_chunks_mut().0 {
        store512(front, _mm512_permutex2var_epi64(low, first, high));
        store512(back, _mm512_permutex2var_epi64(low, second, high));
    }
}

/// The first eight.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn eight(blocks: &[Block<'_>; 16], masks: &mut [[u8; 8]; 16]) {
    let keys: [&Key; 8] = core::array::from_fn(|at| blocks[at].0);
    let last = || words_of_eight_rows(|at| load128(blocks[at].1));
    let ([x0, x1, ..], [s0, s1, ..]) =
        eight_words(CHACHA, 10, &keys, last, |x| x2::double_round(x));
    let (x0, x1) = (_mm256_add_epi32(x0, s0), _mm256_add_epi32(x1, s1));
    let (low, high) = (_mm256_unpacklo_epi32(x0, x1), _mm256_unpackhi_epi32(x0, x1));
    if let [front, back, ..] = masks.as_flattened_mut().as_chunks_mut().0 {
        store256(front, _mm256_permute2x128_si256::<0x20>(low, high));
        store256(back, _mm256_permute2x128_si256::<0x31>(low, high));
    }
}
