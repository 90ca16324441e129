//! AES with VAES on 512-bit registers: four blocks in each, 32 at a time. Constant time in key and
//! data.
//!
//! All round keys stay in registers. Requests of up to three blocks take them from memory and run
//! in 128-bit registers. That is as fast; and after a store of a part of a 512-bit register, the
//! processor delays loads next to that part, where the next request may begin. Requests of counter
//! mode of [`bulk::SMALLEST`] bytes or more skip a round of most blocks, see [`bulk`].

mod bulk;
mod cbc;
mod ctr;

use core::arch::x86_64::*;

use inout::InOutBuf;

pub(crate) use self::cbc::{cbc_decrypt, cbc_encrypt};
pub(crate) use self::ctr::first;
use crate::Level;
use crate::aes::x86_64::aesni;
use crate::isa::{Mode, WRITE};
use crate::simd::{load128, load512, load512_part, store512, store512_part};

pub(crate) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn ecb<const N: usize, const MODE: bool>(
    keys: &[[u8; 16]; N],
    data: InOutBuf<'_, '_, [u8; 16]>,
    _: Mode<MODE>,
) {
    match data.len() {
        1 => aesni::ecb_part::<N, 1, MODE, true>(keys, data),
        2 => aesni::ecb_part::<N, 2, MODE, true>(keys, data),
        3 => aesni::ecb_part::<N, 3, MODE, true>(keys, data),
        _ => wide_ecb::<N, MODE>(keys, data),
    }
}

/// Writes keystream over `out`, which is made a buffer here: it comes in registers.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn keystream<const N: usize>(keys: &[[u8; 16]; N], counter: u128, out: &mut [u8]) {
    ctr(keys, counter, out.into(), WRITE);
}

/// Writes keystream, or if `XOR` adds it to the input. The lower half of the counter does not
/// wrap within the request.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn ctr<const N: usize, const XOR: bool>(
    keys: &[[u8; 16]; N],
    counter: u128,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<XOR>,
) {
    let first = load128(&counter.to_le_bytes());
    let _next = match data.len() {
        16 => aesni::ctr_part::<N, 1, XOR, true>(keys, first, data),
        32 => aesni::ctr_part::<N, 2, XOR, true>(keys, first, data),
        48 => aesni::ctr_part::<N, 3, XOR, true>(keys, first, data),
        bulk::SMALLEST.. => return bulk::ctr::<N, XOR>(keys, counter, data),
        _ => return ctr::wide::<N, XOR>(keys, counter, data),
    };
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn front<const N: usize>(keys: &[[u8; 16]; N], block: &[u8; 16]) -> u64 {
    aesni::front(keys, block)
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn wide_ecb<const N: usize, const MODE: bool>(
    keys: &[[u8; 16]; N],
    data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut data = data;
    let keys = &broadcast_all(keys);
    while data.len() > 32 {
        let (part, rest) = data.split_at(32);
        ecb_part::<N, 8, MODE, false>(keys, part);
        data = rest;
    }
    if !data.is_empty() {
        for_count!(data.len().div_ceil(4), ecb_part::<N, _, MODE, true>(keys, data));
    }
}

/// `V` vectors, of which the last may be a part.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn ecb_part<const N: usize, const V: usize, const MODE: bool, const LAST: bool>(
    keys: &[__m512i; N],
    data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let (mut whole, mut last) = data.split_at(4 * (V - 1));
    let state = load::<V>(whole.get_in().as_flattened(), last.get_in().as_flattened());
    let state = rounds::<V, MODE>(&keys[1..], add(state, keys[0]));
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

/// The rounds of `keys`, the last of which is the last round's.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(crate) fn rounds<const V: usize, const MODE: bool>(
    keys: &[__m512i],
    mut state: [__m512i; V],
) -> [__m512i; V] {
    let (&last, others) = keys.split_last().expect("AES has ten rounds and more");
    for &key in others {
        for x in &mut state {
            *x = if MODE { _mm512_aesenc_epi128(*x, key) } else { _mm512_aesdec_epi128(*x, key) };
        }
    }
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
pub(crate) fn broadcast_all<const N: usize>(keys: &[[u8; 16]; N]) -> [__m512i; N] {
    let mut vectors = [_mm512_setzero_si512(); N];
    for (vector, key) in vectors.iter_mut().zip(keys) {
        *vector = broadcast(key);
    }
    vectors
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn broadcast(block: &[u8; 16]) -> __m512i {
    _mm512_broadcast_i32x4(load128(block))
}
