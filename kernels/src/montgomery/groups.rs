//! Which exponentiations run side by side.

use super::{Inputs, Jobs};
use crate::Isa;

/// The most jobs to divide into groups at once.
pub(super) const MOST: usize = 64;
/// The most jobs in a group.
const LANES: usize = 8;

/// Calls `run` with groups of jobs, by their places, until all are done. The moduli of a group
/// are of one level and have as many digits, if they have digits.
pub(super) fn each(jobs: &mut dyn Jobs, mut run: impl FnMut(&mut dyn Jobs, &[usize], Isa)) {
    debug_assert!(jobs.count() <= MOST, "a bit for each");
    let kind = |job: Inputs<'_>| {
        let modulus = job.modulus;
        (modulus.isa(), modulus.digits().map_or(0, |own| own.n.len()))
    };
    let mut done = 0_u64;
    for first in 0..jobs.count() {
        if done >> first & 1 == 1 {
            continue;
        }
        let (isa, digits) = kind(jobs.job(first));
        let mut places = [0; LANES];
        let mut count = 0;
        for place in first..jobs.count() {
            if count < LANES && done >> place & 1 == 0 && kind(jobs.job(place)) == (isa, digits) {
                done |= 1 << place;
                places[count] = place;
                count += 1;
            }
        }
        run(jobs, &places[..count], isa);
    }
}
