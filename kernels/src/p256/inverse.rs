//! Inverses modulo the curve's two primes, by Fermat's theorem: powers with public exponents.

use super::constants::{self, Field, Modulus, Order};
use super::number::Number;

/// The inverse modulo the field's prime, in Montgomery's form; zero for zero.
#[inline(always)]
pub(super) fn of_field<N: Number>(number: &N) -> N {
    power::<N, Field>(number, &const { constants::less(constants::P, 2) })
}

/// The inverse modulo the order, in Montgomery's form; zero for zero.
#[inline(always)]
pub(super) fn of_order<N: Number>(number: &N) -> N {
    power::<N, Order>(number, &const { constants::less(constants::N, 2) })
}

/// A power by digits of four bits; the highest digit of the exponent is not zero.
#[inline(always)]
pub(super) fn power<N: Number, M: Modulus>(number: &N, exponent: &[u64; 4]) -> N {
    let mut powers = [*number; 16];
    for i in 2..16 {
        powers[i] = powers[i - 1].multiply_by::<M>(number);
    }
    let mut result = powers[(exponent[3] >> 60) as usize];
    for place in (0..63).rev() {
        for _ in 0..4 {
            result = result.square_by::<M>();
        }
        let digit = (exponent[place / 16] >> (place % 16 * 4) & 15) as usize;
        if digit > 0 {
            result = result.multiply_by::<M>(&powers[digit]);
        }
    }
    result
}
