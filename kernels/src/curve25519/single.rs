//! One number modulo 2^255 - 19 at a time, for the constants and the table of multiples, which the
//! compiler computes.

use super::field::MASK51;

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

/// The inverse; zero has zero.
pub(super) const fn inverse(number: Single) -> Single {
    // The bits of p - 2 = 2^255 - 21 from the second on; all but these two are ones.
    let mut power = number;
    let mut bit = 254;
    while bit > 0 {
        bit -= 1;
        power = multiply(power, power);
        if bit != 2 && bit != 4 {
            power = multiply(power, number);
        }
    }
    power
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
