//! AES with AES-NI, eight blocks at a time. Constant time in key and data.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::simd::{load128, store128};
use crate::{Level, wipe};

pub(super) const NEEDS: Level = Level::AesNi;

#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(super) fn encrypt<const N: usize>(keys: &[[u8; 16]; N], mut data: InOutBuf<'_, '_, [u8; 16]>) {
    while data.len() >= 8 {
        let (part, rest) = data.split_at(8);
        encrypt_part::<N, 8>(keys, part);
        data = rest;
    }
    if data.len() >= 4 {
        let (part, rest) = data.split_at(4);
        encrypt_part::<N, 4>(keys, part);
        data = rest;
    }
    while !data.is_empty() {
        let (part, rest) = data.split_at(1);
        encrypt_part::<N, 1>(keys, part);
        data = rest;
    }
}

#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn encrypt_part<const N: usize, const V: usize>(
    keys: &[[u8; 16]; N],
    mut data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut state = [load128(&keys[0]); V];
    for (x, block) in state.iter_mut().zip(data.get_in()) {
        *x = _mm_xor_si128(*x, load128(block));
    }
    for (x, block) in rounds(keys, state).into_iter().zip(data.get_out()) {
        store128(block, x);
    }
}

#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(super) fn keystream<const N: usize>(keys: &[[u8; 16]; N], counter: u128, out: &mut [u8]) {
    ctr::<N, false>(keys, counter, out.into());
}

#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(super) fn xor<const N: usize>(keys: &[[u8; 16]; N], counter: u128, data: InOutBuf<'_, '_, u8>) {
    ctr::<N, true>(keys, counter, data);
}

/// Writes keystream, or if `XOR` adds it to the input. The lower half of the counter does not
/// wrap within the request.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn ctr<const N: usize, const XOR: bool>(
    keys: &[[u8; 16]; N],
    counter: u128,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let mut counter = load128(&counter.to_le_bytes());
    while data.len() >= 128 {
        let (part, rest) = data.split_at(128);
        ctr_part::<N, 8, XOR>(keys, &mut counter, part);
        data = rest;
    }
    if data.len() >= 64 {
        let (part, rest) = data.split_at(64);
        ctr_part::<N, 4, XOR>(keys, &mut counter, part);
        data = rest;
    }
    while data.len() >= 16 {
        let (part, rest) = data.split_at(16);
        ctr_part::<N, 1, XOR>(keys, &mut counter, part);
        data = rest;
    }
    if !data.is_empty() {
        let length = data.len();
        let mut block = [0; 16];
        if XOR {
            block[..length].copy_from_slice(data.get_in());
        }
        ctr_part::<N, 1, XOR>(keys, &mut counter, block.as_mut_slice().into());
        data.get_out().copy_from_slice(&block[..length]);
        wipe::memory(&mut block);
    }
}

#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn ctr_part<const N: usize, const V: usize, const XOR: bool>(
    keys: &[[u8; 16]; N],
    counter: &mut __m128i,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let big_endian = _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
    let one = _mm_set_epi64x(0, 1);
    let mut state = [load128(&keys[0]); V];
    for x in &mut state {
        *x = _mm_xor_si128(*x, _mm_shuffle_epi8(*counter, big_endian));
        *counter = _mm_add_epi64(*counter, one);
    }
    let mut stream = rounds(keys, state);
    if XOR {
        for (x, block) in stream.iter_mut().zip(data.get_in().as_chunks().0) {
            *x = _mm_xor_si128(*x, load128(block));
        }
    }
    for (x, block) in stream.into_iter().zip(data.get_out().as_chunks_mut().0) {
        store128(block, x);
    }
}

/// All rounds, on states to which the first round key has been added.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn rounds<const N: usize, const V: usize>(
    keys: &[[u8; 16]; N],
    mut state: [__m128i; V],
) -> [__m128i; V] {
    for key in &keys[1..N - 1] {
        let key = load128(key);
        for x in &mut state {
            *x = _mm_aesenc_si128(*x, key);
        }
    }
    let key = load128(&keys[N - 1]);
    for x in &mut state {
        *x = _mm_aesenclast_si128(*x, key);
    }
    state
}
