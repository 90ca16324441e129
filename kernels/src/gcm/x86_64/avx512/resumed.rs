//! Messages that go on, with 512-bit registers in one pass. Constant time in key and data.
//!
//! The functions are not those for whole messages: what is called from more places is compiled in
//! another way, and whole messages would pay for it.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{FIRST, LONGEST, NEXT, beside, numbered};
use crate::aes::RoundKeys;
use crate::aes::x86_64::avx512::{broadcast, first};
use crate::gcm::message::counted;
use crate::gcm::{OPEN, SEAL};
use crate::ghash::x86_64::aesni;
use crate::ghash::x86_64::avx512::{
    WIDTH, hash_lanes, hash_part, product_of, products_of, reversed,
};
use crate::ghash::{self, POWERS, ROOM};
use crate::isa::Mode;
use crate::simd::{first_bytes, load128, load512, load512_part, store128, store512, store512_part};

/// What comes after `done` bytes of data, whose message has this tag so far: the new tag. `lengths`
/// are the last blocks that are hashed, without these data and with them. There is at least one
/// byte.
///
/// If `done` is no multiple of a block, the first block has been hashed with zeros where these data
/// begin; they are added, times its power.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi2,vaes,vpclmulqdq,pclmulqdq"
)]
#[expect(clippy::too_many_arguments, reason = "what a message consists of")]
pub(crate) fn more<const MODE: bool>(
    hash: &ghash::Key,
    keys: &RoundKeys,
    first: u128,
    tag: &[u8; 16],
    done: u64,
    lengths: [u128; 2],
    data: InOutBuf<'_, '_, u8>,
    _: Mode<MODE>,
) -> [u8; 16] {
    let powers = hash.powers();
    let at = (done % 16) as usize;
    let next = load128(&counted(first, 1 + done / 16).to_le_bytes());
    let mut counters = numbered(next, 0);
    let first = aesni::reversed(load128(&first.to_le_bytes()));
    let mut mask = _mm_xor_si128(first, load128(keys.first()));
    let (counters, mask) = (&mut counters, &mut mask);
    let tag = load128(tag);
    let [before, after] = lengths.map(|lengths| load128(&lengths.to_le_bytes()));

    let blocks = (at + data.len()).div_ceil(16);
    let new = blocks - usize::from(at > 0);
    let (sum, mask) = if blocks <= LONGEST {
        let sum = match blocks.div_ceil(4) {
            0 | 1 => last::<1, MODE>(keys, powers, counters, mask, data, at, tag, [before, after]),
            2 => last::<2, MODE>(keys, powers, counters, mask, data, at, tag, [before, after]),
            3 => last::<3, MODE>(keys, powers, counters, mask, data, at, tag, [before, after]),
            4 => last::<4, MODE>(keys, powers, counters, mask, data, at, tag, [before, after]),
            _ => last::<5, MODE>(keys, powers, counters, mask, data, at, tag, [before, after]),
        };
        // Without a new block, the mask has stayed in the tag.
        (sum, if new == 0 { tag } else { *mask })
    } else {
        let (part, rest) = data.split_at(16 * WIDTH - at);
        let numbers = from::<4, MODE, FIRST>(keys, counters, mask, part, at);
        let new = WIDTH - usize::from(at > 0);
        let none = _mm512_setzero_si512();
        let unmasked = aesni::reversed(_mm_xor_si128(tag, *mask));
        // One power less than at the end: the hash in progress.
        let others = products_of(powers, [unmasked, before], [new - 1, new]);
        let sum = hash_part(powers, none, numbers, WIDTH, others);
        (long::<MODE>(keys, powers, counters, mask, rest, sum, after), *mask)
    };
    let mut tag = [0; 16];
    store128(&mut tag, _mm_xor_si128(aesni::reversed(sum), mask));
    tag
}

/// More data of at most 18 blocks, with the lengths after them: the hash.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi2,vaes,vpclmulqdq,pclmulqdq"
)]
#[expect(clippy::too_many_arguments, reason = "what a message consists of")]
fn last<const V: usize, const MODE: bool>(
    keys: &RoundKeys,
    powers: &[[u8; 16]; ROOM],
    counters: &mut __m512i,
    mask: &mut __m128i,
    data: InOutBuf<'_, '_, u8>,
    at: usize,
    tag: __m128i,
    [before, after]: [__m128i; 2],
) -> __m128i {
    let blocks = (at + data.len()).div_ceil(16);
    let new = blocks - usize::from(at > 0);
    let numbers = from::<V, MODE, FIRST>(keys, counters, mask, data, at);
    let others = if new == 0 {
        product_of(powers, _mm_xor_si128(before, after), 1)
    } else {
        let unmasked = aesni::reversed(_mm_xor_si128(tag, *mask));
        let others = products_of(powers, [unmasked, before], [new, new + 1]);
        let h = _mm512_zextsi128_si512(load128(&powers[POWERS - 1]));
        others.add(_mm512_zextsi128_si512(after), h)
    };
    hash_part(powers, _mm512_setzero_si512(), numbers, blocks + 1, others)
}

/// Encrypts or decrypts data from byte `at` of the first block on, in `V` registers of blocks, and
/// `mask`. Returns the ciphertext as numbers, with zeros around it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,vaes")]
fn from<const V: usize, const MODE: bool, const PLACE: bool>(
    keys: &RoundKeys,
    counters: &mut __m512i,
    mask: &mut __m128i,
    data: InOutBuf<'_, '_, u8>,
    at: usize,
) -> [__m512i; V] {
    let length = data.len().min(64 - at);
    let (mut front, mut others) = data.split_at(length);
    let lanes = first_bytes(length) << at;
    let mut text = [_mm512_setzero_si512(); V];
    text[0] = _mm512_maskz_expand_epi8(lanes, load512_part(front.get_in()));
    for (x, part) in text[1..].iter_mut().zip(others.get_in().chunks(64)) {
        *x = load512_part(part);
    }
    let start = first::<V>(broadcast(keys.first()), counters);
    let mut out = beside::<V, MODE, PLACE>(keys, keys.middle(), start, mask);
    for (x, text) in out.iter_mut().zip(text) {
        *x = _mm512_xor_si512(*x, text);
    }
    store512_part(front.get_out(), _mm512_maskz_compress_epi8(lanes, out[0]));
    for (x, part) in out[1..].iter().zip(others.get_out().chunks_mut(64)) {
        store512_part(part, *x);
    }
    let mut numbers = if MODE == SEAL { out } else { text };
    if MODE == SEAL {
        numbers[0] = _mm512_maskz_mov_epi8(lanes, numbers[0]);
        if V > 1 {
            let left = others.len() - 64 * (V - 2);
            numbers[V - 1] = _mm512_maskz_mov_epi8(first_bytes(left), numbers[V - 1]);
        }
    }
    for x in &mut numbers {
        *x = reversed(*x);
    }
    numbers
}

/// What follows a hash in progress, with the lengths after it, in parts of 16 blocks and a last one
/// of at most 18: the hash.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi2,vaes,vpclmulqdq,pclmulqdq"
)]
fn long<const MODE: bool>(
    keys: &RoundKeys,
    powers: &[[u8; 16]; ROOM],
    counters: &mut __m512i,
    mask: &mut __m128i,
    data: InOutBuf<'_, '_, u8>,
    sum: __m128i,
    lengths: __m128i,
) -> __m128i {
    let mut data = data;
    let mut lanes = _mm512_zextsi128_si512(sum);
    // What is sealed is hashed behind the rounds of the next part.
    let mut waiting = None;
    by_key_size!(keys, middle => while data.len().div_ceil(16) > LONGEST {
        let (part, rest) = data.split_at(16 * WIDTH);
        data = rest;
        let numbers = whole::<_, MODE>(keys, middle, counters, mask, part);
        if MODE == OPEN {
            lanes = hash_lanes(powers, lanes, numbers);
        } else if let Some(before) = waiting.replace(numbers) {
            lanes = hash_lanes(powers, lanes, before);
        }
    });
    let before = (lanes, waiting);
    match data.len().div_ceil(64) {
        0 | 1 => end::<1, MODE>(keys, powers, counters, mask, data, before, lengths),
        2 => end::<2, MODE>(keys, powers, counters, mask, data, before, lengths),
        3 => end::<3, MODE>(keys, powers, counters, mask, data, before, lengths),
        4 => end::<4, MODE>(keys, powers, counters, mask, data, before, lengths),
        _ => end::<5, MODE>(keys, powers, counters, mask, data, before, lengths),
    }
}

/// The rest of the data, with the lengths after them: the hash.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi2,vaes,vpclmulqdq,pclmulqdq"
)]
fn end<const V: usize, const MODE: bool>(
    keys: &RoundKeys,
    powers: &[[u8; 16]; ROOM],
    counters: &mut __m512i,
    mask: &mut __m128i,
    data: InOutBuf<'_, '_, u8>,
    (mut lanes, waiting): (__m512i, Option<[__m512i; 4]>),
    lengths: __m128i,
) -> __m128i {
    let blocks = data.len().div_ceil(16);
    let numbers = from::<V, MODE, NEXT>(keys, counters, mask, data, 0);
    if let Some(before) = waiting {
        lanes = hash_lanes(powers, lanes, before);
    }
    hash_part(powers, lanes, numbers, blocks + 1, product_of(powers, lengths, 1))
}

/// Encrypts or decrypts 16 blocks, and returns the ciphertext as numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn whole<K: AsRef<[[u8; 16]]>, const MODE: bool>(
    keys: &RoundKeys,
    middle: &K,
    counters: &mut __m512i,
    mask: &mut __m128i,
    mut data: InOutBuf<'_, '_, u8>,
) -> [__m512i; 4] {
    let mut text = [_mm512_setzero_si512(); 4];
    for (x, four) in text.iter_mut().zip(data.get_in().as_chunks().0) {
        *x = load512(four);
    }
    let start = first::<4>(broadcast(keys.first()), counters);
    let mut out = beside::<4, MODE, NEXT>(keys, middle.as_ref(), start, mask);
    for (x, text) in out.iter_mut().zip(text) {
        *x = _mm512_xor_si512(*x, text);
    }
    for (four, x) in data.get_out().as_chunks_mut().0.iter_mut().zip(out) {
        store512(four, x);
    }
    let mut numbers = if MODE == SEAL { out } else { text };
    for x in &mut numbers {
        *x = reversed(*x);
    }
    numbers
}
