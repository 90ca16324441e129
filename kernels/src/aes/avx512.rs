//! AES with VAES on 512-bit registers: four blocks in each, 32 at a time. Constant time in key and
//! data.
//!
//! All round keys stay in registers. Requests of [`bulk::SMALLEST`] bytes or more skip a round of
//! most blocks, see [`bulk`].

mod bulk;

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::Level;
use crate::simd::{load128, load512, load512_part, store512, store512_part};

pub(super) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(super) fn encrypt<const N: usize>(keys: &[[u8; 16]; N], mut data: InOutBuf<'_, '_, [u8; 16]>) {
    let keys = &broadcast_all(keys);
    while data.len() >= 32 {
        let (part, rest) = data.split_at(32);
        encrypt_part::<N, 8>(keys, part);
        data = rest;
    }
    if data.len() >= 16 {
        let (part, rest) = data.split_at(16);
        encrypt_part::<N, 4>(keys, part);
        data = rest;
    }
    while data.len() >= 4 {
        let (part, rest) = data.split_at(4);
        encrypt_part::<N, 1>(keys, part);
        data = rest;
    }
    if !data.is_empty() {
        let x = load512_part(data.get_in().as_flattened());
        let [x] = rounds(&keys[1..], [_mm512_xor_si512(x, keys[0])]);
        store512_part(data.get_out().as_flattened_mut(), x);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn encrypt_part<const N: usize, const V: usize>(
    keys: &[__m512i; N],
    mut data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut state = [keys[0]; V];
    for (x, four) in state.iter_mut().zip(data.get_in().as_flattened().as_chunks().0) {
        *x = _mm512_xor_si512(*x, load512(four));
    }
    let out = data.get_out().as_flattened_mut().as_chunks_mut().0;
    for (x, four) in rounds(&keys[1..], state).into_iter().zip(out) {
        store512(four, x);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(super) fn keystream<const N: usize>(keys: &[[u8; 16]; N], counter: u128, out: &mut [u8]) {
    if out.len() >= bulk::SMALLEST {
        bulk::ctr::<N, false>(keys, counter, out.into());
    } else {
        ctr::<N, false>(keys, counter, out.into());
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(super) fn xor<const N: usize>(keys: &[[u8; 16]; N], counter: u128, data: InOutBuf<'_, '_, u8>) {
    if data.len() >= bulk::SMALLEST {
        bulk::ctr::<N, true>(keys, counter, data);
    } else {
        ctr::<N, true>(keys, counter, data);
    }
}

/// Writes keystream, or if `XOR` adds it to the input. The lower half of the counter does not
/// wrap within the request.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn ctr<const N: usize, const XOR: bool>(
    keys: &[[u8; 16]; N],
    counter: u128,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let keys = &broadcast_all(keys);
    let mut counter = counters(counter);
    while data.len() >= 512 {
        let (part, rest) = data.split_at(512);
        ctr_part::<N, 8, XOR>(keys, &mut counter, part);
        data = rest;
    }
    if data.len() >= 256 {
        let (part, rest) = data.split_at(256);
        ctr_part::<N, 4, XOR>(keys, &mut counter, part);
        data = rest;
    }
    while data.len() >= 64 {
        let (part, rest) = data.split_at(64);
        ctr_part::<N, 1, XOR>(keys, &mut counter, part);
        data = rest;
    }
    if !data.is_empty() {
        let [mut x] = rounds(&keys[1..], first(keys[0], &mut counter));
        if XOR {
            x = _mm512_xor_si512(x, load512_part(data.get_in()));
        }
        store512_part(data.get_out(), x);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn ctr_part<const N: usize, const V: usize, const XOR: bool>(
    keys: &[__m512i; N],
    counter: &mut __m512i,
    data: InOutBuf<'_, '_, u8>,
) {
    emit::<V, XOR>(rounds(&keys[1..], first(keys[0], counter)), data);
}

/// Writes keystream, or if `XOR` adds it to the input.
#[inline]
#[target_feature(enable = "avx512f")]
fn emit<const V: usize, const XOR: bool>(mut stream: [__m512i; V], mut data: InOutBuf<'_, '_, u8>) {
    if XOR {
        for (x, four) in stream.iter_mut().zip(data.get_in().as_chunks().0) {
            *x = _mm512_xor_si512(*x, load512(four));
        }
    }
    for (x, four) in stream.into_iter().zip(data.get_out().as_chunks_mut().0) {
        store512(four, x);
    }
}

/// The counters of four blocks from `first` on, as little-endian numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn counters(first: u128) -> __m512i {
    let number = _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0);
    _mm512_add_epi64(broadcast(&first.to_le_bytes()), number)
}

/// The next counter blocks, with the first round key added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn first<const V: usize>(key: __m512i, counter: &mut __m512i) -> [__m512i; V] {
    let big_endian = broadcast(&[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    let four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    let mut state = [key; V];
    for x in &mut state {
        *x = _mm512_xor_si512(*x, _mm512_shuffle_epi8(*counter, big_endian));
        *counter = _mm512_add_epi64(*counter, four);
    }
    state
}

/// The rounds of `keys`, the last of which is the last round's.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn rounds<const V: usize>(keys: &[__m512i], mut state: [__m512i; V]) -> [__m512i; V] {
    let (last, others) = keys.split_last().expect("AES has ten rounds and more");
    for key in others {
        for x in &mut state {
            *x = _mm512_aesenc_epi128(*x, *key);
        }
    }
    for x in &mut state {
        *x = _mm512_aesenclast_epi128(*x, *last);
    }
    state
}

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast_all<const N: usize>(keys: &[[u8; 16]; N]) -> [__m512i; N] {
    let mut vectors = [_mm512_setzero_si512(); N];
    for (vector, key) in vectors.iter_mut().zip(keys) {
        *vector = broadcast(key);
    }
    vectors
}

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(block: &[u8; 16]) -> __m512i {
    _mm512_broadcast_i32x4(load128(block))
}
