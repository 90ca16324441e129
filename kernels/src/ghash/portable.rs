//! GHASH for every processor, and the specification of the other kernels: one block at a time, by
//! integer multiplication. Constant time in key and data wherever multiplying integers is.

use super::{POWERS, ROOM};

/// H^1 only.
pub(super) fn fill(powers: &mut [[u8; 16]; ROOM], h: &[u8; 16]) {
    powers[POWERS - 1] = divided_by_x(u128::from_be_bytes(*h)).to_le_bytes();
}

pub(super) fn absorb(powers: &[[u8; 16]; ROOM], state: &mut [u8; 16], blocks: &[[u8; 16]]) {
    let h = u128::from_le_bytes(powers[POWERS - 1]);
    let mut sum = u128::from_be_bytes(*state);
    for block in blocks {
        sum = multiply(sum ^ u128::from_be_bytes(*block), h);
    }
    *state = sum.to_be_bytes();
}

/// A field element divided by x. The bit that falls out at the top is the coefficient of 1, and 1/x
/// is x^127 + x^6 + x + 1.
pub(super) fn divided_by_x(a: u128) -> u128 {
    let inverse = 1 << 127 | 1 << 126 | 1 << 121 | 1;
    a << 1 ^ (inverse & (a >> 127).wrapping_neg())
}

/// The product of `a` and an element that is kept divided by x.
pub(crate) fn multiply(a: u128, b: u128) -> u128 {
    let ([a1, a0], [b1, b0]) = (words(a), words(b));
    let low = carryless(a0, b0);
    let high = carryless(a1, b1);
    // Karatsuba's way to a0 b1 + a1 b0.
    let middle = carryless(a0 ^ a1, b0 ^ b1) ^ low ^ high;
    reduce(words(high), words(middle), words(low))
}

/// The three parts of a product overlap by a word.
fn reduce([x3, x2]: [u64; 2], [m1, m0]: [u64; 2], [x1, x0]: [u64; 2]) -> u128 {
    let [up, down] = words(folded(x0));
    let (x2, x1) = (x2 ^ m1 ^ up, x1 ^ m0 ^ down);
    let [up, down] = words(folded(x1));
    u128::from(x3 ^ up) << 64 | u128::from(x2 ^ down)
}

/// The value that the lowest word of a product adds to the two words above the next.
fn folded(x: u64) -> u128 {
    let x = u128::from(x) << 64;
    x ^ x >> 1 ^ x >> 2 ^ x >> 7
}

/// The upper and the lower word.
#[expect(clippy::cast_possible_truncation, reason = "cuts a number in two")]
fn words(x: u128) -> [u64; 2] {
    [(x >> 64) as u64, x as u64]
}

/// The product of two polynomials. Its upper half is the lower half of the product of the
/// reversed ones, reversed, and one bit up.
fn carryless(a: u64, b: u64) -> u128 {
    let upper = carryless_low(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    u128::from(upper) << 64 | u128::from(carryless_low(a, b))
}

/// The lower half of the product of two polynomials.
///
/// Multiplies integers in which only every fourth bit may be set. At most 16 ones meet at any
/// place, so the lowest bit of their sum is the sum of the polynomials; carries fall into the three
/// holes before the next place, or out at the top (T. Pornin, "BearSSL: constant-time
/// cryptography", on GHASH).
fn carryless_low(a: u64, b: u64) -> u64 {
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let mut product = 0;
    for place in 0..4 {
        let mut sum = 0;
        for i in 0..4 {
            let j = (4 + place - i) % 4;
            let (x, y) = (a & EVERY_FOURTH << i, b & EVERY_FOURTH << j);
            sum ^= x.wrapping_mul(y);
        }
        product |= sum & EVERY_FOURTH << place;
    }
    product
}
