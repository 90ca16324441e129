//! What signatures cost, here and by AWS-LC, with AVX-512. There AWS-LC has kernels for some sizes,
//! and this crate has lanes, in which checking signatures always costs less.
//!
//! Without AVX-512, the kernels of AWS-LC are those of OpenSSL, and need ADX. Where there is ADX,
//! nothing costs less by AWS-LC; elsewhere everything does, because this crate has only its
//! portable kernel there.

use lanecrypt_kernels::{Isa, Level, is_amd};

/// What signatures under keys of one size with primes of half that size cost, in thousands of
/// cycles of the time-stamp counter.
#[derive(Clone, Copy)]
struct Costs {
    bits: usize,
    /// One of AWS-LC.
    aws_lc: usize,
    /// One to four of ours together. Four fill the lanes.
    ours: [usize; FULL],
}

/// Signatures whose exponentiations fill the lanes.
const FULL: usize = 4;

/// Measured on AMD EPYC (Zen 4), TSC 2.6 GHz, 2026-11-23.
const AMD: [Costs; 3] = [
    Costs { bits: 2048, aws_lc: 600, ours: [668, 1325, 1357, 1394] },
    Costs { bits: 3072, aws_lc: 1755, ours: [1765, 3560, 4310, 4380] },
    Costs { bits: 4096, aws_lc: 3695, ours: [3640, 7310, 9740, 9880] },
];

/// Not measured. Servers of Intel start two 512-bit multiplications a cycle, Zen 4 starts one:
/// lanes take about half the cycles, and exponentiations alone, which wait for results, as many.
const INTEL: [Costs; 3] = [
    Costs { bits: 2048, aws_lc: 600, ours: [668, 730, 770, 800] },
    Costs { bits: 3072, aws_lc: 1755, ours: [1765, 3560, 2300, 2350] },
    Costs { bits: 4096, aws_lc: 3695, ours: [3640, 7310, 5150, 5200] },
];

/// AWS-LC must be cheaper by so many per cent: it allocates, and figures are not exact.
const MARGIN: usize = 2;

/// Whether costs are known at this level.
pub(super) fn has_table(isa: Isa) -> bool {
    isa.has(Level::Avx512)
}

/// How many of so many signatures of one size AWS-LC makes, of those that it can make.
pub(super) fn share(bits: usize, signatures: usize, takes: usize) -> usize {
    let costs = if is_amd() { &AMD } else { &INTEL };
    let Some(costs) = costs.iter().find(|costs| costs.bits == bits) else {
        // AWS-LC has kernels for these sizes only.
        return 0;
    };
    costs.share(signatures, takes)
}

impl Costs {
    fn share(&self, signatures: usize, takes: usize) -> usize {
        let cost = |given: &usize| {
            given * self.aws_lc * (100 + MARGIN) / 100 + self.of_ours(signatures - given)
        };
        (0..=takes).min_by_key(cost).unwrap_or(0)
    }

    fn of_ours(&self, signatures: usize) -> usize {
        let rest = signatures % FULL;
        let rest = if rest == 0 { 0 } else { self.ours[rest - 1] };
        signatures / FULL * self.ours[FULL - 1] + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Never more than one by one, by either, and never more than ours together.
    #[test]
    fn together_costs_no_more() {
        for costs in AMD.iter().chain(&INTEL) {
            for count in 1..=32 {
                let given = costs.share(count, count);
                let cost = given * costs.aws_lc + costs.of_ours(count - given);
                assert!(cost <= costs.of_ours(count));
                assert!(100 * cost <= (100 + MARGIN) * count * costs.aws_lc.min(costs.ours[0]));
            }
        }
    }

    #[test]
    fn the_rest_of_a_batch_is_given_away_if_that_pays() {
        let [costs, ..] = AMD;
        let shares = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(|count| costs.share(count, count));
        assert_eq!(shares, [1, 2, 0, 0, 1, 2, 0, 0, 1]);
        assert_eq!(costs.share(5, 0), 0, "none can be given");
        assert_eq!(share(2050, 1, 1), 0, "a size of which no costs are known");
    }
}
