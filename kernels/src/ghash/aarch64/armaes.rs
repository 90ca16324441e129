//! GHASH with PMULL: eight blocks, then one reduction. Constant time in key and data.

use core::arch::aarch64::*;

use crate::Level;
use crate::ghash::portable::divided_by_x;
use crate::ghash::{FOLD, POWERS, ROOM};
use crate::simd::{load128, store128};

pub(crate) const NEEDS: Level = Level::ArmAes;

/// The blocks that share a reduction.
const WIDTH: usize = 8;

/// The lowest eight powers of `h`.
#[target_feature(enable = "aes")]
pub(crate) fn fill(powers: &mut [[u8; 16]; ROOM], h: &[u8; 16]) {
    let h = load128(&divided_by_x(u128::from_be_bytes(*h)).to_le_bytes());
    let mut power = h;
    for place in powers[..POWERS].iter_mut().rev().take(WIDTH) {
        store128(place, power);
        power = reduce(multiply(power, h));
    }
}

#[target_feature(enable = "aes")]
pub(crate) fn absorb(powers: &[[u8; 16]; ROOM], state: &mut [u8; 16], blocks: &[[u8; 16]]) {
    let mut sum = reversed(load128(state));
    for part in blocks.chunks(WIDTH) {
        let mut before = sum;
        let mut products = [vdupq_n_u8(0); 3];
        for (block, power) in part.iter().zip(&powers[POWERS - part.len()..]) {
            let block = veorq_u8(reversed(load128(block)), before);
            let product = multiply(block, load128(power));
            for (sum, part) in products.iter_mut().zip(product) {
                *sum = veorq_u8(*sum, part);
            }
            before = vdupq_n_u8(0);
        }
        sum = reduce(products);
    }
    store128(state, reversed(sum));
}

/// A product of 256 bits in three parts of 128, the lowest first, each half a part above the one
/// before.
#[inline]
#[target_feature(enable = "aes")]
fn multiply(a: uint8x16_t, b: uint8x16_t) -> [uint8x16_t; 3] {
    let exchanged = vextq_u8::<8>(b, b);
    let middle = veorq_u8(low(a, exchanged), high(a, exchanged));
    [low(a, b), middle, high(a, b)]
}

/// The product of the lower words.
#[inline]
#[target_feature(enable = "aes")]
fn low(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    let word = |v| vgetq_lane_p64::<0>(vreinterpretq_p64_u8(v));
    vreinterpretq_u8_p128(vmull_p64(word(a), word(b)))
}

/// The product of the upper words.
#[inline]
#[target_feature(enable = "aes")]
fn high(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_p128(vmull_high_p64(vreinterpretq_p64_u8(a), vreinterpretq_p64_u8(b)))
}

/// Each of two steps folds the lowest word into the part above: the word itself, which the exchange
/// of the words puts in its place, and its product with x^7 + x^2 + x.
#[inline]
#[target_feature(enable = "aes")]
fn reduce([lowest, middle, highest]: [uint8x16_t; 3]) -> uint8x16_t {
    let middle = veorq_u8(middle, fold(lowest));
    veorq_u8(highest, fold(middle))
}

#[inline]
#[target_feature(enable = "aes")]
fn fold(x: uint8x16_t) -> uint8x16_t {
    veorq_u8(vextq_u8::<8>(x, x), low(x, vreinterpretq_u8_u64(vdupq_n_u64(FOLD))))
}

/// A block as a number, or the other way round.
#[inline]
#[target_feature(enable = "neon")]
fn reversed(block: uint8x16_t) -> uint8x16_t {
    let words = vrev64q_u8(block);
    vextq_u8::<8>(words, words)
}
