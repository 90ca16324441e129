//! Numbers of limbs of 64 bits as digits of 52 bits in lanes, and back.

use super::super::Lanes;
use super::super::digits::DIGIT;
use super::super::limbs::{halves, reduce_once, window};

/// The digits of a number into one lane; zeros fill the digits above.
pub(super) fn into_lane(limbs: &[u64], lane: usize, digits: &mut [Lanes]) {
    for (i, digit) in digits.iter_mut().enumerate() {
        digit.0[lane] = window(limbs, DIGIT as usize * i, DIGIT);
    }
}

/// Digits into one lane.
pub(super) fn copy_into_lane(from: &[u64], lane: usize, digits: &mut [Lanes]) {
    for (digit, &from) in digits.iter_mut().zip(from) {
        digit.0[lane] = from;
    }
}

/// The remainder of a number in a lane that is less than twice the modulus.
pub(super) fn out_of_lane(digits: &[Lanes], lane: usize, modulus: &[u64], out: &mut [u64]) {
    let mut digits = digits.iter().map(|digit| digit.0[lane]);
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
    for limb in &mut *out {
        *limb = next();
    }
    let over = next();
    reduce_once(out, over, modulus);
}
