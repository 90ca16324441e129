//! Four blocks at a time, one in each lane of 32 bits; one, two or three blocks with a diagonal in
//! each register.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{first_double_round, words};
use crate::Level;
use crate::arx::ssse3::{column, put, put_lanes, row, splat, splat_all};
use crate::arx::{State, wraps};
use crate::simd::opaque_count;

pub(super) const NEEDS: Level = Level::Ssse3;

/// Writes keystream over `out`.
#[target_feature(enable = "ssse3")]
pub(super) fn keystream<const ROUNDS: usize>(state: &State<ROUNDS>, out: &mut [u8]) {
    apply::<ROUNDS, false>(state, out.into());
}

/// XORs keystream into `data`.
#[target_feature(enable = "ssse3")]
pub(super) fn xor<const ROUNDS: usize>(state: &State<ROUNDS>, data: InOutBuf<'_, '_, u8>) {
    apply::<ROUNDS, true>(state, data);
}

/// Whole widths first, then the narrowest form that covers what is left.
#[inline]
#[target_feature(enable = "ssse3")]
fn apply<const ROUNDS: usize, const XOR: bool>(state: &State<ROUNDS>, data: InOutBuf<'_, '_, u8>) {
    let mut data = data;
    let mut counter = state.counter;
    // When the low word of the counter wraps within, the narrower forms, which carry, do all.
    if data.len() > 3 * 64 && !wraps(counter, data.len()) {
        let len = data.len();
        data = fours::<ROUNDS, XOR>(state, data);
        counter = counter.wrapping_add(((len - data.len()) / 64) as u64);
    }
    while !data.is_empty() {
        data = match data.len().div_ceil(64) {
            0..=1 => ones::<ROUNDS, XOR, 1>(state, counter, data),
            2 => ones::<ROUNDS, XOR, 2>(state, counter, data),
            _ => ones::<ROUNDS, XOR, 3>(state, counter, data),
        };
        counter = counter.wrapping_add(3);
    }
}

/// Whole widths of 4 blocks, until at most 3 blocks are left of `data`, which is given back.
///
/// The low word of the counter must not wrap within: all lanes take the same high word.
#[inline(never)]
#[target_feature(enable = "ssse3")]
fn fours<'i, 'o, const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let mut data = data;
    let words = &words(state, state.counter);
    let started = &first_double_round(words);
    let lanes = _mm_setr_epi32(0, 1, 2, 3);
    let mut counters = _mm_add_epi32(splat(words[8]), lanes);
    while data.len() > 3 * 64 {
        let first = [splat(words[0]), splat(words[4]), counters, splat(words[12])];
        let [x0, _, x8, x12] = quarter(first);
        let [_, x4, _, _] = column(started, 0);
        let [x1, x5, x9, x13] = column(started, 1);
        let [x2, x6, x10, x14] = column(started, 2);
        let [x3, x7, x11, x15] = column(started, 3);
        let [x0, x1, x2, x3] = quarter([x0, x1, x2, x3]);
        let [x10, x11, x8, x9] = quarter([x10, x11, x8, x9]);
        let [x15, x12, x13, x14] = quarter([x15, x12, x13, x14]);
        let mut x = [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15];
        for _ in 1..opaque_count(ROUNDS / 2) {
            x = rows(columns(x));
        }
        let mut start = splat_all(words);
        start[8] = counters;
        data = put_lanes::<XOR>(x, start, data);
        counters = _mm_add_epi32(counters, splat(4));
    }
    data
}

/// A round of columns on the words of all lanes.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn columns(x: [__m128i; 16]) -> [__m128i; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [x0, x4, x8, x12] = quarter([x0, x4, x8, x12]);
    let [x5, x9, x13, x1] = quarter([x5, x9, x13, x1]);
    let [x10, x14, x2, x6] = quarter([x10, x14, x2, x6]);
    let [x15, x3, x7, x11] = quarter([x15, x3, x7, x11]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A round of rows on the words of all lanes.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn rows(x: [__m128i; 16]) -> [__m128i; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [x0, x1, x2, x3] = quarter([x0, x1, x2, x3]);
    let [x5, x6, x7, x4] = quarter([x5, x6, x7, x4]);
    let [x10, x11, x8, x9] = quarter([x10, x11, x8, x9]);
    let [x15, x12, x13, x14] = quarter([x15, x12, x13, x14]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A quarter-round in each lane of 32 bits.
#[inline]
#[target_feature(enable = "ssse3")]
fn quarter([mut a, mut b, mut c, mut d]: [__m128i; 4]) -> [__m128i; 4] {
    b = xor_turned::<7, 25>(b, _mm_add_epi32(a, d));
    c = xor_turned::<9, 23>(c, _mm_add_epi32(b, a));
    d = xor_turned::<13, 19>(d, _mm_add_epi32(c, b));
    a = xor_turned::<18, 14>(a, _mm_add_epi32(d, c));
    [a, b, c, d]
}

/// XORs words, rotated left by `LEFT` bits, into others; `RIGHT` is 32 less `LEFT`.
#[inline]
#[target_feature(enable = "ssse3")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(into: __m128i, words: __m128i) -> __m128i {
    const { assert!(LEFT + RIGHT == 32) };
    let high = _mm_xor_si128(into, _mm_slli_epi32::<LEFT>(words));
    _mm_xor_si128(high, _mm_srli_epi32::<RIGHT>(words))
}

/// The diagonals of a block: `a` is the main one, the `j`-th word of `b`, `c` and `d` stands one,
/// two and three rows below the `j`-th of `a`.
#[derive(Clone, Copy)]
struct Diagonals {
    a: __m128i,
    b: __m128i,
    c: __m128i,
    d: __m128i,
}

impl Diagonals {
    /// The start of the block `counter`.
    #[inline]
    #[target_feature(enable = "ssse3")]
    fn of<const ROUNDS: usize>(state: &State<ROUNDS>, counter: u64) -> Self {
        let key = state.key.as_chunks().0;
        // Every word is in the lane of its column; each diagonal takes two words from one of
        // these and one from each of the others.
        let front = _mm_shuffle_epi32::<0x93>(row(&key[1]));
        let back = _mm_shuffle_epi32::<0x39>(row(&key[2]));
        let last = _mm_set_epi64x(state.nonce.cast_signed(), counter.cast_signed());
        Self {
            a: row(&key[0]),
            b: blend::<0b0100>(blend::<0b0010>(front, last), back),
            c: blend::<0b0100>(blend::<0b0010>(last, back), front),
            d: blend::<0b0100>(blend::<0b0010>(back, front), last),
        }
    }

    /// A round of columns, a round of rows. The main diagonal is ready last in each round, so the
    /// other three are turned against it and the turning costs no time.
    #[inline]
    #[target_feature(enable = "ssse3")]
    fn double_round(self) -> Self {
        let [a, b, c, d] = quarter([self.a, self.b, self.c, self.d]);
        let b = _mm_shuffle_epi32::<0x93>(b);
        let c = _mm_shuffle_epi32::<0x4e>(c);
        let d = _mm_shuffle_epi32::<0x39>(d);
        let [a, d, c, b] = quarter([a, d, c, b]);
        Self {
            a,
            b: _mm_shuffle_epi32::<0x39>(b),
            c: _mm_shuffle_epi32::<0x4e>(c),
            d: _mm_shuffle_epi32::<0x93>(d),
        }
    }

    /// The block: what the rounds made of `start`, added to it.
    #[inline]
    #[target_feature(enable = "ssse3")]
    fn blocks(self, start: Self) -> [[__m128i; 4]; 1] {
        let a = _mm_add_epi32(self.a, start.a);
        let b = _mm_add_epi32(self.b, start.b);
        let c = _mm_add_epi32(self.c, start.c);
        let d = _mm_add_epi32(self.d, start.d);
        let ad = blend::<0b1010>(a, d);
        let ba = blend::<0b1010>(b, a);
        let cb = blend::<0b1010>(c, b);
        let dc = blend::<0b1010>(d, c);
        [[
            blend::<0b1100>(ad, cb),
            blend::<0b1100>(ba, dc),
            blend::<0b1100>(cb, ad),
            blend::<0b1100>(dc, ba),
        ]]
    }
}

/// The words of `b` whose bits are set in `LANES`, else those of `a`.
#[inline]
#[target_feature(enable = "ssse3")]
fn blend<const LANES: i32>(a: __m128i, b: __m128i) -> __m128i {
    let of = |lane: i32| if LANES >> lane & 1 == 1 { -1 } else { 0 };
    let chosen = _mm_setr_epi32(of(0), of(1), of(2), of(3));
    _mm_or_si128(_mm_andnot_si128(chosen, a), _mm_and_si128(chosen, b))
}

/// Up to `N` blocks, `N` at most 3, as independent groups of diagonals that overlap in time.
/// Gives back what is left of `data`.
#[inline(never)]
#[target_feature(enable = "ssse3")]
fn ones<'i, 'o, const ROUNDS: usize, const XOR: bool, const N: usize>(
    state: &State<ROUNDS>,
    counter: u64,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let x0 = Diagonals::of(state, counter);
    let y0 = Diagonals::of(state, counter.wrapping_add(1));
    let z0 = Diagonals::of(state, counter.wrapping_add(2));
    let (mut x, mut y, mut z) = (x0, y0, z0);
    for _ in 0..opaque_count(ROUNDS / 2) {
        x = x.double_round();
        if N > 1 {
            y = y.double_round();
        }
        if N > 2 {
            z = z.double_round();
        }
    }
    let mut blocks = [[_mm_setzero_si128(); 4]; N];
    blocks[0..1].copy_from_slice(&x.blocks(x0));
    if N > 1 {
        blocks[1..2].copy_from_slice(&y.blocks(y0));
    }
    if N > 2 {
        blocks[2..3].copy_from_slice(&z.blocks(z0));
    }
    put::<XOR, N>(&blocks, data)
}
