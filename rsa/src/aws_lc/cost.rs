//! Which signatures cost less by AWS-LC at levels where this crate has kernels.
//!
//! On x86-64 without AVX-512 none does: where there is ADX, AWS-LC has the kernels of OpenSSL, and
//! elsewhere this crate has none. With AVX-512 and on AArch64, AWS-LC has kernels for some sizes.
//! Whether these or ours are faster differs between processors, so it is measured: once for each
//! size, by the first key for which AWS-LC would pay.

use core::time::Duration;
use std::sync::OnceLock;
use std::time::Instant;

/// The usual sizes for which AWS-LC has such kernels.
const SIZES: [usize; 3] = [2048, 3072, 4096];

/// Whether AWS-LC makes a single signature faster.
static IS_FASTER: [OnceLock<bool>; SIZES.len()] = [const { OnceLock::new() }; SIZES.len()];

/// Signatures whose exponentiations fill our lanes. They take about twice as long as one alone.
const FULL: usize = 4;

/// Each is timed so many times, and the fastest counts.
const SAMPLES: usize = 3;

/// AWS-LC must be faster by so many per cent: it allocates, and measurements are not exact.
const MARGIN: u32 = 3;

pub(super) fn has_kernel(bits: usize) -> bool {
    SIZES.contains(&bits)
}

/// How many of so many signatures of one size are left when our lanes are filled, and would take as
/// long here as that many by themselves.
pub(super) fn rest(signatures: usize) -> usize {
    match signatures % FULL {
        rest @ (1 | 2) => rest,
        _ => 0,
    }
}

/// Whether AWS-LC makes a single signature by a key of so many bits faster than this crate. These
/// functions make one and say whether they could.
pub(super) fn is_faster(
    bits: usize,
    own: impl FnMut() -> bool,
    aws_lc: impl FnMut() -> bool,
) -> bool {
    let Some(place) = SIZES.iter().position(|&size| size == bits) else { return false };
    *IS_FASTER[place].get_or_init(|| {
        let (own, aws_lc) = (fastest(own), fastest(aws_lc));
        aws_lc.saturating_mul(100 + MARGIN) < own.saturating_mul(100)
    })
}

/// The time of the fastest of several calls. One that fails takes forever: a key that does not sign
/// is left to this crate, which says why.
fn fastest(mut sign: impl FnMut() -> bool) -> Duration {
    let times = (0..SAMPLES).map(|_| {
        let start = Instant::now();
        if sign() { start.elapsed() } else { Duration::MAX }
    });
    times.min().unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_batch_does_not_fill_lanes() {
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 8, 9].map(rest), [1, 2, 0, 0, 1, 2, 0, 0, 1]);
    }
}
