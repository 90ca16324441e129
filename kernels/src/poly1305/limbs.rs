//! Numbers in limbs of 44, 44 and 42 bits, lowest first, with room in each for sums. The kernels
//! with blocks side by side use them to make the powers of the point.
//!
//! A product of the weight 2^132, one limb past the highest, counts 20-fold as one of weight 1.

#[cfg(feature = "isa-avx2")]
use super::portable::wide;
use super::portable::{joined, words};

/// The bits of the two lower limbs.
pub(super) const LOW44: u64 = (1 << 44) - 1;
/// The bits of the highest limb.
pub(super) const LOW42: u64 = (1 << 42) - 1;

/// The first four powers of the secret point.
#[cfg(feature = "isa-avx2")]
#[inline]
pub(super) fn powers([r0, r1]: [u64; 2]) -> [[u64; 3]; 4] {
    let r = from_words([r0, r1, 0]);
    let square = multiply(r, r);
    [r, square, multiply(square, r), multiply(square, square)]
}

/// The limbs of a number in words of 64 bits, the highest of a few bits.
#[inline]
pub(super) fn from_words([h0, h1, h2]: [u64; 3]) -> [u64; 3] {
    let low = joined([h0, h1]);
    [word(low) & LOW44, word(low >> 44) & LOW44, word(low >> 88) | h2 << 40]
}

/// The words of a number whose limbs may have any number of bits up to 60; the highest is 4 at
/// most.
#[inline]
pub(super) fn into_words([h0, h1, h2]: [u64; 3]) -> [u64; 3] {
    let h1 = h1 + (h0 >> 44);
    let h2 = h2 + (h1 >> 44);
    let h0 = (h0 & LOW44) + 5 * (h2 >> 42);
    let (h1, h2) = (h1 & LOW44, h2 & LOW42);
    let low = u128::from(h0) + (u128::from(h1) << 44);
    // Bits from 2^128 on fall off, and are those of the third word.
    let (low, carry) = low.overflowing_add(u128::from(h2) << 88);
    let [w0, w1] = words(low);
    [w0, w1, (h2 >> 40) + u64::from(carry)]
}

/// The product of two numbers, carried. Limbs may have 45 bits.
#[cfg(feature = "isa-avx2")]
#[inline]
fn multiply([a0, a1, a2]: [u64; 3], [b0, b1, b2]: [u64; 3]) -> [u64; 3] {
    let (b1_over, b2_over) = (20 * b1, 20 * b2);
    let d0 = wide(a0, b0) + wide(a1, b2_over) + wide(a2, b1_over);
    let d1 = wide(a0, b1) + wide(a1, b0) + wide(a2, b2_over);
    let d2 = wide(a0, b2) + wide(a1, b1) + wide(a2, b0);

    let d1 = d1 + u128::from(word(d0 >> 44));
    let d2 = d2 + u128::from(word(d1 >> 44));
    let h0 = (word(d0) & LOW44) + 5 * word(d2 >> 42);
    let h1 = (word(d1) & LOW44) + (h0 >> 44);
    [h0 & LOW44, h1, word(d2) & LOW42]
}

/// The low half.
#[inline]
pub(super) fn word(number: u128) -> u64 {
    let [low, _] = words(number);
    low
}
