//! Eight columns in registers of 512 bits, or four in registers of 256 bits.

use core::arch::x86_64::*;

use crate::keccak::{Block, State, permute};
use crate::simd::{load512, load512_words, store512, store512_words};
use crate::words::x86_64::Eight;
#[cfg(feature = "isa-avx2")]
use crate::words::x86_64::Four;

#[target_feature(enable = "avx512f")]
#[inline(never)]
pub(crate) fn permute_eight(state: &mut State) {
    permute::<Eight>(state);
}

/// The compiler makes rotations and three-way functions of what AVX2 has not.
#[cfg(feature = "isa-avx2")]
#[target_feature(enable = "avx512f,avx512vl")]
#[inline(never)]
pub(crate) fn permute_four(state: &mut State) {
    permute::<Four>(state);
}

#[target_feature(enable = "avx512f")]
pub(crate) fn absorb_eight(state: &mut State, blocks: &[Block; 8], kept: &[u64; 8]) {
    let kept = load512_words(kept);
    let (rows, last) = state.0.as_chunks_mut::<8>();
    for (group, rows) in rows.iter_mut().enumerate() {
        let mut words = [_mm512_setzero_si512(); 8];
        for (words, Block(bytes)) in words.iter_mut().zip(blocks) {
            *words = load512(&bytes.as_chunks().0[group]);
        }
        for (row, words) in rows.iter_mut().zip(transpose(words)) {
            let before = _mm512_and_si512(load512_words(row), kept);
            store512_words(row, _mm512_xor_si512(before, words));
        }
    }
    for row in last {
        store512_words(row, _mm512_and_si512(load512_words(row), kept));
    }
}

#[target_feature(enable = "avx512f")]
pub(crate) fn squeeze_eight(state: &State, blocks: &mut [Block; 8]) {
    for (group, rows) in state.0.as_chunks::<8>().0.iter().enumerate() {
        let mut words = [_mm512_setzero_si512(); 8];
        for (words, row) in words.iter_mut().zip(rows) {
            *words = load512_words(row);
        }
        for (Block(bytes), words) in blocks.iter_mut().zip(transpose(words)) {
            store512(&mut bytes.as_chunks_mut().0[group], words);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(mut rows: [__m512i; 8]) -> [__m512i; 8] {
    let even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    for (a, b) in [(0, 4), (1, 5), (2, 6), (3, 7)] {
        (rows[a], rows[b]) = (
            _mm512_shuffle_i64x2::<0x44>(rows[a], rows[b]),
            _mm512_shuffle_i64x2::<0xee>(rows[a], rows[b]),
        );
    }
    for (a, b) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
        (rows[a], rows[b]) = (
            _mm512_permutex2var_epi64(rows[a], even, rows[b]),
            _mm512_permutex2var_epi64(rows[a], odd, rows[b]),
        );
    }
    for (a, b) in [(0, 1), (2, 3), (4, 5), (6, 7)] {
        (rows[a], rows[b]) =
            (_mm512_unpacklo_epi64(rows[a], rows[b]), _mm512_unpackhi_epi64(rows[a], rows[b]));
    }
    rows
}
