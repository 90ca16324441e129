//! SHA-256 of up to four messages side by side, with SHA-NI, for callers that asked the processor.

use core::arch::x86_64::*;

use crate::sha2::rounds256::ROUNDS;
use crate::sha2::streams::{self, Jobs, Kernel};
use crate::simd::{load_words, load128, store_words};

#[target_feature(enable = "sha,sse4.1,ssse3")]
pub(super) fn absorb(jobs: Jobs<'_, u32>) {
    streams::run::<Streams, 64>(jobs);
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
pub(super) fn step(states: &mut [[u32; 8]], blocks: &[[u8; 64]]) {
    streams::step::<Streams, 64>(states, blocks);
}

/// Only [`absorb`] and [`step`] use it.
struct Streams;

impl Kernel<64> for Streams {
    type Word = u32;
    const LANES: usize = 4;
    const FEWEST: usize = 2;
    const BY_WORDS: bool = false;

    /// The order in the registers of the instructions.
    #[inline(always)]
    fn enter([a, b, c, d, e, f, g, h]: [u32; 8]) -> [u32; 8] {
        [f, e, b, a, h, g, d, c]
    }

    #[inline(always)]
    fn leave([f, e, b, a, h, g, d, c]: [u32; 8]) -> [u32; 8] {
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn compress(states: &mut [[u32; 8]; 8], blocks: &[&[u8; 64]; 8], count: usize) {
        let [s0, s1, s2, s3, ..] = states;
        let [b0, b1, b2, b3, ..] = *blocks;
        match count {
            2 => beside([s0, s1], [b0, b1]),
            3 => beside([s0, s1, s2], [b0, b1, b2]),
            _ => beside([s0, s1, s2, s3], [b0, b1, b2, b3]),
        }
    }

    #[inline(always)]
    fn compress_one(state: &mut [u32; 8], block: &[u8; 64]) {
        // SAFETY: only `absorb` and `step` use this type.
        unsafe { several([state], [block]) }
    }
}

/// Absorbs a block of each message, for [`Streams`].
#[inline(never)]
fn beside<const S: usize>(states: [&mut [u32; 8]; S], blocks: [&[u8; 64]; S]) {
    // SAFETY: only `absorb` and `step` use `Streams`.
    unsafe { several(states, blocks) }
}

#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
fn several<const S: usize>(states: [&mut [u32; 8]; S], blocks: [&[u8; 64]; S]) {
    let order = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
    // Not by `map`: its closures would be functions of their own.
    let mut w = [[_mm_setzero_si128(); 4]; S];
    for (w, block) in w.iter_mut().zip(blocks) {
        for (w, quarter) in w.iter_mut().zip(block.as_chunks().0) {
            *w = _mm_shuffle_epi8(load128(quarter), order);
        }
    }
    // The words `abef` and `cdgh`.
    let mut s = [[_mm_setzero_si128(); 2]; S];
    for (s, state) in s.iter_mut().zip(&states) {
        for (s, half) in s.iter_mut().zip(state.as_chunks().0) {
            *s = load_words(half);
        }
    }
    let (constants, _) = ROUNDS.as_chunks();
    sixteen!(I => {
        let constant = load_words(&constants[I]);
        for (s, w) in s.iter_mut().zip(&mut w) {
            let sum = _mm_add_epi32(w[I & 3], constant);
            s[1] = _mm_sha256rnds2_epu32(s[1], s[0], sum);
            if (3..15).contains(&I) {
                let words = _mm_alignr_epi8::<4>(w[I & 3], w[(I + 3) & 3]);
                let next = _mm_add_epi32(w[(I + 1) & 3], words);
                w[(I + 1) & 3] = _mm_sha256msg2_epu32(next, w[I & 3]);
            }
            s[0] = _mm_sha256rnds2_epu32(s[0], s[1], _mm_shuffle_epi32::<0x0e>(sum));
            if (1..13).contains(&I) {
                w[(I + 3) & 3] = _mm_sha256msg1_epu32(w[(I + 3) & 3], w[I & 3]);
            }
        }
    });
    for (state, s) in states.into_iter().zip(s) {
        let (halves, _) = state.as_chunks_mut();
        for (half, s) in halves.iter_mut().zip(s) {
            let sum = _mm_add_epi32(load_words(half), s);
            store_words(half, sum);
        }
    }
}
