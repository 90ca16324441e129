//! Inverses modulo the curve's two primes, by Fermat's theorem: powers with public exponents.

use super::constants;
use super::number::Number;

/// The inverse modulo the field's prime, in Montgomery's form; zero for zero.
#[inline(always)]
pub(super) fn of_field<N: Number>(number: &N) -> N {
    power(number, &const { constants::less(constants::P, 2) }, N::square, N::multiply)
}

/// The inverse modulo the order, in Montgomery's form; zero for zero.
#[inline(always)]
pub(super) fn of_order<N: Number>(number: &N) -> N {
    let multiply = N::multiply_order;
    let square = |number: &N| number.multiply_order(number);
    power(number, &const { constants::less(constants::N, 2) }, square, multiply)
}

/// A power by digits of four bits; the highest digit of the exponent is not zero.
#[inline(always)]
pub(super) fn power<N: Number>(
    number: &N,
    exponent: &[u64; 4],
    square: impl Fn(&N) -> N,
    multiply: impl Fn(&N, &N) -> N,
) -> N {
    let mut powers = [*number; 16];
    for i in 2..16 {
        powers[i] = multiply(&powers[i - 1], number);
    }
    let digit = |place: usize| (exponent[place / 16] >> (place % 16 * 4) & 15) as usize;
    let mut result = powers[digit(63)];
    for place in (0..63).rev() {
        for _ in 0..4 {
            result = square(&result);
        }
        if digit(place) > 0 {
            result = multiply(&result, &powers[digit(place)]);
        }
    }
    result
}
