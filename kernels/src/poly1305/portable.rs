//! One block after the other; the specification.
//!
//! Numbers have two words of 64 bits and a third one of a few bits. The overflow past 2^130 comes
//! back five-fold into the lowest word, since 2^130 is 5 modulo 2^130 − 5. The upper word of the
//! point is a multiple of 4, so its products of the weight 2^128 are multiples of 2^130.

use super::State;

/// Reads the secret point, and clears its forbidden bits.
#[inline]
pub(super) fn point(bytes: &[u8; 16]) -> [u64; 2] {
    words(u128::from_le_bytes(*bytes) & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff)
}

/// Absorbs whole blocks, with 2^128 added to each, one past its highest bit.
#[inline]
pub(super) fn absorb(state: &mut State, blocks: &[[u8; 16]]) {
    let mut h = state.h;
    for block in blocks {
        h = step(h, u128::from_le_bytes(*block), 1, state.r);
    }
    state.h = h;
}

/// Absorbs a block that is a number already, and `top` as its bits from 2^128 on.
#[inline]
pub(super) fn absorb_one(state: &mut State, block: u128, top: u64) {
    state.h = step(state.h, block, top, state.r);
}

/// Adds a block, and `top` to the highest word, and multiplies by the point.
///
/// The highest word may have 63 bits, before and after. It is folded here, not at the end of the
/// previous step, because it is ready last: meanwhile the block is added to the others.
#[inline]
pub(super) fn step([h0, h1, h2]: [u64; 3], block: u128, top: u64, [r0, r1]: [u64; 2]) -> [u64; 3] {
    let (sum, carry) = joined([h0, h1]).overflowing_add(block);
    let [h0, h1] = words(sum);
    let [h0, h1, h2] = folded([h0, h1, h2]);
    // At most 6, because the highest word is at most 4 after folding.
    let h2 = h2 + top + u64::from(carry);

    let r1_over = r1 + (r1 >> 2);
    let d0 = wide(h0, r0) + wide(h1, r1_over);
    let d1 = wide(h0, r1) + wide(h1, r0) + u128::from(h2 * r1_over);
    let [d0, carry] = words(d0);
    let [d1, carry] = words(d1 + u128::from(carry));
    [d0, d1, h2 * r0 + carry]
}

/// The square of the point.
#[inline]
#[cfg(feature = "isa-avx512")]
pub(super) fn squared(r: [u64; 2]) -> [u64; 3] {
    step([r[0], r[1], 0], 0, 0, r)
}

/// Folds the overflow past 2^130 of a number whose highest word has at most 63 bits; that word is
/// then at most 4.
#[inline]
pub(super) fn folded([h0, h1, h2]: [u64; 3]) -> [u64; 3] {
    let five_fold = (h2 >> 2) + (h2 & !3);
    let (low, carry) = joined([h0, h1]).overflowing_add(u128::from(five_fold));
    let [h0, h1] = words(low);
    [h0, h1, (h2 & 3) + u64::from(carry)]
}

/// The sum of two values, folded.
#[inline]
pub(super) fn plus(a: [u64; 3], b: [u64; 3]) -> [u64; 3] {
    let ([a0, a1, a2], [b0, b1, b2]) = (folded(a), folded(b));
    let (low, carry) = joined([a0, a1]).overflowing_add(joined([b0, b1]));
    let [low, high] = words(low);
    [low, high, a2 + b2 + u64::from(carry)]
}

/// The difference of two values, folded.
#[inline]
pub(super) fn minus(a: [u64; 3], b: [u64; 3]) -> [u64; 3] {
    // Eight times 2^130 - 5, more than any value that is folded.
    const MANY: (u128, u64) = (u128::MAX - 39, 31);
    let ([a0, a1, a2], [b0, b1, b2]) = (folded(a), folded(b));
    let (low, borrow) = MANY.0.overflowing_sub(joined([b0, b1]));
    let top = MANY.1 - b2 - u64::from(borrow);
    let (low, carry) = low.overflowing_add(joined([a0, a1]));
    let [low, high] = words(low);
    folded([low, high, a2 + top + u64::from(carry)])
}

/// The tag: the value, less 2^130 − 5 if it is not smaller, plus the pad, modulo 2^128.
#[inline]
pub(super) fn tag(h: [u64; 3], pad: &[u8; 16]) -> [u8; 16] {
    let [h0, h1, h2] = folded(h);
    let value = joined([h0, h1]);
    // With 5 added, it reaches 2^130 exactly if it is not smaller than 2^130 - 5.
    let (less, carry) = value.overflowing_add(5);
    let choose_less = 0u128.wrapping_sub(u128::from((h2 + u64::from(carry)) >> 2));
    let value = (value & !choose_less) | (less & choose_less);
    value.wrapping_add(u128::from_le_bytes(*pad)).to_le_bytes()
}

#[inline]
pub(super) fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

#[inline]
pub(super) fn joined([low, high]: [u64; 2]) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

/// The low and the high word.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
pub(super) fn words(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}
