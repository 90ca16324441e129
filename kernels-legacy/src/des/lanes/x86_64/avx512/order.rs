//! The order of lanes: from eight blocks of each of eight lanes to a byte of each of 64, and back.

use core::arch::x86_64::*;

use crate::des::x86_64::avx512::{exchange, reversed};

/// The places at which [`transpose`] puts the bytes of a lane.
pub(super) const fn position(group: usize, lane: usize) -> usize {
    8 * lane + reversed(group)
}

/// Brings the same word of 64 bits of each of eight rows into one vector, two and two of them
/// byte by byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn interleave_rows(rows: &[__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = *rows;
    let even = quarters([
        _mm512_unpacklo_epi8(a, b),
        _mm512_unpacklo_epi8(c, d),
        _mm512_unpacklo_epi8(e, f),
        _mm512_unpacklo_epi8(g, h),
    ]);
    let odd = quarters([
        _mm512_unpackhi_epi8(a, b),
        _mm512_unpackhi_epi8(c, d),
        _mm512_unpackhi_epi8(e, f),
        _mm512_unpackhi_epi8(g, h),
    ]);
    [even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3]]
}

/// From vectors of [`interleave_rows`] to vectors of a byte of each lane, where byte `i` is in the
/// vector [`reversed`]`(i)`; and back to vectors of eight blocks, of the lanes of [`leaving`].
///
/// Let xyz be the binary digits of a group's number, h the last digit of a lane's number there, and
/// jkl those of a byte's number. Within 128 bits of the vector xyz the byte stands at jklh. Each
/// step moves the first of these digits to the vector's number, and one of that behind the others:
/// the byte is then at klhz, lhzy and in the end at hzyx of the vector lkj. On the way back it goes
/// to zyxj, yxjk and at last xjkl of the vector yzh.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn exchange_all(vectors: [__m512i; 8]) -> [__m512i; 8] {
    exchange(exchange(exchange(vectors, 1), 2), 4)
}

/// The lane that stands at a place of a vector of eight blocks on the way back, see
/// [`exchange_all`].
pub(super) const fn leaving(group: usize, at: usize) -> usize {
    let (lane, from) = (at & 6 | group & 1, at << 2 & 4 | group >> 1);
    8 * from + lane
}

/// Undoes [`leaving`]: the group of a lane on the way back, and its place there.
pub(super) const fn left_at(lane: usize) -> (usize, usize) {
    let (from, lane) = (lane / 8, lane % 8);
    (lane & 1 | from << 1 & 6, lane & 6 | from >> 2)
}

/// Transposes eight by eight words of 64 bits.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose_words(rows: &[__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = *rows;
    let even = quarters([
        _mm512_unpacklo_epi64(a, b),
        _mm512_unpacklo_epi64(c, d),
        _mm512_unpacklo_epi64(e, f),
        _mm512_unpacklo_epi64(g, h),
    ]);
    let odd = quarters([
        _mm512_unpackhi_epi64(a, b),
        _mm512_unpackhi_epi64(c, d),
        _mm512_unpackhi_epi64(e, f),
        _mm512_unpackhi_epi64(g, h),
    ]);
    [even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3]]
}

/// Transposes four by four quarters of registers.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarters([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let low = [_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d)];
    let high = [_mm512_shuffle_i64x2::<0xee>(a, b), _mm512_shuffle_i64x2::<0xee>(c, d)];
    [
        _mm512_shuffle_i64x2::<0x88>(low[0], low[1]),
        _mm512_shuffle_i64x2::<0xdd>(low[0], low[1]),
        _mm512_shuffle_i64x2::<0x88>(high[0], high[1]),
        _mm512_shuffle_i64x2::<0xdd>(high[0], high[1]),
    ]
}
