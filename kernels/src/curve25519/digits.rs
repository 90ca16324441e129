//! Odd digits of scalars: numbers `2 d - 31`, for d of five bits.
//!
//! No digit is zero, so that tables have 16 multiples and their negatives, and nothing else.

use super::scalar::ORDER;
use crate::opaque;

/// The odd digits of a scalar below 2^255, `count` of five bits each, lowest first. An even scalar
/// is made odd by the order of the base point, to be multiplied with points of that order only.
///
/// The sum of all `2 d - 31` times 32^i is `2 n - (32^count - 1)` if n is the number with digits d.
/// So n is half of the sum of the scalar and 32^count - 1.
#[expect(clippy::cast_possible_truncation, reason = "the upper half is the carry")]
pub(super) fn odd_digits(scalar: [u64; 4], count: usize) -> [u64; 5] {
    let even = opaque::word((scalar[0] & 1).wrapping_sub(1));
    let mut words = [0; 5];
    let mut carry = 0;
    for (k, word) in words.iter_mut().enumerate() {
        let ones = match (5 * count).saturating_sub(64 * k) {
            0 => 0,
            bits => u64::MAX >> (64 - bits.min(64)),
        };
        let (scalar, order) = if k < 4 { (scalar[k], ORDER[k] & even) } else { (0, 0) };
        let sum = u128::from(scalar) + u128::from(order) + u128::from(ones) + carry;
        *word = sum as u64;
        carry = sum >> 64;
    }
    let [a, b, c, d, e] = words;
    [a >> 1 | b << 63, b >> 1 | c << 63, c >> 1 | d << 63, d >> 1 | e << 63, e >> 1]
}

/// How many digits a scalar below 2^253 has in a verification.
pub(super) const COUNT: usize = 51;

/// The digits of both scalars of a verification in each lane, the highest ones first. After those
/// of the key's scalar there is one that subtracts the key once more or does nothing.
pub(super) struct Schedule {
    pub(super) key: [[u8; 8]; COUNT + 1],
    pub(super) base: [[u8; 8]; COUNT],
}

/// The digit that stands for -1.
const MINUS_ONE: u8 = 15;
/// The digit that stands for 0, in tables of 17 multiples.
const ZERO: u8 = 32;

impl Schedule {
    pub(super) const fn new() -> Self {
        Self { key: [[0; 8]; COUNT + 1], base: [[0; 8]; COUNT] }
    }

    /// Sets the scalars of a lane, which are public and less than the order.
    pub(super) fn set(&mut self, lane: usize, key: [u64; 4], base: [u64; 4]) {
        // A key may have a part of small order: its scalar is made odd by one more.
        let [first, b, c, d] = key;
        let key = odd_digits([first | 1, b, c, d], COUNT);
        let base = odd_digits(base, COUNT);
        for place in 0..COUNT {
            self.key[COUNT - 1 - place][lane] = digit(&key, place);
            self.base[COUNT - 1 - place][lane] = digit(&base, place);
        }
        self.key[COUNT][lane] = if first & 1 == 1 { ZERO } else { MINUS_ONE };
    }
}

const fn digit(digits: &[u64; 5], place: usize) -> u8 {
    let (word, bit) = (5 * place / 64, 5 * place % 64);
    let bits = digits[word] as u128 | (digits[word + 1] as u128) << 64;
    (bits >> bit & 31) as u8
}
