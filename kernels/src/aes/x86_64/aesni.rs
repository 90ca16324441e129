//! AES with AES-NI, eight blocks at a time. Constant time in key and data.
//!
//! Higher levels also use the functions for single blocks: compiled for AVX, these do without moves
//! between registers.

mod expand;

use core::arch::x86_64::*;

use inout::InOutBuf;

pub(crate) use self::expand::*;
use crate::Level;
use crate::aes::{FORWARD, INVERSE};
use crate::isa::{Mode, WRITE};
use crate::simd::{load128, load128_part, store128, store128_part};

pub(crate) const NEEDS: Level = Level::AesNi;

/// The first 8 bytes of an encrypted block.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn front<const N: usize>(keys: &[[u8; 16]; N], block: &[u8; 16]) -> u64 {
    let state = middle_rounds(keys, _mm_xor_si128(load128(&keys[0]), load128(block)));
    let state = _mm_aesenclast_si128(state, load128(&keys[N - 1]));
    _mm_cvtsi128_si64(state).cast_unsigned()
}

#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn ecb<const N: usize, const MODE: bool>(
    keys: &[[u8; 16]; N],
    data: InOutBuf<'_, '_, [u8; 16]>,
    _: Mode<MODE>,
) {
    let mut data = data;
    while data.len() > 8 {
        let (part, rest) = data.split_at(8);
        ecb_part::<N, 8, MODE, false>(keys, part);
        data = rest;
    }
    if !data.is_empty() {
        for_count!(data.len(), ecb_part::<N, _, MODE, true>(keys, data));
    }
}

/// `V` blocks.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn ecb_part<const N: usize, const V: usize, const MODE: bool, const LAST: bool>(
    keys: &[[u8; 16]; N],
    data: InOutBuf<'_, '_, [u8; 16]>,
) {
    // The compiler now knows the number.
    let (mut data, _) = data.split_at(V);
    let mut state = [load128(&keys[0]); V];
    for (x, block) in state.iter_mut().zip(data.get_in()) {
        *x = _mm_xor_si128(*x, load128(block));
    }
    for (x, block) in rounds::<N, V, MODE>(keys, state).into_iter().zip(data.get_out()) {
        store128(block, x);
    }
}

/// One block after the other, each as long as its rounds: the value that is added between two
/// blocks goes into the last round key, so that the first round of the next block can follow at
/// once.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn cbc_encrypt<const N: usize>(
    keys: &[[u8; 16]; N],
    iv: &mut [u8; 16],
    data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut blocks = data.into_iter();
    let Some(mut block) = blocks.next() else { return };
    let first = load128(&keys[0]);
    let last = load128(&keys[N - 1]);
    let mut state = _mm_xor_si128(load128(iv), _mm_xor_si128(load128(block.get_in()), first));
    for next in blocks {
        let add = _mm_xor_si128(load128(next.get_in()), first);
        state = _mm_aesenclast_si128(middle_rounds(keys, state), _mm_xor_si128(last, add));
        store128(block.get_out(), _mm_xor_si128(state, add));
        block = next;
    }
    state = _mm_aesenclast_si128(middle_rounds(keys, state), last);
    store128(block.get_out(), state);
    store128(iv, state);
}

/// All rounds but the last.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn middle_rounds<const N: usize>(keys: &[[u8; 16]; N], mut state: __m128i) -> __m128i {
    for key in &keys[1..N - 1] {
        state = _mm_aesenc_si128(state, load128(key));
    }
    state
}

#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn cbc_decrypt<const N: usize>(
    keys: &[[u8; 16]; N],
    iv: &mut [u8; 16],
    data: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut data = data;
    let mut before = load128(iv);
    while data.len() > 8 {
        let (part, rest) = data.split_at(8);
        before = cbc_decrypt_part::<N, 8, false>(keys, before, part);
        data = rest;
    }
    if !data.is_empty() {
        before = for_count!(data.len(), cbc_decrypt_part::<N, _, true>(keys, before, data));
    }
    store128(iv, before);
}

/// `V` blocks; `before` is the ciphertext before them, and the last of theirs is returned.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn cbc_decrypt_part<const N: usize, const V: usize, const LAST: bool>(
    keys: &[[u8; 16]; N],
    before: __m128i,
    data: InOutBuf<'_, '_, [u8; 16]>,
) -> __m128i {
    let (mut data, _) = data.split_at(V);
    let mut state = [load128(&keys[0]); V];
    for (x, block) in state.iter_mut().zip(data.get_in()) {
        *x = _mm_xor_si128(*x, load128(block));
    }
    let mut text = rounds::<N, V, INVERSE>(keys, state);
    // All ciphertext is read once more before the first block is written over it.
    let mut before = before;
    for (x, block) in text.iter_mut().zip(data.get_in()) {
        *x = _mm_xor_si128(*x, before);
        before = load128(block);
    }
    for (x, block) in text.into_iter().zip(data.get_out()) {
        store128(block, x);
    }
    before
}

/// Writes keystream over `out`, which is made a buffer here: it comes in registers.
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn keystream<const N: usize>(keys: &[[u8; 16]; N], counter: u128, out: &mut [u8]) {
    ctr(keys, counter, out.into(), WRITE);
}

/// Writes keystream, or if `XOR` adds it to the input. The lower half of the counter does not
/// wrap within the request.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn ctr<const N: usize, const XOR: bool>(
    keys: &[[u8; 16]; N],
    counter: u128,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<XOR>,
) {
    let mut data = data;
    let mut counter = load128(&counter.to_le_bytes());
    while data.len() > 128 {
        let (part, rest) = data.split_at(128);
        counter = ctr_part::<N, 8, XOR, false>(keys, counter, part);
        data = rest;
    }
    if !data.is_empty() {
        for_count!(data.len().div_ceil(16), ctr_part::<N, _, XOR, true>(keys, counter, data));
    }
}

/// `V` blocks, of which the last may be a part, and the counter after them.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn ctr_part<const N: usize, const V: usize, const XOR: bool, const LAST: bool>(
    keys: &[[u8; 16]; N],
    mut counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
) -> __m128i {
    let (mut whole, mut last) = data.split_at(16 * (V - 1));
    let big_endian = _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
    let mut state = [load128(&keys[0]); V];
    for x in &mut state {
        *x = _mm_xor_si128(*x, _mm_shuffle_epi8(counter, big_endian));
        counter = _mm_add_epi64(counter, _mm_set_epi64x(0, 1));
    }
    let mut stream = rounds::<N, V, FORWARD>(keys, state);
    if XOR {
        for (x, block) in stream.iter_mut().zip(whole.get_in().as_chunks().0) {
            *x = _mm_xor_si128(*x, load128(block));
        }
        stream[V - 1] = _mm_xor_si128(stream[V - 1], load128_part(last.get_in()));
    }
    for (x, block) in stream.iter().zip(whole.get_out().as_chunks_mut().0) {
        store128(block, *x);
    }
    store128_part(last.get_out(), stream[V - 1]);
    counter
}

/// All rounds, on states to which the first round key has been added.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn rounds<const N: usize, const V: usize, const MODE: bool>(
    keys: &[[u8; 16]; N],
    mut state: [__m128i; V],
) -> [__m128i; V] {
    for key in &keys[1..N - 1] {
        let key = load128(key);
        for x in &mut state {
            *x = if MODE { _mm_aesenc_si128(*x, key) } else { _mm_aesdec_si128(*x, key) };
        }
    }
    let key = load128(&keys[N - 1]);
    for x in &mut state {
        *x = if MODE { _mm_aesenclast_si128(*x, key) } else { _mm_aesdeclast_si128(*x, key) };
    }
    state
}
