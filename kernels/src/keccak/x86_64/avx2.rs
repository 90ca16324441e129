//! Four columns in registers of 256 bits.

use core::arch::x86_64::*;

use crate::keccak::{Block, State, permute};
use crate::simd::{load256, load256_words, store256, store256_words};
use crate::words::x86_64::Four;

#[target_feature(enable = "avx2,bmi2")]
#[inline(never)]
pub(crate) fn permute_four(state: &mut State) {
    permute::<Four>(state);
}

#[target_feature(enable = "avx2")]
pub(crate) fn absorb_four(state: &mut State, blocks: &[Block; 8], kept: &[u64; 8]) {
    let kept = load_four(kept);
    let (rows, last) = state.0.as_chunks_mut::<4>();
    for (group, rows) in rows.iter_mut().enumerate() {
        let mut words = [_mm256_setzero_si256(); 4];
        for (words, Block(bytes)) in words.iter_mut().zip(blocks) {
            *words = load256(&bytes.as_chunks().0[group]);
        }
        for (row, words) in rows.iter_mut().zip(transpose(words)) {
            store_four(row, _mm256_xor_si256(_mm256_and_si256(load_four(row), kept), words));
        }
    }
    for row in last {
        store_four(row, _mm256_and_si256(load_four(row), kept));
    }
}

#[target_feature(enable = "avx2")]
pub(crate) fn squeeze_four(state: &State, blocks: &mut [Block; 8]) {
    for (group, rows) in state.0.as_chunks::<4>().0.iter().enumerate() {
        let mut words = [_mm256_setzero_si256(); 4];
        for (words, row) in words.iter_mut().zip(rows) {
            *words = load_four(row);
        }
        for (Block(bytes), words) in blocks.iter_mut().zip(transpose(words)) {
            store256(&mut bytes.as_chunks_mut().0[group], words);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_four(row: &[u64; 8]) -> __m256i {
    load256_words(row.first_chunk().expect("four of eight"))
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_four(row: &mut [u64; 8], v: __m256i) {
    store256_words(row.first_chunk_mut().expect("four of eight"), v);
}

#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab, cd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d));
    let (ab_odd, cd_odd) = (_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d));
    [
        _mm256_permute2x128_si256::<0x20>(ab, cd),
        _mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd),
        _mm256_permute2x128_si256::<0x31>(ab, cd),
        _mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd),
    ]
}
