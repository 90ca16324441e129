//! Long numbers as limbs of 64 bits, lowest first. Constant time in their values; lengths are
//! public.

/// The two halves of a product, low and high.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half, and the upper one")]
pub(super) const fn halves(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

/// All ones if `bit` is 1, zero if it is 0. The compiler does not know which values there are, so
/// it cannot make a branch of them.
#[inline]
pub(super) fn mask(bit: u64) -> u64 {
    0_u64.wrapping_sub(crate::opaque::word(bit))
}

/// All ones if both are the same. Both are below 2^63.
#[inline]
pub(super) fn same(one: u64, other: u64) -> u64 {
    mask((one ^ other).wrapping_sub(1) >> 63)
}

/// Adds `other` to `number`, which is at least as long, and returns the carry.
pub(super) fn add(number: &mut [u64], other: &[u64]) -> u64 {
    let mut carry = 0;
    let (low, high) = number.split_at_mut(other.len());
    for (limb, &other) in low.iter_mut().zip(other) {
        [*limb, carry] = halves(u128::from(*limb) + u128::from(other) + u128::from(carry));
    }
    for limb in high {
        [*limb, carry] = halves(u128::from(*limb) + u128::from(carry));
    }
    carry
}

/// Adds `factor` times `other` to `number`, which has the same length, and returns the carry.
#[inline]
pub(super) fn add_product(number: &mut [u64], other: &[u64], factor: u64) -> u64 {
    let mut carry = 0;
    for (limb, &other) in number.iter_mut().zip(other) {
        let product = u128::from(other) * u128::from(factor);
        [*limb, carry] = halves(product + u128::from(*limb) + u128::from(carry));
    }
    carry
}

/// Twice `number` with `bit` added, and returns the bit that leaves it.
pub(super) fn double(number: &mut [u64], mut bit: u64) -> u64 {
    for limb in number {
        (*limb, bit) = (*limb << 1 | bit, *limb >> 63);
    }
    bit
}

/// The number times 2^`by`, where `out` is long enough for it.
pub(super) fn shifted(number: &[u64], by: usize, out: &mut [u64]) {
    let (limbs, bits) = (by / 64, by % 64);
    out.fill(0);
    let mut below = 0;
    for (out, limb) in out[limbs..].iter_mut().zip(number.iter().copied().chain([0])) {
        // A shift by 64 in two steps.
        *out = limb << bits | below >> 1 >> (63 - bits);
        below = limb;
    }
}

/// 1 if `one` is less than `other`, which has the same length, else 0.
pub(super) fn less(one: &[u64], other: &[u64]) -> u64 {
    one.iter().zip(other).fold(0, |borrow, (&a, &b)| less_with(a, b, borrow).1)
}

/// `a - b - borrow`, and the next borrow.
#[inline]
pub(super) const fn less_with(a: u64, b: u64, borrow: u64) -> (u64, u64) {
    let [difference, high] =
        halves((a as u128).wrapping_sub(b as u128).wrapping_sub(borrow as u128));
    (difference, high & 1)
}

/// Subtracts `modulus` from a number of the same length, above which is the limb `over`, if it is
/// not less.
pub(super) fn reduce_once(number: &mut [u64], over: u64, modulus: &[u64]) {
    let below = less_with(over, 0, less(number, modulus)).1;
    let all = mask(1 ^ below);
    let mut borrow = 0;
    for (limb, &modulus) in number.iter_mut().zip(modulus) {
        (*limb, borrow) = less_with(*limb, modulus & all, borrow);
    }
}

/// A number from bytes, most significant first, of any length.
///
/// Zeros fill the limbs above. Bits above the last limb are left out; returns whether there were
/// none.
#[must_use]
pub fn from_be_bytes(bytes: &[u8], limbs: &mut [u64]) -> bool {
    limbs.fill(0);
    let mut over = 0;
    for (i, &byte) in bytes.iter().rev().enumerate() {
        match limbs.get_mut(i / 8) {
            Some(limb) => *limb |= u64::from(byte) << (8 * (i % 8)),
            None => over |= byte,
        }
    }
    crate::opaque::word(u64::from(over)) == 0
}

/// A number as bytes, most significant first.
///
/// Zeros fill the bytes before it. Bits for which there is no room are left out; returns whether
/// there were none.
#[must_use]
pub fn to_be_bytes(limbs: &[u64], bytes: &mut [u8]) -> bool {
    for (i, byte) in bytes.iter_mut().rev().enumerate() {
        let limb = limbs.get(i / 8).copied().unwrap_or(0);
        *byte = limb.to_le_bytes()[i % 8];
    }
    let mut over = 0;
    for (i, limb) in limbs.iter().enumerate().skip(bytes.len() / 8) {
        let room = bytes.len().saturating_sub(8 * i);
        over |= limb.checked_shr(8 * u32::try_from(room).unwrap_or(8)).unwrap_or(0);
    }
    crate::opaque::word(over) == 0
}

/// The product of two numbers plus a third one, without a modulus.
///
/// `out` has as many limbs as both factors together, and at least as many as the summand. The sum
/// has to fit, which it does if the summand is not longer than one of the factors.
///
/// # Panics
///
/// If `out` has another length.
pub fn multiply_add(one: &[u64], other: &[u64], summand: &[u64], out: &mut [u64]) {
    assert_eq!(out.len(), one.len() + other.len(), "the length of a product");
    multiply(one, other, out);
    let carry = add(out, summand);
    debug_assert_eq!(carry, 0, "the sum fits");
}

/// The product of two numbers, in as many limbs as they have together.
pub(super) fn multiply(one: &[u64], other: &[u64], out: &mut [u64]) {
    out.fill(0);
    for (i, &factor) in other.iter().enumerate() {
        let carry = add_product(&mut out[i..i + one.len()], one, factor);
        out[i + one.len()] = carry;
    }
}

/// The square of a number, in twice as many limbs: products of different limbs once, doubled, and
/// the squares of limbs.
pub(super) fn square(number: &[u64], out: &mut [u64]) {
    let length = number.len();
    out.fill(0);
    for (i, &factor) in number.iter().enumerate() {
        let carry = add_product(&mut out[2 * i + 1..i + length], &number[i + 1..], factor);
        out[i + length] = carry;
    }
    double(out, 0);
    let mut carry = 0;
    for (pair, &limb) in out.as_chunks_mut().0.iter_mut().zip(number) {
        let [low, high] = halves(u128::from(limb) * u128::from(limb));
        let [first, second]: &mut [u64; 2] = pair;
        [*first, carry] = halves(u128::from(*first) + u128::from(low) + u128::from(carry));
        [*second, carry] = halves(u128::from(*second) + u128::from(high) + u128::from(carry));
    }
}

/// `width` bits of a number from bit `at` on, which are fewer at its end. `width` is below 64.
#[inline]
pub(super) fn window(number: &[u64], at: usize, width: u32) -> u64 {
    let limb = |i: usize| number.get(i).copied().unwrap_or(0);
    let pair = u128::from(limb(at / 64)) | u128::from(limb(at / 64 + 1)) << 64;
    let [bits, _] = halves(pair >> (at % 64));
    bits & ((1 << width) - 1)
}
