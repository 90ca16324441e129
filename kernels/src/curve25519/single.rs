//! One number modulo 2^255 - 19 at a time: for inversions, and for the constants and the table of
//! multiples, which the compiler computes.

use crate::{opaque, wipe};

/// The lowest 51 bits.
pub(super) const MASK51: u64 = (1 << 51) - 1;

/// Five limbs of 51 bits, each less than 2^52.
pub(super) type Single = [u64; 5];

const fn product(a: u64, b: u64) -> u128 {
    a as u128 * b as u128
}

#[expect(clippy::cast_possible_truncation, reason = "the mask leaves 51 bits")]
const fn low(word: u128) -> u64 {
    word as u64 & MASK51
}

#[expect(clippy::cast_possible_truncation, reason = "columns are less than 2^115")]
const fn high(word: u128) -> u64 {
    (word >> 51) as u64
}

#[inline]
pub(super) const fn multiply(a: Single, b: Single) -> Single {
    let [b0, b1, b2, b3, b4] = b;
    let [c1, c2, c3, c4] = [19 * b1, 19 * b2, 19 * b3, 19 * b4];
    carry([
        product(a[0], b0)
            + product(a[1], c4)
            + product(a[2], c3)
            + product(a[3], c2)
            + product(a[4], c1),
        product(a[0], b1)
            + product(a[1], b0)
            + product(a[2], c4)
            + product(a[3], c3)
            + product(a[4], c2),
        product(a[0], b2)
            + product(a[1], b1)
            + product(a[2], b0)
            + product(a[3], c4)
            + product(a[4], c3),
        product(a[0], b3)
            + product(a[1], b2)
            + product(a[2], b1)
            + product(a[3], b0)
            + product(a[4], c4),
        product(a[0], b4)
            + product(a[1], b3)
            + product(a[2], b2)
            + product(a[3], b1)
            + product(a[4], b0),
    ])
}

#[inline]
const fn square(a: Single) -> Single {
    let [a0, a1, a2, a3, a4] = a;
    let (b0, b1, b3, b4) = (2 * a0, 2 * a1, 19 * a3, 19 * a4);
    carry([
        product(a0, a0) + product(b1, b4) + product(2 * a2, b3),
        product(b0, a1) + product(2 * a2, b4) + product(a3, b3),
        product(b0, a2) + product(a1, a1) + product(2 * a3, b4),
        product(b0, a3) + product(b1, a2) + product(a4, b4),
        product(b0, a4) + product(b1, a3) + product(a2, a2),
    ])
}

/// A number to the power of 2^`times`, times another one.
#[inline(never)]
const fn squared(mut number: Single, times: u32, factor: Single) -> Single {
    let mut left = times;
    while left > 0 {
        number = square(number);
        left -= 1;
    }
    multiply(number, factor)
}

#[inline]
const fn carry(mut columns: [u128; 5]) -> Single {
    let mut k = 0;
    while k < 4 {
        columns[k + 1] += high(columns[k]) as u128;
        k += 1;
    }
    let first = low(columns[0]) + 19 * high(columns[4]);
    [
        first & MASK51,
        low(columns[1]) + (first >> 51),
        low(columns[2]),
        low(columns[3]),
        low(columns[4]),
    ]
}

pub(super) const fn add(a: Single, b: Single) -> Single {
    let mut columns = [0; 5];
    let mut k = 0;
    while k < 5 {
        columns[k] = a[k] as u128 + b[k] as u128;
        k += 1;
    }
    carry(columns)
}

pub(super) const fn subtract(a: Single, b: Single) -> Single {
    let mut columns = [4 * MASK51 as u128; 5];
    columns[0] -= 4 * 18;
    let mut k = 0;
    while k < 5 {
        columns[k] = columns[k] + a[k] as u128 - b[k] as u128;
        k += 1;
    }
    carry(columns)
}

/// The inverse, which is the power of 2^255 - 21; zero has zero.
pub(super) const fn inverse(number: Single) -> Single {
    let two = square(number);
    let nine = squared(two, 2, number);
    let eleven = squared(nine, 0, two);
    // Powers of 2^n - 1.
    let five_ones = squared(eleven, 1, nine);
    let ten = squared(five_ones, 5, five_ones);
    let twenty = squared(ten, 10, ten);
    let forty = squared(twenty, 20, twenty);
    let fifty = squared(forty, 10, ten);
    let hundred = squared(fifty, 50, fifty);
    let two_hundred = squared(hundred, 100, hundred);
    let most = squared(two_hundred, 50, fifty);
    squared(most, 5, eleven)
}

/// Inverts the numbers of some lanes, from their limbs side by side. Zero stays zero.
///
/// Only their product is inverted; a number's inverse is that one times all other numbers.
#[inline(never)]
pub(super) fn invert_each(limbs: &mut [[u64; 8]; 5], lanes: usize) {
    let mut numbers = [[0; 5]; 8];
    let mut before = [[0; 5]; 8];
    let mut are_zero = [0; 8];
    let mut product = [1, 0, 0, 0, 0];
    for lane in 0..lanes {
        let number = canonical(limbs.map(|limb| limb[lane]));
        let bits = number.into_iter().fold(0, |bits, limb| bits | limb);
        // A product with zero would be zero for all.
        are_zero[lane] = opaque::word(bits.wrapping_sub(1) & !bits) >> 63;
        numbers[lane] = number;
        numbers[lane][0] += are_zero[lane];
        before[lane] = product;
        product = multiply(product, numbers[lane]);
    }
    let mut inverted = inverse(product);
    for lane in (0..lanes).rev() {
        let own = multiply(inverted, before[lane]);
        inverted = multiply(inverted, numbers[lane]);
        for (limb, own) in limbs.iter_mut().zip(own) {
            limb[lane] = own & are_zero[lane].wrapping_sub(1);
        }
    }
    wipe::words(numbers.as_flattened_mut());
    wipe::words(before.as_flattened_mut());
}

/// The number less than the modulus.
pub(super) const fn canonical(number: Single) -> Single {
    // The first carry leaves less than 2^255 + 2^52, and 19 more has bit 255 if it is not less than
    // p.
    let mut limbs = subtract(number, [0; 5]);
    let mut over = 19;
    let mut k = 0;
    while k < 5 {
        over = (limbs[k] + over) >> 51;
        k += 1;
    }
    over *= 19;
    k = 0;
    while k < 5 {
        let sum = limbs[k] + over;
        limbs[k] = sum & MASK51;
        over = sum >> 51;
        k += 1;
    }
    limbs
}
