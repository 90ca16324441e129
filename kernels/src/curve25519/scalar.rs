//! Scalars of Ed25519: numbers modulo the order of the base point, L = 2^252 + c, where c has 125
//! bits (RFC 8032, section 5.1).
//!
//! Constant time in all values. A scalar is four limbs of 64 bits, lowest first, and less than L.

use crate::opaque;

/// c, the order without its highest bit.
const C: [u64; 2] = [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6];

/// L.
pub(super) const ORDER: [u64; 4] = [C[0], C[1], 0, 1 << 60];

/// L moved up by 133 bits: more than c times 260 bits.
const ORDER_133: [u64; 7] =
    [0, 0, 0x024c_634b_9eba_7da0, 0x9bdf_3bd4_5ef3_9acb, 0x0000_0000_0000_0002, 0, 2];

/// L moved up by 7 bits: more than c times 134 bits.
const ORDER_7: [u64; 5] =
    [0x0931_8d2e_7ae9_f680, 0x6f7c_ef51_7bce_6b2c, 0x0000_0000_0000_000a, 0, 8];

/// The limbs of 32 bytes, little-endian; the number may be more than L.
pub(super) fn limbs(bytes: &[u8; 32]) -> [u64; 4] {
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.as_chunks().0) {
        *limb = u64::from_le_bytes(*bytes);
    }
    limbs
}

/// The 32 bytes of limbs, little-endian.
pub(super) fn bytes(limbs: &[u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, limb) in bytes.as_chunks_mut().0.iter_mut().zip(limbs) {
        *bytes = limb.to_le_bytes();
    }
    bytes
}

/// Whether a public number is less than L, as the second half of a signature has to be.
pub(super) fn is_scalar(limbs: &[u64; 4]) -> bool {
    limbs.iter().rev().lt(ORDER.iter().rev())
}

/// A hash of 64 bytes, little-endian, modulo L.
pub(super) fn reduce(hash: &[u8; 64]) -> [u64; 4] {
    let mut limbs = [0; 8];
    for (limb, bytes) in limbs.iter_mut().zip(hash.as_chunks().0) {
        *limb = u64::from_le_bytes(*bytes);
    }
    remainder(limbs)
}

/// `a b + c` modulo L, for any numbers of 256 bits.
pub(super) fn multiply_add(a: &[u64; 4], b: &[u64; 4], c: &[u64; 4]) -> [u64; 4] {
    let mut sum = [c[0], c[1], c[2], c[3], 0, 0, 0, 0];
    for (i, &a) in a.iter().enumerate() {
        let mut carry = 0;
        for (limb, &b) in sum[i..].iter_mut().zip(b) {
            (*limb, carry) = product(a, b, *limb, carry);
        }
        sum[i + 4] = carry;
    }
    remainder(sum)
}

/// A number modulo L.
#[inline(always)]
fn remainder(number: [u64; 8]) -> [u64; 4] {
    // Less than 2^386, then less than 2^260, then less than 2 L.
    let number: [u64; 7] = fold::<5, 8, 7>(number, ORDER_133);
    let number: [u64; 5] = fold::<3, 7, 5>(number, ORDER_7);
    let number: [u64; 4] = fold::<1, 5, 4>(number, ORDER);
    let mut difference = [0; 4];
    let mut borrow = 0;
    for ((limb, &number), order) in difference.iter_mut().zip(&number).zip(ORDER) {
        (*limb, borrow) = sum(number, 0, order, borrow);
    }
    // All bits if the number was less than L.
    let less = opaque::word(low_word(borrow.cast_unsigned()));
    let mut scalar = [0; 4];
    for ((limb, number), difference) in scalar.iter_mut().zip(number).zip(difference) {
        *limb = difference ^ less & (number ^ difference);
    }
    scalar
}

/// A smaller number with the same remainder: `multiple` of L, plus the low 252 bits, minus c times
/// the bits above, which have `H` limbs.
#[inline(always)]
fn fold<const H: usize, const N: usize, const M: usize>(
    number: [u64; N],
    multiple: [u64; M],
) -> [u64; M] {
    let mut high = [0; H];
    for (i, limb) in high.iter_mut().enumerate() {
        let above = if i + 4 < N { number[i + 4] } else { 0 };
        *limb = number[i + 3] >> 60 | above << 4;
    }
    let mut products = [0; M];
    for (j, c) in C.into_iter().enumerate() {
        let mut carry = 0;
        for (i, &high) in high.iter().enumerate() {
            (products[i + j], carry) = product(c, high, products[i + j], carry);
        }
        products[H + j] = carry;
    }
    let low = [number[0], number[1], number[2], number[3] & (u64::MAX >> 4)];
    let mut result = [0; M];
    let mut carry = 0;
    for (i, limb) in result.iter_mut().enumerate() {
        let low = if i < 4 { low[i] } else { 0 };
        (*limb, carry) = sum(low, multiple[i], products[i], carry);
    }
    result
}

/// The low and the high word of `a b + c + d`.
#[inline(always)]
fn product(a: u64, b: u64, c: u64, d: u64) -> (u64, u64) {
    let sum = u128::from(a) * u128::from(b) + u128::from(c) + u128::from(d);
    (low_word(sum), low_word(sum >> 64))
}

/// The low word of `a + b - c + carry`, and the signed rest.
#[inline(always)]
fn sum(a: u64, b: u64, c: u64, carry: i128) -> (u64, i128) {
    let sum = i128::from(a) + i128::from(b) - i128::from(c) + carry;
    (low_word(sum.cast_unsigned()), sum >> 64)
}

#[expect(clippy::cast_possible_truncation, reason = "the low word is what is asked for")]
const fn low_word(number: u128) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests;
