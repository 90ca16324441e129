//! AES with VAES on 512-bit registers: four blocks in each, 32 at a time. Constant time in key and
//! data.
//!
//! Requests of up to three blocks run in 128-bit registers. That is as fast; and after a store of a
//! part of a 512-bit register, the processor delays loads next to that part, where the next request
//! may begin. Requests of counter mode of [`bulk::SMALLEST`] bytes or more skip a round of most
//! blocks, see [`bulk`].

mod bulk;
mod cbc;
mod ctr;

use core::arch::x86_64::*;

use inout::InOutBuf;

pub(crate) use self::cbc::{cbc_decrypt, cbc_encrypt};
pub(crate) use self::ctr::first;
use crate::Level;
use crate::aes::RoundKeys;
use crate::aes::x86_64::aesni;
use crate::isa::{Mode, WRITE};
use crate::simd::{load128, load512, load512_part, store512, store512_part};

pub(crate) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn ecb<const MODE: bool>(
    keys: &RoundKeys,
    data: InOutBuf<'_, '_, [u8; 16]>,
    _: Mode<MODE>,
) {
    match data.len() {
        1 => aesni::ecb_part::<1, MODE, true>(keys, data),
        2 => aesni::ecb_part::<2, MODE, true>(keys, data),
        3 => aesni::ecb_part::<3, MODE, true>(keys, data),
        _ => wide_ecb::<MODE>(keys, data),
    }
}

/// Writes keystream over `out`, which is made a buffer here: it comes in registers.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn keystream(keys: &RoundKeys, counter: u128, out: &mut [u8]) {
    ctr(keys, counter, out.into(), WRITE);
}

/// Writes keystream, or if `XOR` adds it to the input. The lower half of the counter does not
/// wrap within the request.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn ctr<const XOR: bool>(
    keys: &RoundKeys,
    counter: u128,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<XOR>,
) {
    let first = load128(&counter.to_le_bytes());
    let _next = match data.len() {
        16 => aesni::ctr_part::<1, XOR, true>(keys, first, data),
        32 => aesni::ctr_part::<2, XOR, true>(keys, first, data),
        48 => aesni::ctr_part::<3, XOR, true>(keys, first, data),
        bulk::SMALLEST.. => return bulk::ctr::<XOR>(keys, counter, data),
        _ => return ctr::wide::<XOR>(keys, counter, data),
    };
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn front(keys: &RoundKeys, block: &[u8; 16]) -> u64 {
    aesni::front(keys, block)
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn wide_ecb<const MODE: bool>(keys: &RoundKeys, data: InOutBuf<'_, '_, [u8; 16]>) {
    let mut data = data;
    while data.len() > 32 {
        let (part, rest) = data.split_at(32);
        ecb_part::<8, MODE, false>(keys, part);
        data = rest;
    }
    if !data.is_empty() {
        for_count!(data.len().div_ceil(4), ecb_part::<_, MODE, true>(keys, data));
    }
}

/// `V` vectors, of which the last may be a part.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn ecb_part<const V: usize, const MODE: bool, const LAST: bool>(
    keys: &RoundKeys,
    data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let (mut whole, mut last) = data.split_at(4 * (V - 1));
    let state = load::<V>(whole.get_in().as_flattened(), last.get_in().as_flattened());
    let state = rounds::<V, MODE>(keys, add(state, broadcast(keys.first())));
    store(state, whole.get_out().as_flattened_mut(), last.get_out().as_flattened_mut());
}

/// Loads all vectors but one, and a last one that may be a part.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
pub(crate) fn load<const V: usize>(whole: &[u8], last: &[u8]) -> [__m512i; V] {
    let mut vectors = [_mm512_setzero_si512(); V];
    for (x, four) in vectors.iter_mut().zip(whole.as_chunks().0) {
        *x = load512(four);
    }
    vectors[V - 1] = load512_part(last);
    vectors
}

/// Stores all vectors but one, and a last one that may be a part.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
pub(crate) fn store<const V: usize>(vectors: [__m512i; V], whole: &mut [u8], last: &mut [u8]) {
    for (x, four) in vectors.iter().zip(whole.as_chunks_mut().0) {
        store512(four, *x);
    }
    store512_part(last, vectors[V - 1]);
}

/// `AddRoundKey`.
#[inline]
#[target_feature(enable = "avx512f")]
fn add<const V: usize>(mut state: [__m512i; V], key: __m512i) -> [__m512i; V] {
    for x in &mut state {
        *x = _mm512_xor_si512(*x, key);
    }
    state
}

/// All rounds, on states to which the first round key has been added.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(crate) fn rounds<const V: usize, const MODE: bool>(
    keys: &RoundKeys,
    mut state: [__m512i; V],
) -> [__m512i; V] {
    let (nine, more) = keys.nine_and_more();
    state = rounds_of::<V, MODE>(nine, state);
    state = rounds_of::<V, MODE>(more, state);
    last_round::<V, MODE>(keys, state)
}

/// A round for each key; those of an array are unrolled.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn rounds_of<const V: usize, const MODE: bool>(
    keys: &[[u8; 16]],
    mut state: [__m512i; V],
) -> [__m512i; V] {
    for key in keys {
        let key = broadcast(key);
        for x in &mut state {
            *x = if MODE { _mm512_aesenc_epi128(*x, key) } else { _mm512_aesdec_epi128(*x, key) };
        }
    }
    state
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn last_round<const V: usize, const MODE: bool>(
    keys: &RoundKeys,
    mut state: [__m512i; V],
) -> [__m512i; V] {
    let last = broadcast(keys.last());
    for x in &mut state {
        *x = if MODE {
            _mm512_aesenclast_epi128(*x, last)
        } else {
            _mm512_aesdeclast_epi128(*x, last)
        };
    }
    state
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn broadcast(block: &[u8; 16]) -> __m512i {
    _mm512_broadcast_i32x4(load128(block))
}
