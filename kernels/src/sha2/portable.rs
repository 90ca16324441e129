//! One message at a time.

use super::streams::{self, Jobs, Kernel};
use super::{rounds256, rounds512};

struct One;

impl Kernel<128> for One {
    type Word = u64;
    const LANES: usize = 1;
    const FEWEST: usize = usize::MAX;
    const BY_WORDS: bool = false;

    #[inline(always)]
    fn compress(_: &mut [[u64; 8]; 8], _: &[&[u8; 128]; 8], _: usize) {}

    #[inline(always)]
    fn compress_one(state: &mut [u64; 8], block: &[u8; 128]) {
        rounds512::compress_one(state, block);
    }
}

impl Kernel<64> for One {
    type Word = u32;
    const LANES: usize = 1;
    const FEWEST: usize = usize::MAX;
    const BY_WORDS: bool = false;

    #[inline(always)]
    fn compress(_: &mut [[u32; 8]; 8], _: &[&[u8; 64]; 8], _: usize) {}

    #[inline(never)]
    fn compress_one(state: &mut [u32; 8], block: &[u8; 64]) {
        rounds256::compress_one(state, block);
    }
}

pub(crate) fn absorb512(jobs: Jobs<'_, u64>) {
    streams::run::<One, 128>(jobs);
}

pub(crate) fn absorb256(jobs: Jobs<'_, u32>) {
    streams::run::<One, 64>(jobs);
}

pub(crate) fn step256(states: &mut [[u32; 8]], blocks: &[[u8; 64]]) {
    streams::step::<One, 64>(states, blocks);
}
