//! Blocks in registers of 128 bits: four blocks lane by lane, or one whose rows are registers.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::simd::{load128, store128};

/// A word, the same in all lanes.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn splat(word: u32) -> __m128i {
    _mm_set1_epi32(word.cast_signed())
}

/// A column of the state, the same in all lanes.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn column(words: &[u32; 16], at: usize) -> [__m128i; 4] {
    [splat(words[at]), splat(words[4 + at]), splat(words[8 + at]), splat(words[12 + at])]
}

/// Words, the same in all lanes.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn splat_all(words: &[u32; 16]) -> [__m128i; 16] {
    let [w0, w4, w8, w12] = column(words, 0);
    let [w1, w5, w9, w13] = column(words, 1);
    let [w2, w6, w10, w14] = column(words, 2);
    let [w3, w7, w11, w15] = column(words, 3);
    [w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15]
}

/// Adds to the words `x` of all lanes those that the rounds began with, and puts the blocks, one
/// a lane, where [`put`] puts them.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn put_lanes<'i, 'o, const XOR: bool>(
    x: [__m128i; 16],
    start: [__m128i; 16],
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15] = start;
    let [a0, a1, a2, a3] = across(plus([x0, x1, x2, x3], [s0, s1, s2, s3]));
    let [b0, b1, b2, b3] = across(plus([x4, x5, x6, x7], [s4, s5, s6, s7]));
    let [c0, c1, c2, c3] = across(plus([x8, x9, x10, x11], [s8, s9, s10, s11]));
    let [d0, d1, d2, d3] = across(plus([x12, x13, x14, x15], [s12, s13, s14, s15]));
    let blocks = [[a0, b0, c0, d0], [a1, b1, c1, d1], [a2, b2, c2, d2], [a3, b3, c3, d3]];
    put::<XOR, 4>(&blocks, data)
}

/// The sum of four words with four others.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn plus([x0, x1, x2, x3]: [__m128i; 4], [y0, y1, y2, y3]: [__m128i; 4]) -> [__m128i; 4] {
    [_mm_add_epi32(x0, y0), _mm_add_epi32(x1, y1), _mm_add_epi32(x2, y2), _mm_add_epi32(x3, y3)]
}

/// Gathers four words of a row that lie lane by lane: the `i`-th result is a row of
/// block `i`.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn across([x0, x1, x2, x3]: [__m128i; 4]) -> [__m128i; 4] {
    let (low01, high01) = (_mm_unpacklo_epi32(x0, x1), _mm_unpackhi_epi32(x0, x1));
    let (low23, high23) = (_mm_unpacklo_epi32(x2, x3), _mm_unpackhi_epi32(x2, x3));
    [
        _mm_unpacklo_epi64(low01, low23),
        _mm_unpackhi_epi64(low01, low23),
        _mm_unpacklo_epi64(high01, high23),
        _mm_unpackhi_epi64(high01, high23),
    ]
}

/// A row of words.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn row(&[w0, w1, w2, w3]: &[u32; 4]) -> __m128i {
    _mm_setr_epi32(w0.cast_signed(), w1.cast_signed(), w2.cast_signed(), w3.cast_signed())
}

/// Writes blocks over the front of `data`, or XORs them in, and gives back what is left of it.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn put<'i, 'o, const XOR: bool, const N: usize>(
    blocks: &[[__m128i; 4]; N],
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    if data.len() < 64 * N {
        // A copy, so that only this path has the blocks in memory.
        let spilled = *blocks;
        return put_part::<XOR, N>(&spilled, data);
    }
    let (mut front, rest) = data.split_at(64 * N);
    let blocks = if XOR { xor_all(*blocks, front.get_in()) } else { *blocks };
    write(&blocks, front.get_out());
    rest
}

/// [`put`] for fewer bytes than there are: nothing is left of `data`.
#[inline(never)]
#[target_feature(enable = "ssse3")]
fn put_part<'i, 'o, const XOR: bool, const N: usize>(
    blocks: &[[__m128i; 4]; N],
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let mut buffer = [[0; 64]; N];
    let part = data.len();
    let (mut front, rest) = data.split_at(part);
    if XOR {
        buffer.as_flattened_mut()[..part].copy_from_slice(front.get_in());
        write(&xor_all(*blocks, buffer.as_flattened()), buffer.as_flattened_mut());
    } else {
        write(blocks, buffer.as_flattened_mut());
    }
    front.get_out().copy_from_slice(&buffer.as_flattened()[..part]);
    rest
}

/// XORs bytes, as many as there are in the blocks, into them.
#[inline]
#[target_feature(enable = "ssse3")]
fn xor_all<const N: usize>(mut blocks: [[__m128i; 4]; N], bytes: &[u8]) -> [[__m128i; 4]; N] {
    for (row, bytes) in blocks.as_flattened_mut().iter_mut().zip(bytes.as_chunks().0) {
        *row = _mm_xor_si128(*row, load128(bytes));
    }
    blocks
}

/// Writes blocks over `out`, which has their length.
#[inline]
#[target_feature(enable = "ssse3")]
fn write<const N: usize>(blocks: &[[__m128i; 4]; N], out: &mut [u8]) {
    for (row, bytes) in blocks.as_flattened().iter().zip(out.as_chunks_mut().0) {
        store128(bytes, *row);
    }
}
