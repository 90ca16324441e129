//! SHA-512 of four messages side by side.

use crate::Level;
use crate::sha2::rounds512;
use crate::sha2::streams::{self, Jobs, Kernel};
use crate::words::x86_64::Four;

pub(crate) const NEEDS: Level = Level::Avx2;

/// Only [`absorb512`] uses it.
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
