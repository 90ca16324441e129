//! AES with VAES on 256-bit registers: two blocks in each, sixteen at a time. Constant time in key
//! and data.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::simd::{load128, load256, store256};
use crate::{Level, wipe};

pub(super) const NEEDS: Level = Level::Avx2Vaes;

#[target_feature(enable = "avx2,vaes")]
pub(super) fn encrypt<const N: usize>(keys: &[[u8; 16]; N], mut data: InOutBuf<'_, '_, [u8; 16]>) {
    while data.len() >= 16 {
        let (part, rest) = data.split_at(16);
        encrypt_part::<N, 8>(keys, part);
        data = rest;
    }
    if data.len() >= 8 {
        let (part, rest) = data.split_at(8);
        encrypt_part::<N, 4>(keys, part);
        data = rest;
    }
    while data.len() >= 2 {
        let (part, rest) = data.split_at(2);
        encrypt_part::<N, 1>(keys, part);
        data = rest;
    }
    if !data.is_empty() {
        let mut pair = [data.get_in()[0], [0; 16]];
        encrypt_part::<N, 1>(keys, pair.as_mut_slice().into());
        data.get_out()[0] = pair[0];
        wipe::memory(pair.as_flattened_mut());
    }
}

#[inline]
#[target_feature(enable = "avx2,vaes")]
fn encrypt_part<const N: usize, const V: usize>(
    keys: &[[u8; 16]; N],
    mut data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut state = [broadcast(&keys[0]); V];
    for (x, pair) in state.iter_mut().zip(data.get_in().as_flattened().as_chunks().0) {
        *x = _mm256_xor_si256(*x, load256(pair));
    }
    let out = data.get_out().as_flattened_mut().as_chunks_mut().0;
    for (x, pair) in rounds(keys, state).into_iter().zip(out) {
        store256(pair, x);
    }
}

#[target_feature(enable = "avx2,vaes")]
pub(super) fn keystream<const N: usize>(keys: &[[u8; 16]; N], counter: u128, out: &mut [u8]) {
    ctr::<N, false>(keys, counter, out.into());
}

#[target_feature(enable = "avx2,vaes")]
pub(super) fn xor<const N: usize>(keys: &[[u8; 16]; N], counter: u128, data: InOutBuf<'_, '_, u8>) {
    ctr::<N, true>(keys, counter, data);
}

/// Writes keystream, or if `XOR` adds it to the input. The lower half of the counter does not
/// wrap within the request.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn ctr<const N: usize, const XOR: bool>(
    keys: &[[u8; 16]; N],
    counter: u128,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let mut counter =
        _mm256_add_epi64(broadcast(&counter.to_le_bytes()), _mm256_set_epi64x(0, 1, 0, 0));
    while data.len() >= 256 {
        let (part, rest) = data.split_at(256);
        ctr_part::<N, 8, XOR>(keys, &mut counter, part);
        data = rest;
    }
    if data.len() >= 128 {
        let (part, rest) = data.split_at(128);
        ctr_part::<N, 4, XOR>(keys, &mut counter, part);
        data = rest;
    }
    while data.len() >= 32 {
        let (part, rest) = data.split_at(32);
        ctr_part::<N, 1, XOR>(keys, &mut counter, part);
        data = rest;
    }
    if !data.is_empty() {
        let length = data.len();
        let mut pair = [0; 32];
        if XOR {
            pair[..length].copy_from_slice(data.get_in());
        }
        ctr_part::<N, 1, XOR>(keys, &mut counter, pair.as_mut_slice().into());
        data.get_out().copy_from_slice(&pair[..length]);
        wipe::memory(&mut pair);
    }
}

#[inline]
#[target_feature(enable = "avx2,vaes")]
fn ctr_part<const N: usize, const V: usize, const XOR: bool>(
    keys: &[[u8; 16]; N],
    counter: &mut __m256i,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let big_endian =
        _mm256_broadcastsi128_si256(_mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f));
    let two = _mm256_set_epi64x(0, 2, 0, 2);
    let mut state = [broadcast(&keys[0]); V];
    for x in &mut state {
        *x = _mm256_xor_si256(*x, _mm256_shuffle_epi8(*counter, big_endian));
        *counter = _mm256_add_epi64(*counter, two);
    }
    let mut stream = rounds(keys, state);
    if XOR {
        for (x, pair) in stream.iter_mut().zip(data.get_in().as_chunks().0) {
            *x = _mm256_xor_si256(*x, load256(pair));
        }
    }
    for (x, pair) in stream.into_iter().zip(data.get_out().as_chunks_mut().0) {
        store256(pair, x);
    }
}

/// All rounds, on states to which the first round key has been added.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn rounds<const N: usize, const V: usize>(
    keys: &[[u8; 16]; N],
    mut state: [__m256i; V],
) -> [__m256i; V] {
    for key in &keys[1..N - 1] {
        let key = broadcast(key);
        for x in &mut state {
            *x = _mm256_aesenc_epi128(*x, key);
        }
    }
    let key = broadcast(&keys[N - 1]);
    for x in &mut state {
        *x = _mm256_aesenclast_epi128(*x, key);
    }
    state
}

#[inline]
#[target_feature(enable = "avx2")]
fn broadcast(block: &[u8; 16]) -> __m256i {
    _mm256_broadcastsi128_si256(load128(block))
}
