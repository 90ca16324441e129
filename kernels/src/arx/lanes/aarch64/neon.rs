//! Four blocks of different keys, one in each lane of 32 bits, or two groups of four.

use core::arch::aarch64::*;

use crate::arx::aarch64::neon::{
    across, add32, load as load128, load_pair, row, splat, store as store128, sums, xor32,
};
use crate::arx::lanes::{Pass, Rounds, Starts, StreamLane, fill, row_of, state};
use crate::opaque::observe;
use crate::{Isa, wipe};

four_lanes!(uint32x4_t, beside, #[target_feature(enable = "neon")]);

/// Whether a message of `blocks` blocks is done sooner beside others. Measured against the kernel
/// for one message, whose time grows in steps.
const fn beside(blocks: usize, _many: bool) -> bool {
    blocks < 3
}

/// As [`xor`], eight blocks at a time, by double rounds of two groups.
#[inline]
#[target_feature(enable = "neon")]
pub fn xor_eight<M: StreamLane>(
    isa: Isa,
    rounds: Rounds,
    lanes: &mut [M],
    double_rounds: impl Fn([[uint32x4_t; 16]; 2], usize) -> [[uint32x4_t; 16]; 2] + Copy,
) {
    let eight = |pass: &mut Pass<'_, M, 8>| eight(rounds.count / 2, pass, double_rounds);
    fill(isa, rounds, lanes, |blocks, _| blocks < 4, eight);
}

#[inline(never)]
#[target_feature(enable = "neon")]
fn eight<M: StreamLane>(
    count: usize,
    pass: &mut Pass<'_, M, 8>,
    double_rounds: impl Fn([[uint32x4_t; 16]; 2], usize) -> [[uint32x4_t; 16]; 2],
) {
    let mut starts = [start(pass, 0), start(pass, 4)];
    let [x, y] = double_rounds(starts, count);
    // So that the compiler loads the words again, and does not keep copies of them.
    observe(&mut starts);
    put(pass, 0, &sums(x, starts[0]));
    put(pass, 4, &sums(y, starts[1]));
}
