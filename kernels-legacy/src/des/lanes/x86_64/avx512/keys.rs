//! The keys of 64 lanes: a byte of each for every S-box and word of the schedules.

use core::arch::x86_64::*;

use lanecrypt_kernels::simd::{load512, store512};
use lanecrypt_kernels::wipe;

use super::order::{exchange_all, interleave_rows, position};
use super::{Blocks, LANES, load_all};
use crate::des::lanes::slots::InProgress;
use crate::des::lanes::{KEYS, Times};
use crate::des::spec;
use crate::des::x86_64::avx512::{BY_SBOX, KEY_MATRICES, reversed};

/// A byte of key for each DES, word of its schedule, S-box and lane. Aligned like all data of the
/// rounds, which load the full width.
#[repr(align(64))]
pub(super) struct Keys<const N: usize>(pub(super) [[[[u8; 64]; 8]; KEYS]; N]);

/// Sets the keys of all lanes. Overwrites `space`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
pub(super) fn set_all<C: Times<N>, const N: usize>(
    keys: &mut Keys<N>,
    space: &mut Blocks,
    lanes: &[Option<InProgress<'_, '_, C>>; LANES],
) {
    let keys = keys.0.as_flattened_mut();
    for start in (0..keys.len()).step_by(8) {
        // The last eight words, not the remainder alone.
        let start = start.min(keys.len() - 8);
        for (group, lanes) in lanes.as_chunks::<8>().0.iter().enumerate() {
            let mut rows = [_mm512_setzero_si512(); 8];
            for (row, lane) in rows.iter_mut().zip(lanes) {
                let Some(message) = lane else { continue };
                *row = eight(message.keys(), start);
            }
            for (word, vector) in space.0.iter_mut().zip(interleave_rows(&rows)) {
                store512(&mut word[group], vector);
            }
        }
        for (word, lanes) in keys[start..].iter_mut().zip(&space.0) {
            let bytes = exchange_all(load_all(lanes));
            for (place, matrix) in MATRICES.iter().enumerate() {
                let byte = bytes[reversed(place)];
                let byte = _mm512_gf2p8affine_epi64_epi8::<0>(byte, _mm512_set1_epi64(*matrix));
                store512(&mut word[spec::sbox_at(place)], byte);
            }
        }
    }
}

/// Sets the keys of one lane.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn set_one<const N: usize>(
    keys: &mut Keys<N>,
    lane: usize,
    schedule: &[[u64; KEYS]; N],
) {
    let keys = keys.0.as_flattened_mut();
    let at = position(lane / 8, lane % 8);
    let mut bytes = [0; 64];
    for start in (0..keys.len()).step_by(8) {
        let start = start.min(keys.len() - 8);
        let words = _mm512_permutexvar_epi8(load512(&BY_SBOX), eight(schedule, start));
        let words = _mm512_gf2p8affine_epi64_epi8::<0>(words, load512(&KEY_MATRICES));
        store512(&mut bytes, words);
        for (sbox, bytes) in bytes.as_chunks::<8>().0.iter().enumerate() {
            for (word, byte) in keys[start..].iter_mut().zip(bytes) {
                word[sbox][at] = *byte;
            }
        }
    }
    wipe::memory(&mut bytes);
}

/// Eight words of a schedule.
#[inline]
#[target_feature(enable = "avx512f")]
fn eight<const N: usize>(schedule: &[[u64; KEYS]; N], start: usize) -> __m512i {
    let words = &schedule.as_flattened()[start..start + 8];
    let word = |i: usize| words[i].cast_signed();
    _mm512_set_epi64(word(7), word(6), word(5), word(4), word(3), word(2), word(1), word(0))
}

/// For each place of a spread half: the bit matrix that puts key bits where its S-box wants them.
const MATRICES: [i64; 8] = {
    let mut matrices = [0; 8];
    let mut place = 0;
    while place < 8 {
        let (all, _) = KEY_MATRICES.as_chunks();
        matrices[place] = i64::from_le_bytes(all[spec::sbox_at(place)]);
        place += 1;
    }
    matrices
};
