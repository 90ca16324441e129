//! The numbers of the curve, and the forms of constants, all at compile time.
//!
//! Numbers of 256 bits are words of 64 bits, lowest first.
#![expect(clippy::cast_possible_truncation, reason = "places and parts of numbers are small")]

/// The field's prime: 2^256 - 2^224 + 2^192 + 2^96 - 1.
pub(super) const P: [u64; 4] = [0xffff_ffff_ffff_ffff, 0xffff_ffff, 0, 0xffff_ffff_0000_0001];

/// The order of the group, a prime.
pub(super) const N: [u64; 4] =
    [0xf3b9_cac2_fc63_2551, 0xbce6_faad_a717_9e84, 0xffff_ffff_ffff_ffff, 0xffff_ffff_0000_0000];

/// The curve is y^2 = x^3 - 3 x + b.
pub(super) const B: [u64; 4] =
    [0x3bce_3c3e_27d2_604b, 0x651d_06b0_cc53_b0f6, 0xb3eb_bd55_7698_86bc, 0x5ac6_35d8_aa3a_93e7];

/// The base point.
pub(super) const G: [[u64; 4]; 2] = [
    [0xf4a1_3945_d898_c296, 0x7703_7d81_2deb_33a0, 0xf8bc_e6e5_63a4_40f2, 0x6b17_d1f2_e12c_4247],
    [0xcbb6_4068_37bf_51f5, 0x2bce_3357_6b31_5ece, 0x8ee7_eb4a_7c0f_9e16, 0x4fe3_42e2_fe1a_7f9b],
];

/// A modulus of the curve.
pub(super) trait Modulus {
    /// Whether it is the field's prime.
    const IS_FIELD: bool;
    const WORDS: [u64; 4];
    /// Minus the inverse of the number modulo 2^64.
    const INVERSE: u64 = inverse(Self::WORDS[0]).wrapping_neg();
}

/// The field's prime.
pub(super) struct Field;

impl Modulus for Field {
    const IS_FIELD: bool = true;
    const WORDS: [u64; 4] = P;
}

/// The order of the group.
pub(super) struct Order;

impl Modulus for Order {
    const IS_FIELD: bool = false;
    const WORDS: [u64; 4] = N;
}

/// The inverse of an odd number modulo 2^64: each step of Newton's iteration doubles the number of
/// right bits, of which there are three at first.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// The difference, and whether it is negative.
pub(super) const fn subtract(one: &[u64; 4], other: &[u64; 4]) -> ([u64; 4], bool) {
    let (mut difference, mut borrow, mut i) = ([0; 4], false, 0);
    while i < 4 {
        let (part, first) = one[i].overflowing_sub(other[i]);
        let (part, second) = part.overflowing_sub(borrow as u64);
        (difference[i], borrow) = (part, first | second);
        i += 1;
    }
    (difference, borrow)
}

/// The coordinate other than `number` that is `number` modulo the order, if there is one, else the
/// same; for public numbers below the order.
pub(super) fn other_coordinate(number: &[u64; 4]) -> [u64; 4] {
    const REST: [u64; 4] = subtract(&P, &N).0;
    const MINUS_N: [u64; 4] = subtract(&[0; 4], &N).0;
    if subtract(number, &REST).1 { subtract(number, &MINUS_N).0 } else { *number }
}

/// 2^`exponent` modulo a number of 256 bits; not for secrets.
pub(super) const fn power_of_two(exponent: u32, modulus: &[u64; 4]) -> [u64; 4] {
    let (mut power, mut step) = ([1, 0, 0, 0], 0);
    while step < exponent {
        let over = power[3] >> 63 == 1;
        power = [
            power[0] << 1,
            power[1] << 1 | power[0] >> 63,
            power[2] << 1 | power[1] >> 63,
            power[3] << 1 | power[2] >> 63,
        ];
        let (less, borrow) = subtract(&power, modulus);
        if over || !borrow {
            power = less;
        }
        step += 1;
    }
    power
}

/// The limbs of a number, of `width` bits each.
#[inline(always)]
pub(super) const fn split<const LIMBS: usize>(number: &[u64; 4], width: u32) -> [u64; LIMBS] {
    let (mut limbs, mut i) = ([0; LIMBS], 0);
    while i < LIMBS {
        let start = i as u32 * width;
        let (word, bit) = ((start / 64) as usize, start % 64);
        let mut limb = if word < 4 { number[word] >> bit } else { 0 };
        if word < 3 && bit > 0 {
            limb |= number[word + 1] << (64 - bit);
        }
        limbs[i] = limb & ((1 << width) - 1);
        i += 1;
    }
    limbs
}

/// `times` a modulus, in limbs that are too large: each one but the highest has `more` times
/// 2^`width` in addition, and the one above it as much less.
///
/// So limbs of less than this can be subtracted from it one by one.
pub(super) const fn offset<const LIMBS: usize>(
    modulus: &[u64; 4],
    width: u32,
    times: u64,
    more: u64,
) -> [u64; LIMBS] {
    let mut limbs = split::<LIMBS>(modulus, width);
    let (mut carry, mut i) = (0, 0);
    while i < LIMBS {
        let limb = limbs[i] as u128 * times as u128 + carry;
        if i + 1 < LIMBS {
            let extra = (more as u128) << width;
            limbs[i] = (limb & ((1 << width) - 1)) as u64 + extra as u64;
            carry = limb >> width;
        } else {
            limbs[i] = limb as u64;
        }
        if i > 0 {
            limbs[i] -= more;
        }
        i += 1;
    }
    limbs
}
