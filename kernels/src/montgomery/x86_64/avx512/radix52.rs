//! Numbers of limbs of 64 bits as digits of 52 bits in lanes, and back.
//!
//! Nothing here is inlined into functions with AVX-512, where loops over lanes would become
//! scatters and gathers. Their addresses would be public, but they are slower.

use crate::montgomery::Job;
use crate::montgomery::Lanes;
use crate::montgomery::digits::DIGIT;
use crate::montgomery::limbs::{halves, reduce_once, window};

/// The digits of a number into one lane; zeros fill the digits above.
#[inline(never)]
pub(super) fn into_lane(limbs: &[u64], lane: usize, digits: &mut [Lanes]) {
    for (i, digit) in digits.iter_mut().enumerate() {
        digit.0[lane] = window(limbs, DIGIT as usize * i, DIGIT);
    }
}

/// Digits into one lane.
#[inline(never)]
pub(super) fn copy_into_lane(from: &[u64], lane: usize, digits: &mut [Lanes]) {
    for (digit, &from) in digits.iter_mut().zip(from) {
        digit.0[lane] = from;
    }
}

/// Stores the remainder of a number, given by its digits, that is less than twice the modulus of
/// the job.
#[inline(never)]
pub(super) fn store_remainder(mut digits: impl Iterator<Item = u64>, job: &mut impl Job) {
    let (mut rest, mut bits) = (0, 0);
    let mut next = || {
        while bits < 64 {
            rest |= u128::from(digits.next().unwrap_or(0)) << bits;
            bits += DIGIT;
        }
        let [limb, high] = halves(rest);
        (rest, bits) = (u128::from(high), bits - 64);
        limb
    };
    let (modulus, limbs) = job.place();
    for limb in &mut *limbs {
        *limb = next();
    }
    let over = next();
    reduce_once(limbs, over, modulus.limbs());
}
