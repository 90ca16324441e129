//! AES with VAES on 256-bit registers: two blocks in each, sixteen at a time. Constant time in key
//! and data.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::Level;
use crate::aes::RoundKeys;
use crate::aes::x86_64::aesni;
use crate::aes::{FORWARD, INVERSE};
use crate::isa::{Mode, WRITE};
use crate::simd::{load128, load128_part, load256, store128, store128_part, store256};

pub(crate) const NEEDS: Level = Level::Avx2Vaes;

/// Pairs whose rounds are too few instructions to hide a loop.
const FEW: usize = 4;

#[target_feature(enable = "avx2,vaes")]
pub(crate) fn front(keys: &RoundKeys, block: &[u8; 16]) -> u64 {
    aesni::front(keys, block)
}

#[target_feature(enable = "avx2,vaes")]
pub(crate) fn ecb<const MODE: bool>(
    keys: &RoundKeys,
    data: InOutBuf<'_, '_, [u8; 16]>,
    _: Mode<MODE>,
) {
    let mut data = data;
    if data.len() == 1 {
        return aesni::ecb_part::<1, MODE, true>(keys, data);
    }
    while data.len() > 16 {
        let (part, rest) = data.split_at(16);
        ecb_part::<8, MODE, false>(keys, part);
        data = rest;
    }
    if !data.is_empty() {
        for_count!(data.len().div_ceil(2), ecb_part::<_, MODE, true>(keys, data));
    }
}

/// `V` pairs of blocks, of which the last may be one block.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn ecb_part<const V: usize, const MODE: bool, const LAST: bool>(
    keys: &RoundKeys,
    data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let (mut whole, mut last) = data.split_at(2 * (V - 1));
    let state = load(whole.get_in(), last.get_in());
    store(rounds::<V, MODE>(keys, state), whole.get_out(), last.get_out());
}

#[target_feature(enable = "avx2,vaes")]
pub(crate) fn cbc_encrypt(keys: &RoundKeys, iv: &mut [u8; 16], data: InOutBuf<'_, '_, [u8; 16]>) {
    aesni::cbc_encrypt(keys, iv, data);
}

#[target_feature(enable = "avx2,vaes")]
pub(crate) fn cbc_decrypt(keys: &RoundKeys, iv: &mut [u8; 16], data: InOutBuf<'_, '_, [u8; 16]>) {
    let mut data = data;
    let mut before = load128(iv);
    while data.len() > 16 {
        let (part, rest) = data.split_at(16);
        before = cbc_decrypt_part::<8, false>(keys, before, part);
        data = rest;
    }
    // Few blocks wait for their rounds, not for units; and they may have been written by blocks,
    // for which a wider load would have to wait.
    before = match data.len() {
        0 => before,
        1 => aesni::cbc_decrypt_part::<1, true>(keys, before, data),
        2 => aesni::cbc_decrypt_part::<2, true>(keys, before, data),
        3 => aesni::cbc_decrypt_part::<3, true>(keys, before, data),
        4 => aesni::cbc_decrypt_part::<4, true>(keys, before, data),
        pairs => for_count!(pairs.div_ceil(2), cbc_decrypt_part::<_, true>(keys, before, data)),
    };
    store128(iv, before);
}

/// `V` pairs of blocks, of which the last may be one block; `before` is the ciphertext before
/// them, and the last of theirs is returned.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn cbc_decrypt_part<const V: usize, const LAST: bool>(
    keys: &RoundKeys,
    before: __m128i,
    data: InOutBuf<'_, '_, [u8; 16]>,
) -> __m128i {
    let after = data.get_in().last().map_or(before, |block| load128(block));
    let (mut whole, mut last) = data.split_at(2 * (V - 1));
    let cipher = load::<V>(whole.get_in(), last.get_in());
    let mut text = rounds::<V, INVERSE>(keys, cipher);
    // All ciphertext is read once more, one block further back, before the first block is
    // written over it.
    let mut high = before;
    for (x, [low, next]) in text.iter_mut().zip(whole.get_in().as_chunks().0) {
        *x = _mm256_xor_si256(*x, _mm256_set_m128i(load128(low), high));
        high = load128(next);
    }
    if let Some(low) = last.get_in().first() {
        text[V - 1] = _mm256_xor_si256(text[V - 1], _mm256_set_m128i(load128(low), high));
    }
    store(text, whole.get_out(), last.get_out());
    after
}

/// Writes keystream over `out`, which is made a buffer here: it comes in registers.
#[target_feature(enable = "avx2,vaes")]
pub(crate) fn keystream(keys: &RoundKeys, counter: u128, out: &mut [u8]) {
    ctr(keys, counter, out.into(), WRITE);
}

/// Writes keystream, or if `XOR` adds it to the input. The lower half of the counter does not
/// wrap within the request.
#[target_feature(enable = "avx2,vaes")]
pub(crate) fn ctr<const XOR: bool>(
    keys: &RoundKeys,
    counter: u128,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<XOR>,
) {
    let mut data = data;
    let counter = load128(&counter.to_le_bytes());
    if data.len() <= 16 {
        if !data.is_empty() {
            aesni::ctr_part::<1, XOR, true>(keys, counter, data);
        }
        return;
    }
    let mut counter =
        _mm256_add_epi64(_mm256_broadcastsi128_si256(counter), _mm256_set_epi64x(0, 1, 0, 0));
    while data.len() > 256 {
        let (part, rest) = data.split_at(256);
        counter = ctr_part::<8, XOR, false>(keys, counter, part);
        data = rest;
    }
    for_count!(data.len().div_ceil(32), ctr_part::<_, XOR, true>(keys, counter, data));
}

/// `V` pairs of blocks, of which the last may be a part, and the counters after them.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn ctr_part<const V: usize, const XOR: bool, const LAST: bool>(
    keys: &RoundKeys,
    mut counter: __m256i,
    data: InOutBuf<'_, '_, u8>,
) -> __m256i {
    let (mut whole, mut last) = data.split_at(32 * (V - 1));
    let big_endian =
        _mm256_broadcastsi128_si256(_mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f));
    let two = _mm256_set_epi64x(0, 2, 0, 2);
    let mut state = [_mm256_setzero_si256(); V];
    for x in &mut state {
        *x = _mm256_shuffle_epi8(counter, big_endian);
        counter = _mm256_add_epi64(counter, two);
    }
    let mut stream = rounds::<V, FORWARD>(keys, state);
    if XOR {
        for (x, pair) in stream.iter_mut().zip(whole.get_in().as_chunks().0) {
            *x = _mm256_xor_si256(*x, load256(pair));
        }
        stream[V - 1] = _mm256_xor_si256(stream[V - 1], load_part(last.get_in()));
    }
    for (x, pair) in stream.iter().zip(whole.get_out().as_chunks_mut().0) {
        store256(pair, *x);
    }
    store_part(last.get_out(), stream[V - 1]);
    counter
}

/// Loads all pairs but one, and a last pair or block.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load<const V: usize>(whole: &[[u8; 16]], last: &[[u8; 16]]) -> [__m256i; V] {
    let mut vectors = [_mm256_setzero_si256(); V];
    for (x, pair) in vectors.iter_mut().zip(whole.as_flattened().as_chunks().0) {
        *x = load256(pair);
    }
    vectors[V - 1] = load_part(last.as_flattened());
    vectors
}

/// Stores all pairs but one, and a last pair or block.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store<const V: usize>(
    vectors: [__m256i; V],
    whole: &mut [[u8; 16]],
    last: &mut [[u8; 16]],
) {
    for (x, pair) in vectors.iter().zip(whole.as_flattened_mut().as_chunks_mut().0) {
        store256(pair, *x);
    }
    store_part(last.as_flattened_mut(), vectors[V - 1]);
}

/// Loads a pair of blocks, or a part of one and zeros after it.
#[inline]
#[target_feature(enable = "avx2")]
fn load_part(bytes: &[u8]) -> __m256i {
    if let Some(pair) = bytes.first_chunk() {
        return load256(pair);
    }
    match bytes.split_first_chunk() {
        Some((block, [])) => _mm256_zextsi128_si256(load128(block)),
        Some((block, part)) => _mm256_set_m128i(load128_part(part), load128(block)),
        None => _mm256_zextsi128_si256(load128_part(bytes)),
    }
}

/// Stores a pair of blocks, or as much of it as there is room for.
#[inline]
#[target_feature(enable = "avx2")]
fn store_part(bytes: &mut [u8], v: __m256i) {
    if let Some(pair) = bytes.first_chunk_mut() {
        return store256(pair, v);
    }
    match bytes.split_first_chunk_mut() {
        Some((block, part)) => {
            store128(block, _mm256_castsi256_si128(v));
            if !part.is_empty() {
                store128_part(part, _mm256_extracti128_si256::<1>(v));
            }
        }
        None => store128_part(bytes, _mm256_castsi256_si128(v)),
    }
}

/// All rounds, and the addition of the first round key before them.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn rounds<const V: usize, const MODE: bool>(
    keys: &RoundKeys,
    mut state: [__m256i; V],
) -> [__m256i; V] {
    let key = broadcast(keys.first());
    for x in &mut state {
        *x = _mm256_xor_si256(*x, key);
    }
    state = if V <= FEW {
        by_key_size!(keys, middle => rounds_of::<V, MODE>(middle, state))
    } else {
        rounds_of::<V, MODE>(keys.middle(), state)
    };
    let key = broadcast(keys.last());
    for x in &mut state {
        *x = if MODE {
            _mm256_aesenclast_epi128(*x, key)
        } else {
            _mm256_aesdeclast_epi128(*x, key)
        };
    }
    state
}

/// A round for each key; those of an array are unrolled.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn rounds_of<const V: usize, const MODE: bool>(
    keys: &[[u8; 16]],
    mut state: [__m256i; V],
) -> [__m256i; V] {
    for key in keys {
        let key = broadcast(key);
        for x in &mut state {
            *x = if MODE { _mm256_aesenc_epi128(*x, key) } else { _mm256_aesdec_epi128(*x, key) };
        }
    }
    state
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn broadcast(block: &[u8; 16]) -> __m256i {
    _mm256_broadcastsi128_si256(load128(block))
}
