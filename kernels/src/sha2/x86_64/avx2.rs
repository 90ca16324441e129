//! SHA-512 of four messages side by side, and SHA-256 of eight on processors without SHA-NI.

mod lanes256;

use self::lanes256::Eight;
use super::{aesni, shani};
use crate::Level;
use crate::sha2::rounds256::{self, Word};
use crate::sha2::rounds512;
use crate::sha2::streams::{self, Jobs, Kernel};
use crate::words::x86_64::Four;

pub(crate) const NEEDS: Level = Level::Avx2;

/// Only functions with AVX2 use it.
struct Lanes;

impl Kernel<128> for Lanes {
    type Word = u64;
    const LANES: usize = 4;
    const FEWEST: usize = 3;
    const BY_WORDS: bool = true;

    #[inline(always)]
    fn compress(states: &mut [[u64; 8]; 8], blocks: &[&[u8; 128]; 8], _: usize) {
        rounds512::compress::<Four>(states, blocks);
    }

    #[inline(always)]
    fn compress_one(state: &mut [u64; 8], block: &[u8; 128]) {
        rounds512::compress_one(state, block);
    }
}

#[target_feature(enable = "avx2,bmi2")]
pub(crate) fn absorb512(jobs: Jobs<'_, u64>) {
    streams::run::<Lanes, 128>(jobs);
}

impl Kernel<64> for Lanes {
    type Word = u32;
    const LANES: usize = 8;
    const FEWEST: usize = 3;
    const BY_WORDS: bool = true;

    #[inline(always)]
    fn compress(states: &mut [[u32; 8]; 8], blocks: &[&[u8; 64]; 8], _: usize) {
        // SAFETY: only functions with AVX2 use this type.
        unsafe { compress256(states, blocks) }
    }

    #[inline(always)]
    fn compress_one(state: &mut [u32; 8], block: &[u8; 64]) {
        // SAFETY: as above.
        unsafe { compress_one256(state, block) }
    }
}

#[target_feature(enable = "avx2,bmi2")]
#[inline(never)]
fn compress256(states: &mut [[u32; 8]; 8], blocks: &[&[u8; 64]; 8]) {
    let mut columns = [[0; 8]; 16];
    for (lane, block) in blocks.iter().enumerate() {
        for (column, word) in columns.iter_mut().zip(rounds256::words(block)) {
            column[lane] = word;
        }
    }
    let mut words = [Eight::splat(0); 16];
    for (word, column) in words.iter_mut().zip(&columns) {
        *word = Eight::load(column);
    }
    let mut state = [Eight::splat(0); 8];
    for (state, words) in state.iter_mut().zip(&*states) {
        *state = Eight::load(words);
    }
    rounds256::compress(&mut state, words);
    for (words, state) in states.iter_mut().zip(state) {
        state.store(words);
    }
}

#[target_feature(enable = "avx2,bmi2")]
#[inline(never)]
fn compress_one256(state: &mut [u32; 8], block: &[u8; 64]) {
    rounds256::compress_one(state, block);
}

#[target_feature(enable = "avx2,bmi2")]
pub(crate) fn absorb256(jobs: Jobs<'_, u32>) {
    if aesni::has_sha() {
        // SAFETY: the processor has SHA-NI, and at this level SSE4.1.
        unsafe { shani::absorb(jobs) }
    } else {
        absorb_in_lanes(jobs);
    }
}

#[target_feature(enable = "avx2,bmi2")]
pub(crate) fn step256(states: &mut [[u32; 8]], blocks: &[[u8; 64]]) {
    if aesni::has_sha() {
        // SAFETY: the processor has SHA-NI, and at this level SSE4.1.
        unsafe { shani::step(states, blocks) }
    } else {
        step_in_lanes(states, blocks);
    }
}

#[target_feature(enable = "avx2,bmi2")]
fn absorb_in_lanes(jobs: Jobs<'_, u32>) {
    streams::run::<Lanes, 64>(jobs);
}

#[target_feature(enable = "avx2,bmi2")]
fn step_in_lanes(states: &mut [[u32; 8]], blocks: &[[u8; 64]]) {
    streams::step::<Lanes, 64>(states, blocks);
}

#[cfg(test)]
mod tests;
