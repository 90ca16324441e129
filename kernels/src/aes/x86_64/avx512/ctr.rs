//! Counter mode in 512-bit registers.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{broadcast, rounds, store};
use crate::aes::FORWARD;
use crate::aes::RoundKeys;
use crate::simd::{load512, load512_part};

/// [`ctr`](super::ctr) in 512-bit registers.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(super) fn wide<const XOR: bool>(keys: &RoundKeys, counter: u128, data: InOutBuf<'_, '_, u8>) {
    let mut data = data;
    let mut counter = counters(counter);
    while data.len() > 512 {
        let (part, rest) = data.split_at(512);
        counter = ctr_part::<8, XOR, false>(keys, counter, part);
        data = rest;
    }
    if !data.is_empty() {
        for_count!(data.len().div_ceil(64), ctr_part::<_, XOR, true>(keys, counter, data));
    }
}

/// `V` vectors, of which the last may be a part, and the counters after them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn ctr_part<const V: usize, const XOR: bool, const LAST: bool>(
    keys: &RoundKeys,
    mut counter: __m512i,
    data: InOutBuf<'_, '_, u8>,
) -> __m512i {
    let state = first::<V>(broadcast(keys.first()), &mut counter);
    emit::<V, XOR>(rounds::<V, FORWARD>(keys, state), data);
    counter
}

/// Writes keystream, or if `XOR` adds it to the input; the last vector may be a part.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
pub(super) fn emit<const V: usize, const XOR: bool>(
    mut stream: [__m512i; V],
    data: InOutBuf<'_, '_, u8>,
) {
    let (mut whole, mut last) = data.split_at(64 * (V - 1));
    if XOR {
        for (x, four) in stream.iter_mut().zip(whole.get_in().as_chunks().0) {
            *x = _mm512_xor_si512(*x, load512(four));
        }
        stream[V - 1] = _mm512_xor_si512(stream[V - 1], load512_part(last.get_in()));
    }
    store(stream, whole.get_out(), last.get_out());
}

/// The counters of four blocks from `first` on, as little-endian numbers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn counters(first: u128) -> __m512i {
    let number = _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0);
    _mm512_add_epi64(broadcast(&first.to_le_bytes()), number)
}

/// The next counter blocks, with the first round key added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn first<const V: usize>(key: __m512i, counter: &mut __m512i) -> [__m512i; V] {
    let big_endian = broadcast(&[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    let four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    let mut state = [key; V];
    for x in &mut state {
        *x = _mm512_xor_si512(*x, _mm512_shuffle_epi8(*counter, big_endian));
        *counter = _mm512_add_epi64(*counter, four);
    }
    state
}
