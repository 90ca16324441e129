//! GCM with VAES and VPCLMULQDQ on 256-bit registers, in one pass. Constant time in key and data.
//!
//! As with 128-bit registers, see `aesni`, but with two blocks in each: sixteen blocks a step. The
//! mask of the tag runs beside them in a register of its own. The first step of a long message has
//! fourteen blocks; a message of up to sixteen blocks takes one step and one reduction.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::Level;
use crate::gcm::x86_64::aesni::{self, BEGIN, LAST, WHOLE};
use crate::gcm::x86_64::part::{first_bytes256, load_pair, load_part, store_pair};
use crate::gcm::{OPEN, SEAL, lengths, number};
use crate::ghash::x86_64::avx2vaes::{self, Product, WIDTH, reduce, reversed, sum_of};
use crate::ghash::{self, POWERS, ROOM};
use crate::isa::Way;
use crate::simd::{load128, load256, opaque_place, store128, store256};

pub(crate) const NEEDS: Level = Level::Avx2Vaes;

/// Pairs of blocks in a step.
const PAIRS: usize = WIDTH / 2;

/// Pairs in the step that begins a message.
const HEAD: usize = PAIRS - 1;

#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
pub(crate) fn run<const N: usize, const WAY: bool>(
    hash: &ghash::Key,
    keys: &[[u8; 16]; N],
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    _: Way<WAY>,
) -> [u8; 16] {
    one_pass::<N, WAY>(keys, hash.powers(), first, aad, data)
}

#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
fn one_pass<const N: usize, const WAY: bool>(
    keys: &[[u8; 16]; N],
    powers: &[[u8; 16]; ROOM],
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let mut data = data;
    let lengths = lengths(aad.len() as u64, data.len() as u64);
    let before = associated(powers, aad);
    let mut counter = load128(&(first ^ 1).to_le_bytes());

    let (sum, mask) = match data.len().div_ceil(32) {
        0 => aesni::whole::<N, 0, WAY>(keys, powers, before, counter, data, lengths),
        1 if data.len() <= 16 => {
            aesni::whole::<N, 1, WAY>(keys, powers, before, counter, data, lengths)
        }
        1 => whole::<N, 1, WAY>(keys, powers, before, counter, data, lengths),
        2 => whole::<N, 2, WAY>(keys, powers, before, counter, data, lengths),
        3 => whole::<N, 3, WAY>(keys, powers, before, counter, data, lengths),
        4 => whole::<N, 4, WAY>(keys, powers, before, counter, data, lengths),
        5 => whole::<N, 5, WAY>(keys, powers, before, counter, data, lengths),
        6 => whole::<N, 6, WAY>(keys, powers, before, counter, data, lengths),
        7 => whole::<N, 7, WAY>(keys, powers, before, counter, data, lengths),
        8 => whole::<N, 8, WAY>(keys, powers, before, counter, data, lengths),
        _ => {
            let (part, rest) = data.split_at(32 * HEAD);
            data = rest;
            let mut begun = [[0; 32]; PAIRS];
            let (mut sum, mask) = head::<N, WAY>(keys, powers, before, counter, part, &mut begun);
            let mut sealed = &begun;
            while data.len() > 16 * WIDTH {
                let (part, rest) = data.split_at(16 * WIDTH);
                data = rest;
                counter = _mm_add_epi64(counter, _mm_set_epi64x(0, 16));
                (sum, sealed) = step::<N, WAY>(keys, powers, sum, sealed, counter, part);
            }
            counter = _mm_add_epi64(counter, _mm_set_epi64x(0, 16));
            let sum = match data.len().div_ceil(32) {
                1 => end::<N, 1, WAY>(keys, powers, sum, sealed, counter, data, lengths),
                2 => end::<N, 2, WAY>(keys, powers, sum, sealed, counter, data, lengths),
                3 => end::<N, 3, WAY>(keys, powers, sum, sealed, counter, data, lengths),
                4 => end::<N, 4, WAY>(keys, powers, sum, sealed, counter, data, lengths),
                5 => end::<N, 5, WAY>(keys, powers, sum, sealed, counter, data, lengths),
                6 => end::<N, 6, WAY>(keys, powers, sum, sealed, counter, data, lengths),
                7 => end::<N, 7, WAY>(keys, powers, sum, sealed, counter, data, lengths),
                _ => end::<N, 8, WAY>(keys, powers, sum, sealed, counter, data, lengths),
            };
            (sum, mask)
        }
    };
    let mut tag = [0; 16];
    store128(&mut tag, _mm_xor_si128(ghash::x86_64::aesni::reversed(sum), mask));
    tag
}

/// The hash before the last block of associated data, and that block added.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
fn associated(powers: &[[u8; 16]; ROOM], aad: &[u8]) -> __m128i {
    if aad.len() <= 16 {
        return load128(&number(aad).to_le_bytes());
    }
    let (before, last) = aad.split_at((aad.len() - 1) / 16 * 16);
    let mut sum = [0; 16];
    avx2vaes::absorb(powers, &mut sum, before.as_chunks().0);
    ghash::x86_64::aesni::reversed(_mm_xor_si128(load128(&sum), load_part(last)))
}

/// A message of `V` pairs, of which the last may be a part: its hash, and the mask of the tag.
#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
fn whole<const N: usize, const V: usize, const WAY: bool>(
    keys: &[[u8; 16]; N],
    powers: &[[u8; 16]; ROOM],
    before: __m128i,
    counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
    lengths: u128,
) -> (__m128i, __m128i) {
    let count = data.len().div_ceil(16);
    let base = base(keys, counter);
    let mask = _mm256_castsi256_si128(pair(base, 1));
    let (stream, mask) = rounds::<N, V>(keys, states(base, 2), mask);
    let numbers = add::<N, V, WAY, WHOLE>(stream, data);
    // The associated data come before the message as one more block.
    let power = load128(&powers[POWERS - count - 2]);
    (finish(powers, before, power, numbers, count, lengths), mask)
}

/// The first pairs of a longer message: the hash, or the input of the next step's hash in `begun`,
/// and the mask of the tag. The associated data and a block of zeros come before the data.
#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
fn head<const N: usize, const WAY: bool>(
    keys: &[[u8; 16]; N],
    powers: &[[u8; 16]; ROOM],
    before: __m128i,
    counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
    begun: &mut [[u8; 32]; PAIRS],
) -> (__m128i, __m128i) {
    let base = base(keys, counter);
    let mask = _mm256_castsi256_si128(pair(base, 1));
    let (stream, mask) = rounds::<N, HEAD>(keys, states(base, 2), mask);
    let [a, b, c, d, e, f, g] = add::<N, HEAD, WAY, BEGIN>(stream, data);
    let numbers = [_mm256_set_m128i(before, _mm_setzero_si128()), a, b, c, d, e, f, g];
    for (place, number) in begun.iter_mut().zip(numbers) {
        store256(place, reversed(number));
    }
    let mut sum = _mm_setzero_si128();
    if WAY == OPEN {
        sum = sum_of(reduce(hash(powers, Product::zero(), sum, begun)));
    }
    (sum, mask)
}

/// Sixteen blocks. The hash takes these, if they are the ciphertext, or else the blocks that were
/// sealed before them. Returns it, and the newly sealed blocks.
#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
fn step<'a, const N: usize, const WAY: bool>(
    keys: &[[u8; 16]; N],
    powers: &[[u8; 16]; ROOM],
    sum: __m128i,
    sealed: &'a [[u8; 32]; PAIRS],
    counter: __m128i,
    data: InOutBuf<'_, 'a, u8>,
) -> (__m128i, &'a [[u8; 32]; PAIRS]) {
    let (data, _) = crate::into_blocks::<32>(data);
    let (mut data, _) = data.split_at(PAIRS);
    let (keys, powers) = (opaque_place(keys), opaque_place(powers));
    let stream = states::<PAIRS>(base(keys, counter), 0);
    let (mut stream, _) = rounds::<N, PAIRS>(keys, stream, _mm_setzero_si128());
    let mut products = Product::zero();
    products.in_order(&mut stream);
    let own = data.get_in().first_chunk().unwrap_or(sealed);
    products = hash(powers, products, sum, if WAY == SEAL { sealed } else { own });
    for (x, block) in stream.iter_mut().zip(data.get_in()) {
        *x = _mm256_xor_si256(*x, load256(block));
    }
    for (block, x) in data.get_out().iter_mut().zip(stream) {
        store256(block, x);
    }
    (sum_of(reduce(products)), data.into_out().first_chunk().unwrap_or(sealed))
}

/// The last `V` pairs of a longer message, of which the last may be a part: the hash.
#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq,aes,pclmulqdq")]
fn end<const N: usize, const V: usize, const WAY: bool>(
    keys: &[[u8; 16]; N],
    powers: &[[u8; 16]; ROOM],
    mut sum: __m128i,
    sealed: &[[u8; 32]; PAIRS],
    counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
    lengths: u128,
) -> __m128i {
    let count = data.len().div_ceil(16);
    let base = base(keys, counter);
    let (stream, _) = rounds::<N, V>(keys, states(base, 0), _mm_setzero_si128());
    if WAY == SEAL {
        sum = sum_of(reduce(hash(powers, Product::zero(), sum, sealed)));
    }
    let numbers = add::<N, V, WAY, LAST>(stream, data);
    let power = load128(&powers[POWERS - count - 1]);
    finish(powers, sum, power, numbers, count, lengths)
}

/// The counter block of a step, twice, and the first round key added to it.
#[inline]
#[target_feature(enable = "avx2")]
fn base<const N: usize>(keys: &[[u8; 16]; N], counter: __m128i) -> __m256i {
    let base = _mm_xor_si128(load128(&keys[0]), ghash::x86_64::aesni::reversed(counter));
    _mm256_broadcastsi128_si256(base)
}

/// The counter block with that number in a step, and the next.
#[inline]
#[target_feature(enable = "avx2")]
fn pair(base: __m256i, number: u8) -> __m256i {
    let [low, high] = [i64::from(number) << 56, i64::from(number + 1) << 56];
    _mm256_xor_si256(base, _mm256_set_epi64x(high, 0, low, 0))
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

#[inline]
#[target_feature(enable = "avx2")]
fn broadcast(block: &[u8; 16]) -> __m256i {
    _mm256_broadcastsi128_si256(load128(block))
}

/// All rounds, on states to which the first round key has been added.
#[inline]
#[target_feature(enable = "avx2,vaes,aes")]
fn rounds<const N: usize, const V: usize>(
    keys: &[[u8; 16]; N],
    mut state: [__m256i; V],
    mut mask: __m128i,
) -> ([__m256i; V], __m128i) {
    for key in &keys[1..N - 1] {
        let key = broadcast(key);
        mask = _mm_aesenc_si128(mask, _mm256_castsi256_si128(key));
        for x in &mut state {
            *x = _mm256_aesenc_epi128(*x, key);
        }
    }
    let key = broadcast(&keys[N - 1]);
    for x in &mut state {
        *x = _mm256_aesenclast_epi128(*x, key);
    }
    (state, _mm_aesenclast_si128(mask, _mm256_castsi256_si128(key)))
}

/// Adds the keystream to `V` pairs, of which the last may be a part. Returns the ciphertext as
/// numbers, with zeros where there is none.
#[inline]
#[target_feature(enable = "avx2,sse4.1")]
fn add<const N: usize, const V: usize, const WAY: bool, const PLACE: u8>(
    mut stream: [__m256i; V],
    data: InOutBuf<'_, '_, u8>,
) -> [__m256i; V] {
    if V == 0 {
        return stream;
    }
    let (mut whole, mut last) = data.split_at(32 * (V - 1));
    let mut text = [_mm256_setzero_si256(); V];
    for (x, pair) in text.iter_mut().zip(whole.get_in().as_chunks().0) {
        *x = load256(pair);
    }
    text[V - 1] = load_pair(last.get_in());
    for (x, text) in stream.iter_mut().zip(text) {
        *x = _mm256_xor_si256(*x, text);
    }
    for (pair, x) in whole.get_out().as_chunks_mut().0.iter_mut().zip(stream) {
        store256(pair, x);
    }
    store_pair(last.get_out(), stream[V - 1]);
    if WAY == SEAL {
        text = stream;
        text[V - 1] = first_bytes256(text[V - 1], last.len());
    }
    for x in &mut text {
        *x = reversed(*x);
    }
    text
}

/// Adds the products of sixteen blocks. The sum so far is added to the first of them, which comes
/// last because it waits for the sum.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn hash(
    powers: &[[u8; 16]; ROOM],
    mut products: Product,
    sum: __m128i,
    pairs: &[[u8; 32]; PAIRS],
) -> Product {
    let (powers, _) = powers[POWERS - WIDTH..].as_flattened().as_chunks();
    for (pair, power) in pairs[1..].iter().zip(&powers[1..]) {
        products = products.add(reversed(load256(pair)), load256(power));
    }
    let first = _mm256_xor_si256(reversed(load256(&pairs[0])), _mm256_zextsi128_si256(sum));
    products.add(first, load256(&powers[0]))
}

/// Takes in `before` with its power, the last `count` blocks and the lengths.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn finish<const V: usize>(
    powers: &[[u8; 16]; ROOM],
    before: __m128i,
    power: __m128i,
    numbers: [__m256i; V],
    count: usize,
    lengths: u128,
) -> __m128i {
    let lengths = load128(&lengths.to_le_bytes());
    let ends = _mm256_set_m128i(lengths, before);
    let mut products =
        Product::zero().add(ends, _mm256_set_m128i(load128(&powers[POWERS - 1]), power));
    // If their number is odd, the second half of the last pair is zero.
    let (powers, _) = powers[POWERS - count - 1..].as_flattened().as_chunks();
    for (x, power) in numbers.into_iter().zip(powers) {
        products = products.add(x, load256(power));
    }
    sum_of(reduce(products))
}
