//! GCM with AES-NI and PCLMULQDQ on 128-bit registers, in one pass. Constant time in key and data.
//!
//! Eight blocks a step, from a counter that is a multiple of eight: the counter block of each is
//! that of the step with a number added to the last byte, one instruction. The first step of a
//! message leaves out the counter of zero, has the mask of the tag at one, and six blocks of data;
//! up to seven blocks take one step. GHASH takes the last block of associated data as one more
//! block before the data, and the lengths as one after them, with the same reduction.
//!
//! A step hashes eight blocks: its own when it decrypts, those of the step before when it encrypts.
//! Neither waits for the rounds, and the processor does both at once.
//!
//! A product takes three multiplications instead of four, because one takes two cycles of Zen 3.
//! The halves of the power are added each time.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::Level;
use crate::aes::RoundKeys;
use crate::gcm::steps::{BEGIN, LAST, STEP, WHOLE};
use crate::gcm::x86_64::aesni as narrow;
use crate::gcm::{OPEN, SEAL, lengths, number};
use crate::ghash::x86_64::aesni::{Product, absorb, multiply, reduce, sum_of_halves};
use crate::ghash::{self, POWERS, ROOM};
use crate::simd::{
    self, Block, InRounds, InRounds as State, add_halves, cut128 as first_bytes, last_round,
    load_part, load128, load128 as load, of_number, opaque_place, reversed, round, store_part,
    store128, store128 as store, turned, turned as to_number, xor128, xor128 as xor,
};

pub(crate) const NEEDS: Level = Level::AesNi;

/// The blocks of data in the step that begins a message.
const HEAD: usize = STEP - 2;

steps!(
    __m128i,
    16,
    [2 3 4 5 6 7],
    _mm_setzero_si128,
    #[target_feature(enable = "aes,pclmulqdq,sse4.1,ssse3")]
);

/// A round key.
#[inline]
#[target_feature(enable = "sse2")]
fn round_key(key: &[u8; 16]) -> (__m128i, __m128i) {
    let key = load128(key);
    (key, key)
}

/// A message of `V` blocks, of which the last may be a part: its hash, and the mask of the tag.
#[inline]
#[target_feature(enable = "aes,pclmulqdq,sse4.1,ssse3")]
pub(crate) fn whole<const V: usize, const FROM: usize>(
    keys: &RoundKeys,
    mode: bool,
    powers: &[[u8; 16]; ROOM],
    before: __m128i,
    counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
    lengths: u128,
) -> (__m128i, __m128i) {
    let base = base(keys, counter);
    let (stream, mask) = rounds::<V>(keys, keys.middle(), states(base, 2), block(base, 1));
    let numbers = add::<V, WHOLE>(mode, stream, data);
    // The associated data come before as one more block.
    // With both and the lengths, seven blocks are more than powers.
    let at_once = V + 2 <= STEP;
    let power = &powers[POWERS - V - 1 - usize::from(at_once)];
    let products = add_product(Product::zero(), before, power);
    (finish(powers, products, &numbers, lengths, at_once), mask)
}

/// The first six blocks of a longer message: the hash, or the input of the next step's hash in
/// `begun`, and the mask of the tag. The associated data and a block of zeros come before the data.
#[inline]
#[target_feature(enable = "aes,pclmulqdq,sse4.1,ssse3")]
fn head(
    keys: &RoundKeys,
    mode: bool,
    powers: &[[u8; 16]; ROOM],
    before: __m128i,
    counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
    begun: &mut [[u8; 16]; STEP],
) -> (__m128i, __m128i) {
    let base = base(keys, counter);
    let (stream, mask) = rounds::<HEAD>(keys, keys.middle(), states(base, 2), block(base, 1));
    let [a, b, c, d, e, f] = add::<HEAD, BEGIN>(mode, stream, data);
    let numbers = [_mm_setzero_si128(), before, a, b, c, d, e, f];
    for (place, number) in begun.iter_mut().zip(numbers) {
        store128(place, reversed(number));
    }
    let mut sum = _mm_setzero_si128();
    if mode == OPEN {
        sum = reduce(hash(powers, Product::zero(), sum, begun));
    }
    (sum, mask)
}

/// Eight blocks. The hash takes these, if they are the ciphertext, or else the blocks that were
/// sealed before them. Returns it, and the newly sealed blocks.
#[inline]
#[target_feature(enable = "aes,pclmulqdq,sse4.1,ssse3")]
fn step<'a, K: AsRef<[[u8; 16]]>, const MODE: bool>(
    keys: &RoundKeys,
    middle: &K,
    powers: &[[u8; 16]; ROOM],
    sum: __m128i,
    sealed: &'a [[u8; 16]; STEP],
    counter: __m128i,
    data: InOutBuf<'_, 'a, u8>,
) -> (__m128i, &'a [[u8; 16]; STEP]) {
    let (data, _) = crate::into_blocks::<16>(data);
    let (mut data, _) = data.split_at(STEP);
    let (keys, powers) = (opaque_place(keys), opaque_place(powers));
    let middle = opaque_place(middle).as_ref();
    let mut stream = states::<STEP>(base(keys, counter), 0);
    let mut products = Product::zero();
    // Input that is ciphertext is hashed before the rounds, newly sealed blocks after them, so that
    // nothing keeps the processor from one while it waits for the other.
    if let (OPEN, Some(blocks)) = (MODE, data.get_in().first_chunk()) {
        products = hash(powers, products, sum, blocks);
        products.in_order(&mut stream);
    }
    (stream, _) = rounds::<STEP>(keys, middle, stream, _mm_setzero_si128());
    if MODE == SEAL {
        products.in_order(&mut stream);
        products = hash(powers, products, sum, sealed);
    }
    for (x, block) in stream.iter_mut().zip(data.get_in()) {
        *x = _mm_xor_si128(*x, load128(block));
    }
    for (block, x) in data.get_out().iter_mut().zip(stream) {
        store128(block, x);
    }
    (reduce(products), data.into_out().first_chunk().unwrap_or(sealed))
}

/// The last `V` blocks of a longer message, of which the last may be a part: the hash.
#[inline]
#[target_feature(enable = "aes,pclmulqdq,sse4.1,ssse3")]
fn end<const V: usize>(
    keys: &RoundKeys,
    mode: bool,
    powers: &[[u8; 16]; ROOM],
    (mut sum, sealed): (__m128i, &[[u8; 16]; STEP]),
    counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
    lengths: u128,
) -> __m128i {
    let base = base(keys, counter);
    let (stream, _) = rounds::<V>(keys, keys.middle(), states(base, 0), base);
    if mode == SEAL {
        sum = hashed(powers, sum, sealed);
    }
    let mut numbers = add::<V, LAST>(mode, stream, data);
    numbers[0] = _mm_xor_si128(numbers[0], sum);
    finish_long(powers, &numbers, lengths)
}

/// The counter block of a step, and the first round key added to it.
#[inline]
#[target_feature(enable = "sse4.1,ssse3")]
fn base(keys: &RoundKeys, counter: __m128i) -> __m128i {
    _mm_xor_si128(load128(keys.first()), reversed(counter))
}

/// The counter block with that number in a step.
#[inline]
#[target_feature(enable = "sse2")]
fn block(base: __m128i, number: u8) -> __m128i {
    _mm_xor_si128(base, _mm_set_epi64x(i64::from(number) << 56, 0))
}

/// The counter blocks from that number on.
#[inline]
#[target_feature(enable = "sse2")]
fn states<const V: usize>(base: __m128i, from: u8) -> [__m128i; V] {
    let mut states = [base; V];
    for (x, i) in states.iter_mut().zip(from..) {
        *x = block(*x, i);
    }
    states
}

/// Adds the products of eight blocks. The sum so far is added to the first of them, which comes
/// last because it waits for the sum.
#[inline]
#[target_feature(enable = "pclmulqdq,sse4.1,ssse3")]
fn hash(
    powers: &[[u8; 16]; ROOM],
    mut products: Product,
    sum: __m128i,
    blocks: &[[u8; 16]; STEP],
) -> Product {
    let powers = &powers[POWERS - STEP..];
    for (block, power) in blocks[1..].iter().zip(&powers[1..]) {
        products = add_product(products, reversed(load128(block)), power);
    }
    let first = _mm_xor_si128(reversed(load128(&blocks[0])), sum);
    add_product(products, first, &powers[0]).completed()
}

/// Adds the product of a number and a power.
#[inline]
#[target_feature(enable = "pclmulqdq,sse2")]
fn add_product(products: Product, x: __m128i, power: &[u8; 16]) -> Product {
    let power = load128(power);
    products.add_by_three(x, power, sum_of_halves(power))
}

/// The hash after eight blocks that were sealed before the end: one copy for all ends.
#[inline(never)]
#[target_feature(enable = "pclmulqdq,sse4.1,ssse3")]
fn hashed(powers: &[[u8; 16]; ROOM], sum: __m128i, blocks: &[[u8; 16]; STEP]) -> __m128i {
    reduce(hash(powers, Product::zero(), sum, blocks))
}

/// Hashes the last blocks and the lengths: with one reduction, or with two if there are more blocks
/// than powers.
#[inline]
#[target_feature(enable = "pclmulqdq,sse4.1,ssse3")]
fn finish(
    powers: &[[u8; 16]; ROOM],
    mut products: Product,
    numbers: &[__m128i],
    lengths: u128,
    at_once: bool,
) -> __m128i {
    let lengths = load128(&lengths.to_le_bytes());
    let last = &powers[POWERS - 1];
    let powers = &powers[POWERS - numbers.len() - usize::from(at_once)..];
    for (x, power) in numbers.iter().zip(powers) {
        products = add_product(products, *x, power);
    }
    if at_once {
        return reduce(add_product(products, lengths, last).completed());
    }
    let sum = reduce(products.completed());
    reduce(multiply(_mm_xor_si128(sum, lengths), load128(last)))
}

/// Finishes a longer message: one copy for all counts of blocks.
#[inline(never)]
#[target_feature(enable = "pclmulqdq,sse4.1,ssse3")]
fn finish_long(powers: &[[u8; 16]; ROOM], numbers: &[__m128i], lengths: u128) -> __m128i {
    finish(powers, Product::zero(), numbers, lengths, numbers.len() < STEP)
}
