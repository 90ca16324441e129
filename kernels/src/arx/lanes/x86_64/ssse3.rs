//! Four blocks of different keys, one in each lane of 32 bits.

use core::arch::x86_64::*;

use crate::arx::lanes::{Pass, Rounds, Starts, StreamLane, fill, row_of, state};
use crate::arx::x86_64::ssse3::{across, add32, row, splat, sums, xor32};
use crate::simd::{load_pair, load128, store128};
use crate::{Isa, wipe};

four_lanes!(__m128i, beside, #[target_feature(enable = "ssse3")]);

/// Whether a message of `blocks` blocks is done sooner beside others. Measured against the kernel
/// for one message, whose time grows in steps.
const fn beside(blocks: usize, _many: bool) -> bool {
    blocks < 3
}
