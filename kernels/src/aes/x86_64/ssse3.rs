//! AES with SSSE3, without AES instructions: by vector permute, four blocks at a time. Constant
//! time in key and data.
//!
//! The tables fit into a register, so that one byte shuffle looks up all bytes (see `tables`).
//! Between rounds a state is in the tower field, and its bytes stay in place. Instead of
//! `ShiftRows` in each round, `MixColumns` takes them from further columns, and the last round
//! moves them by the sum. Round keys are stored to match.

mod keys;
mod tables;

use core::arch::x86_64::*;

use inout::InOutBuf;

pub(crate) use self::keys::{expand128, expand192, expand256, invert};
use self::tables::{
    ABOVE, BELOW, C_QUOTIENTS, INVERSE_MIX, INVERSE_OUT, Pair, RECIPROCALS, REVERSED, SBOX,
    SBOX_DOUBLED, SBOX_OUT, SHIFT_ROWS, TO_INVERSE, TO_TOWER, Table,
};
use crate::Level;
use crate::aes::RoundKeys;
use crate::isa::{Mode, WRITE};
use crate::simd::{load128, load128_part, store128, store128_part};

pub(crate) const NEEDS: Level = Level::Ssse3;

/// The first 8 bytes of an encrypted block.
#[target_feature(enable = "ssse3")]
pub(crate) fn front(keys: &RoundKeys, block: &[u8; 16]) -> u64 {
    let mut block = [*block];
    ecb(keys, (&mut block[..]).into(), Mode::<true>);
    crate::aes::first_eight(&block[0])
}

#[target_feature(enable = "ssse3")]
pub(crate) fn ecb<const FORWARD: bool>(
    keys: &RoundKeys,
    data: InOutBuf<'_, '_, [u8; 16]>,
    _: Mode<FORWARD>,
) {
    let mut data = data;
    while data.len() >= 4 {
        let (part, rest) = data.split_at(4);
        ecb_part::<4, FORWARD>(keys, part);
        data = rest;
    }
    if data.len() >= 2 {
        let (part, rest) = data.split_at(2);
        ecb_part::<2, FORWARD>(keys, part);
        data = rest;
    }
    if !data.is_empty() {
        ecb_part::<1, FORWARD>(keys, data);
    }
}

#[inline]
#[target_feature(enable = "ssse3")]
fn ecb_part<const V: usize, const FORWARD: bool>(
    keys: &RoundKeys,
    data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut data = data;
    let state = load_all::<V>(data.get_in());
    let state = if FORWARD { rounds(keys, state) } else { inverse_rounds(keys, state) };
    store_all(state, data.get_out());
}

#[target_feature(enable = "ssse3")]
pub(crate) fn cbc_encrypt(keys: &RoundKeys, iv: &mut [u8; 16], blocks: InOutBuf<'_, '_, [u8; 16]>) {
    let mut chain = load128(iv);
    for mut block in blocks {
        let state = _mm_xor_si128(chain, load128(block.get_in()));
        [chain] = rounds(keys, [state]);
        store128(block.get_out(), chain);
    }
    store128(iv, chain);
}

#[target_feature(enable = "ssse3")]
pub(crate) fn cbc_decrypt(keys: &RoundKeys, iv: &mut [u8; 16], blocks: InOutBuf<'_, '_, [u8; 16]>) {
    let mut blocks = blocks;
    let mut chain = load128(iv);
    while blocks.len() >= 4 {
        let (part, rest) = blocks.split_at(4);
        cbc_decrypt_part::<4>(keys, &mut chain, part);
        blocks = rest;
    }
    if blocks.len() >= 2 {
        let (part, rest) = blocks.split_at(2);
        cbc_decrypt_part::<2>(keys, &mut chain, part);
        blocks = rest;
    }
    if !blocks.is_empty() {
        cbc_decrypt_part::<1>(keys, &mut chain, blocks);
    }
    store128(iv, chain);
}

#[inline]
#[target_feature(enable = "ssse3")]
fn cbc_decrypt_part<const V: usize>(
    keys: &RoundKeys,
    chain: &mut __m128i,
    data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut data = data;
    let input = load_all::<V>(data.get_in());
    let mut state = inverse_rounds(keys, input);
    for (x, next) in state.iter_mut().zip(input) {
        *x = _mm_xor_si128(*x, *chain);
        *chain = next;
    }
    store_all(state, data.get_out());
}

/// Writes keystream over `out`, which is made a buffer here: it comes in registers.
#[target_feature(enable = "ssse3")]
pub(crate) fn keystream(keys: &RoundKeys, counter: u128, out: &mut [u8]) {
    ctr(keys, counter, out.into(), WRITE);
}

/// Writes keystream, or if `XOR` adds it to the input. The lower half of the counter does not
/// wrap within the request.
#[target_feature(enable = "ssse3")]
pub(crate) fn ctr<const XOR: bool>(
    keys: &RoundKeys,
    counter: u128,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<XOR>,
) {
    let mut data = data;
    let mut counter = load128(&counter.to_le_bytes());
    while data.len() >= 64 {
        let (part, rest) = data.split_at(64);
        ctr_part::<4, XOR>(keys, &mut counter, part);
        data = rest;
    }
    if data.len() >= 32 {
        let (part, rest) = data.split_at(32);
        ctr_part::<2, XOR>(keys, &mut counter, part);
        data = rest;
    }
    if data.len() >= 16 {
        let (part, rest) = data.split_at(16);
        ctr_part::<1, XOR>(keys, &mut counter, part);
        data = rest;
    }
    if !data.is_empty() {
        let [mut stream] = rounds(keys, [_mm_shuffle_epi8(counter, load(&REVERSED))]);
        if XOR {
            stream = _mm_xor_si128(stream, load128_part(data.get_in()));
        }
        store128_part(data.get_out(), stream);
    }
}

#[inline]
#[target_feature(enable = "ssse3")]
fn ctr_part<const V: usize, const XOR: bool>(
    keys: &RoundKeys,
    counter: &mut __m128i,
    data: InOutBuf<'_, '_, u8>,
) {
    let mut data = data;
    let one = _mm_set_epi64x(0, 1);
    let mut state = [*counter; V];
    for x in &mut state {
        *x = _mm_shuffle_epi8(*counter, load(&REVERSED));
        *counter = _mm_add_epi64(*counter, one);
    }
    let mut stream = rounds(keys, state);
    if XOR {
        for (x, block) in stream.iter_mut().zip(data.get_in().as_chunks().0) {
            *x = _mm_xor_si128(*x, load128(block));
        }
    }
    store_all(stream, data.get_out().as_chunks_mut().0);
}

/// `Cipher` (FIPS 197, section 5.1).
#[inline]
#[target_feature(enable = "ssse3")]
fn rounds<const V: usize>(keys: &RoundKeys, mut state: [__m128i; V]) -> [__m128i; V] {
    let key = load128(keys.first());
    for x in &mut state {
        *x = _mm_xor_si128(looked_up(&TO_TOWER, halves(*x)), key);
    }
    for (i, key) in (1_usize..).zip(keys.middle()) {
        let key = load128(key);
        let (below, above) = (load(&BELOW[i % 4]), load(&ABOVE[i % 4]));
        for x in &mut state {
            let reciprocals = reciprocals(halves(*x));
            let once = looked_up(&SBOX, reciprocals);
            let twice = looked_up(&SBOX_DOUBLED, reciprocals);
            // Twice the byte itself and three times the one below, plus the other two.
            let sum = _mm_xor_si128(twice, _mm_shuffle_epi8(once, below));
            let others = _mm_xor_si128(_mm_shuffle_epi8(once, above), key);
            *x = _mm_xor_si128(_mm_xor_si128(sum, others), _mm_shuffle_epi8(sum, below));
        }
    }
    last_round::<V>(&SBOX_OUT, keys, state)
}

/// `EqInvCipher` (FIPS 197, section 5.3.5).
#[inline]
#[target_feature(enable = "ssse3")]
fn inverse_rounds<const V: usize>(keys: &RoundKeys, mut state: [__m128i; V]) -> [__m128i; V] {
    let key = load128(keys.first());
    for x in &mut state {
        *x = _mm_xor_si128(looked_up(&TO_INVERSE, halves(*x)), key);
    }
    for (i, key) in (1_usize..).zip(keys.middle()) {
        let key = load128(key);
        let below = load(&BELOW[(4 - i % 4) % 4]);
        for x in &mut state {
            let mixed = mixed(&INVERSE_MIX, reciprocals(halves(*x)), below);
            *x = _mm_xor_si128(mixed, key);
        }
    }
    last_round::<V>(&INVERSE_OUT, keys, state)
}

/// The round without `MixColumns`, and with the omitted `ShiftRows`: an even number, so that they
/// are their own inverse.
#[inline]
#[target_feature(enable = "ssse3")]
fn last_round<const V: usize>(
    sbox: &Pair,
    keys: &RoundKeys,
    mut state: [__m128i; V],
) -> [__m128i; V] {
    let (key, shift_rows) = (load128(keys.last()), load(&SHIFT_ROWS[keys.rounds() % 4]));
    for x in &mut state {
        let substituted = looked_up(sbox, reciprocals(halves(*x)));
        *x = _mm_xor_si128(_mm_shuffle_epi8(substituted, shift_rows), key);
    }
    state
}

/// The sum of four multiples of the bytes in each column, by Horner's rule.
#[inline]
#[target_feature(enable = "ssse3")]
fn mixed(tables: &[Pair; 4], indices: (__m128i, __m128i), below: __m128i) -> __m128i {
    let [first, others @ ..] = tables;
    let mut sum = looked_up(first, indices);
    for table in others {
        sum = _mm_xor_si128(_mm_shuffle_epi8(sum, below), looked_up(table, indices));
    }
    sum
}

/// The low and the high half of each byte.
#[inline]
#[target_feature(enable = "ssse3")]
fn halves(x: __m128i) -> (__m128i, __m128i) {
    let mask = _mm_set1_epi8(0x0f);
    (_mm_and_si128(x, mask), _mm_and_si128(_mm_srli_epi32::<4>(x), mask))
}

/// `p` and `q` of [`tables`].
#[inline]
#[target_feature(enable = "ssse3")]
fn reciprocals((k, i): (__m128i, __m128i)) -> (__m128i, __m128i) {
    let table = load(&RECIPROCALS);
    let j = _mm_xor_si128(i, k);
    let c_over_k = _mm_shuffle_epi8(load(&C_QUOTIENTS), k);
    let p = _mm_xor_si128(_mm_shuffle_epi8(table, i), c_over_k);
    let q = _mm_xor_si128(_mm_shuffle_epi8(table, j), c_over_k);
    let p = _mm_xor_si128(_mm_shuffle_epi8(table, p), j);
    let q = _mm_xor_si128(_mm_shuffle_epi8(table, q), i);
    (p, q)
}

/// The sum of the values of two tables.
#[inline]
#[target_feature(enable = "ssse3")]
fn looked_up(pair: &Pair, (a, b): (__m128i, __m128i)) -> __m128i {
    _mm_xor_si128(_mm_shuffle_epi8(load(&pair.0), a), _mm_shuffle_epi8(load(&pair.1), b))
}

#[inline]
#[target_feature(enable = "ssse3")]
fn load(table: &Table) -> __m128i {
    load128(&table.0)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn load_all<const V: usize>(blocks: &[[u8; 16]]) -> [__m128i; V] {
    let mut state = [_mm_setzero_si128(); V];
    for (x, block) in state.iter_mut().zip(blocks) {
        *x = load128(block);
    }
    state
}

#[inline]
#[target_feature(enable = "ssse3")]
fn store_all<const V: usize>(state: [__m128i; V], blocks: &mut [[u8; 16]]) {
    for (x, block) in state.into_iter().zip(blocks) {
        store128(block, x);
    }
}
