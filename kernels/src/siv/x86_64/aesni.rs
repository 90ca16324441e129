//! SIV with AES-NI. Constant time in key and data.
//!
//! Higher levels use the chain: it has one block in flight whatever the width of registers.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::isa::XOR;
use crate::simd::{load128, store128};
use crate::siv::cmac::{doubled, put_short, short};
use crate::siv::{Keys, counter};
use crate::{Level, aes, in_parts};

pub(crate) const NEEDS: Level = Level::AesNi;

kernels!(#[target_feature(enable = "aes,sse4.1,ssse3")]);

/// CMAC of blocks in memory and behind them.
///
/// As in CBC, the value that is added between two blocks goes into the last round key, so that a
/// block takes as long as its rounds.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn chain<const N: usize, const V: usize>(
    keys: &[[u8; 16]; N],
    body: &[[u8; 16]],
    end: [__m128i; V],
) -> __m128i {
    let (first, last) = (load128(&keys[0]), load128(&keys[N - 1]));
    let between = _mm_xor_si128(first, last);
    let mut state = first;
    let mut end = end.into_iter();
    if let Some((head, body)) = body.split_first() {
        state = _mm_xor_si128(state, load128(head));
        for block in body {
            state = rounds(keys, state, _mm_xor_si128(between, load128(block)));
        }
    } else if let Some(head) = end.next() {
        state = _mm_xor_si128(state, head);
    }
    for block in end {
        state = rounds(keys, state, _mm_xor_si128(between, block));
    }
    rounds(keys, state, last)
}

/// All rounds, with this last round key.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn rounds<const N: usize>(keys: &[[u8; 16]; N], mut state: __m128i, last: __m128i) -> __m128i {
    for key in &keys[1..N - 1] {
        state = _mm_aesenc_si128(state, load128(key));
    }
    _mm_aesenclast_si128(state, last)
}

/// CTR from V on.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn crypt<const N: usize>(keys: &[[u8; 16]; N], v: __m128i, data: InOutBuf<'_, '_, u8>) {
    match data.len() {
        0 => {}
        1..=16 => short_ctr::<N, 1>(keys, v, data),
        17..=32 => short_ctr::<N, 2>(keys, v, data),
        33..=48 => short_ctr::<N, 3>(keys, v, data),
        49..=64 => short_ctr::<N, 4>(keys, v, data),
        _ => aes::x86_64::aesni::ctr(keys, counter(number(v)), data, XOR),
    }
}

/// CTR of `V` blocks, of which the last may be a part.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn short_ctr<const N: usize, const V: usize>(
    keys: &[[u8; 16]; N],
    v: __m128i,
    data: InOutBuf<'_, '_, u8>,
) {
    let (mut whole, mut last) = data.split_at(16 * (V - 1));
    let reversed = _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
    // Section 2.5: the top bits of both lower words of 32 bits.
    let v = _mm_and_si128(v, block(counter(u128::MAX).swap_bytes()));
    let mut counter = _mm_shuffle_epi8(v, reversed);
    let mut stream = [load128(&keys[0]); V];
    for x in &mut stream {
        *x = _mm_xor_si128(*x, _mm_shuffle_epi8(counter, reversed));
        counter = _mm_add_epi64(counter, _mm_set_epi64x(0, 1));
    }
    for key in &keys[1..N - 1] {
        let key = load128(key);
        for x in &mut stream {
            *x = _mm_aesenc_si128(*x, key);
        }
    }
    for x in &mut stream {
        *x = _mm_aesenclast_si128(*x, load128(&keys[N - 1]));
    }
    for (x, block) in stream.iter_mut().zip(whole.get_in().as_chunks().0) {
        *x = _mm_xor_si128(*x, load128(block));
    }
    let end = match last.get_in().first_chunk() {
        Some(whole) => load128(whole),
        None => block(short(last.get_in())),
    };
    for (x, block) in stream.iter().zip(whole.get_out().as_chunks_mut().0) {
        store128(block, *x);
    }
    let end = _mm_xor_si128(stream[V - 1], end);
    match last.get_out().first_chunk_mut() {
        Some(whole) => store128(whole, end),
        None => put_short(last.get_out(), number(end)),
    }
}

/// Not by way of memory, where the processor would delay the load until all work before it is done:
/// halves have just been stored.
#[inline]
#[target_feature(enable = "sse2")]
#[expect(clippy::cast_possible_truncation, reason = "a half is meant")]
pub(crate) fn block(number: u128) -> __m128i {
    let [upper, lower] = [(number >> 64) as u64, number as u64];
    _mm_set_epi64x(upper.cast_signed(), lower.cast_signed())
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(crate) fn number(block: __m128i) -> u128 {
    let lower = _mm_cvtsi128_si64(block).cast_unsigned();
    let upper = _mm_extract_epi64::<1>(block).cast_unsigned();
    u128::from(upper) << 64 | u128::from(lower)
}
