//! GCM with VAES and VPCLMULQDQ on 256-bit registers, in one pass. Constant time in key and data.
//!
//! As with 128-bit registers, see `aesni`, but with two blocks in each: sixteen blocks a step. The
//! mask of the tag runs beside them in a register of its own. The first step of a long message has
//! fourteen blocks; a message of up to sixteen blocks takes one step and one reduction.

use core::arch::x86_64::{
    __m256i as State, _mm256_aesenc_epi128 as round, _mm256_aesenclast_epi128 as last_round,
    _mm256_xor_si256 as xor, *,
};

use inout::InOutBuf;

use crate::Level;
use crate::aes::RoundKeys;
use crate::gcm::steps::{BEGIN, LAST, STEP, WHOLE};
use crate::gcm::x86_64::aesni as narrow;
use crate::gcm::x86_64::part::{
    first_bytes256 as first_bytes, load_pair as load_part, store_pair as store_part,
};
use crate::gcm::{OPEN, SEAL, lengths, number};
use crate::ghash::x86_64::avx2vaes::{
    Product, WIDTH, absorb, reduce, reversed, reversed as to_number, sum_of,
};
use crate::ghash::{self, POWERS, ROOM};
use crate::simd::{
    self, Block, InRounds, add_halves, load128, load256 as load, of_number, opaque_place, store128,
    store256 as store, turned, xor128,
};

pub(crate) const NEEDS: Level = Level::Avx2Vaes;

/// Pairs in the step that begins a message.
const HEAD: usize = STEP - 1;

steps!(
    __m256i,
    32,
    [1 2 3 4 5 6 7 8],
    _mm256_setzero_si256,
    #[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
);

/// A round key, twice and once.
#[inline]
#[target_feature(enable = "avx2")]
fn round_key(key: &[u8; 16]) -> (__m256i, __m128i) {
    let key = _mm256_broadcastsi128_si256(load128(key));
    (key, _mm256_castsi256_si128(key))
}

/// A message of `V` pairs, of which the last may be a part: its hash, and the mask of the tag.
#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
fn whole<const V: usize, const FROM: usize>(
    keys: &RoundKeys,
    mode: bool,
    powers: &[[u8; 16]; ROOM],
    before: __m128i,
    counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
    lengths: u128,
) -> (__m128i, __m128i) {
    let count = data.len().div_ceil(16);
    let base = base(keys, counter);
    let mask = _mm256_castsi256_si128(pair(base, 1));
    let (stream, mask) = rounds::<V>(keys, keys.middle(), states(base, 2), mask);
    let numbers = add::<V, WHOLE>(mode, stream, data);
    // The associated data come before the message as one more block.
    let power = load128(&powers[POWERS - count - 2]);
    (finish(powers, before, power, &numbers, count, lengths), mask)
}

/// The first pairs of a longer message: the hash, or the input of the next step's hash in `begun`,
/// and the mask of the tag. The associated data and a block of zeros come before the data.
#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
fn head(
    keys: &RoundKeys,
    mode: bool,
    powers: &[[u8; 16]; ROOM],
    before: __m128i,
    counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
    begun: &mut [[u8; 32]; STEP],
) -> (__m128i, __m128i) {
    let base = base(keys, counter);
    let mask = _mm256_castsi256_si128(pair(base, 1));
    let (stream, mask) = rounds::<HEAD>(keys, keys.middle(), states(base, 2), mask);
    let [a, b, c, d, e, f, g] = add::<HEAD, BEGIN>(mode, stream, data);
    let numbers = [_mm256_set_m128i(before, _mm_setzero_si128()), a, b, c, d, e, f, g];
    for (place, number) in begun.iter_mut().zip(numbers) {
        store(place, reversed(number));
    }
    let mut sum = _mm_setzero_si128();
    if mode == OPEN {
        sum = sum_of(reduce(hash(powers, Product::zero(), sum, begun)));
    }
    (sum, mask)
}

/// Sixteen blocks. The hash takes these, if they are the ciphertext, or else the blocks that were
/// sealed before them. Returns it, and the newly sealed blocks.
#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
fn step<'a, K: AsRef<[[u8; 16]]>, const MODE: bool>(
    keys: &RoundKeys,
    middle: &K,
    powers: &[[u8; 16]; ROOM],
    sum: __m128i,
    sealed: &'a [[u8; 32]; STEP],
    counter: __m128i,
    data: InOutBuf<'_, 'a, u8>,
) -> (__m128i, &'a [[u8; 32]; STEP]) {
    let (data, _) = crate::into_blocks::<32>(data);
    let (mut data, _) = data.split_at(STEP);
    let (keys, powers) = (opaque_place(keys), opaque_place(powers));
    let middle = opaque_place(middle).as_ref();
    let stream = states::<STEP>(base(keys, counter), 0);
    let (mut stream, _) = rounds::<STEP>(keys, middle, stream, _mm_setzero_si128());
    let mut products = Product::zero();
    products.in_order(&mut stream);
    let own = data.get_in().first_chunk().unwrap_or(sealed);
    products = hash(powers, products, sum, if MODE == SEAL { sealed } else { own });
    for (x, block) in stream.iter_mut().zip(data.get_in()) {
        *x = xor(*x, load(block));
    }
    for (block, x) in data.get_out().iter_mut().zip(stream) {
        store(block, x);
    }
    (sum_of(reduce(products)), data.into_out().first_chunk().unwrap_or(sealed))
}

/// The last `V` pairs of a longer message, of which the last may be a part: the hash.
#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
fn end<const V: usize>(
    keys: &RoundKeys,
    mode: bool,
    powers: &[[u8; 16]; ROOM],
    (mut sum, sealed): (__m128i, &[[u8; 32]; STEP]),
    counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
    lengths: u128,
) -> __m128i {
    let count = data.len().div_ceil(16);
    let base = base(keys, counter);
    let (stream, _) = rounds::<V>(keys, keys.middle(), states(base, 0), _mm_setzero_si128());
    if mode == SEAL {
        sum = hashed(powers, sum, sealed);
    }
    let numbers = add::<V, LAST>(mode, stream, data);
    let power = load128(&powers[POWERS - count - 1]);
    finish_long(powers, lengths, &numbers, count, sum, power)
}

/// The counter block of a step, twice, and the first round key added to it.
#[inline]
#[target_feature(enable = "avx2")]
fn base(keys: &RoundKeys, counter: __m128i) -> __m256i {
    let base = _mm_xor_si128(load128(keys.first()), turned(counter));
    _mm256_broadcastsi128_si256(base)
}

/// The counter block with that number in a step, and the next.
#[inline]
#[target_feature(enable = "avx2")]
fn pair(base: __m256i, number: u8) -> __m256i {
    let [low, high] = [i64::from(number) << 56, i64::from(number + 1) << 56];
    xor(base, _mm256_set_epi64x(high, 0, low, 0))
}

/// The counter blocks from that number on.
#[inline]
#[target_feature(enable = "avx2")]
fn states<const V: usize>(base: __m256i, from: u8) -> [__m256i; V] {
    let mut states = [base; V];
    for (x, i) in states.iter_mut().zip((from..).step_by(2)) {
        *x = pair(*x, i);
    }
    states
}

/// Adds the products of sixteen blocks. The sum so far is added to the first of them, which comes
/// last because it waits for the sum.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn hash(
    powers: &[[u8; 16]; ROOM],
    mut products: Product,
    sum: __m128i,
    pairs: &[[u8; 32]; STEP],
) -> Product {
    let (powers, _) = powers[POWERS - WIDTH..].as_flattened().as_chunks();
    for (pair, power) in pairs[1..].iter().zip(&powers[1..]) {
        products = products.add(reversed(load(pair)), load(power));
    }
    let first = xor(reversed(load(&pairs[0])), _mm256_zextsi128_si256(sum));
    products.add(first, load(&powers[0]))
}

/// The hash after sixteen blocks that were sealed before the end: one copy for all ends.
#[inline(never)]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn hashed(powers: &[[u8; 16]; ROOM], sum: __m128i, pairs: &[[u8; 32]; STEP]) -> __m128i {
    sum_of(reduce(hash(powers, Product::zero(), sum, pairs)))
}

/// Takes in `before` with its power, the last `count` blocks and the lengths.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn finish(
    powers: &[[u8; 16]; ROOM],
    before: __m128i,
    power: __m128i,
    numbers: &[__m256i],
    count: usize,
    lengths: u128,
) -> __m128i {
    let lengths = load128(&lengths.to_le_bytes());
    let ends = _mm256_set_m128i(lengths, before);
    let mut products =
        Product::zero().add(ends, _mm256_set_m128i(load128(&powers[POWERS - 1]), power));
    // If their number is odd, the second half of the last pair is zero.
    let (powers, _) = powers[POWERS - count - 1..].as_flattened().as_chunks();
    for (x, power) in numbers.iter().zip(powers) {
        products = products.add(*x, load(power));
    }
    sum_of(reduce(products))
}

/// Finishes a longer message: one copy for all counts of pairs.
#[inline(never)]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn finish_long(
    powers: &[[u8; 16]; ROOM],
    // In registers: a load of both halves would wait for their stores.
    lengths: u128,
    numbers: &[__m256i],
    count: usize,
    before: __m128i,
    power: __m128i,
) -> __m128i {
    finish(powers, before, power, numbers, count, lengths)
}
