//! Digits of moduli, and remainders from digits.

use crate::montgomery::digits::Digits;
use crate::montgomery::limbs::{halves, reduce_once};
use crate::montgomery::modulus::Modulus;

pub(super) fn own_digits(modulus: &Modulus) -> &Digits {
    modulus.digits().expect("moduli of this level have digits")
}

/// Stores the remainder of a number, given by its digits of so many bits, that is less than twice
/// the modulus of the job.
///
/// Not inlined into functions with vectors of 512 bits, where it would become gathers. Their
/// addresses would be public, but they are slower.
#[inline(never)]
pub(super) fn store_remainder(
    mut digits: impl Iterator<Item = u64>,
    width: u32,
    (modulus, limbs): (&Modulus, &mut [u64]),
) {
    let (mut rest, mut bits) = (0, 0);
    let mut next = || {
        while bits < 64 {
            rest |= u128::from(digits.next().unwrap_or(0)) << bits;
            bits += width;
        }
        let [limb, high] = halves(rest);
        (rest, bits) = (u128::from(high), bits - 64);
        limb
    };
    for limb in &mut *limbs {
        *limb = next();
    }
    let over = next();
    reduce_once(limbs, over, modulus.limbs());
}
