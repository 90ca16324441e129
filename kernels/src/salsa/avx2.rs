//! Eight blocks at a time, one in each lane of 32 bits; two, four or six blocks with two blocks'
//! diagonals side by side in each register.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{first_double_round, words};
use crate::Level;
use crate::arx::avx2::{blocks, column, put, put_lanes, row, splat, splat_all};
use crate::arx::{State, wraps};
use crate::simd::opaque_count;

pub(super) const NEEDS: Level = Level::Avx2;

/// Writes keystream over `out`.
#[target_feature(enable = "avx2")]
pub(super) fn keystream<const ROUNDS: usize>(state: &State<ROUNDS>, out: &mut [u8]) {
    apply::<ROUNDS, false>(state, out.into());
}

/// XORs keystream into `data`.
#[target_feature(enable = "avx2")]
pub(super) fn xor<const ROUNDS: usize>(state: &State<ROUNDS>, data: InOutBuf<'_, '_, u8>) {
    apply::<ROUNDS, true>(state, data);
}

/// Whole widths first, then the narrowest form that covers what is left.
#[inline]
#[target_feature(enable = "avx2")]
fn apply<const ROUNDS: usize, const XOR: bool>(state: &State<ROUNDS>, data: InOutBuf<'_, '_, u8>) {
    let mut data = data;
    let mut counter = state.counter;
    // When the low word of the counter wraps within, the narrower forms, which carry, do all.
    if data.len() > 6 * 64 && !wraps(counter, data.len()) {
        let len = data.len();
        data = eights::<ROUNDS, XOR>(state, data);
        counter = counter.wrapping_add(((len - data.len()) / 64) as u64);
    }
    while !data.is_empty() {
        data = match data.len().div_ceil(64) {
            0..=2 => twos::<ROUNDS, XOR, 1, 2>(state, counter, data),
            3..=4 => twos::<ROUNDS, XOR, 2, 4>(state, counter, data),
            _ => twos::<ROUNDS, XOR, 3, 6>(state, counter, data),
        };
        counter = counter.wrapping_add(6);
    }
}

/// Whole widths of 8 blocks, until at most 6 blocks are left of `data`, which is given back.
///
/// The low word of the counter must not wrap within: all lanes take the same high word.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn eights<'i, 'o, const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let mut data = data;
    let words = &words(state, state.counter);
    let started = &first_double_round(words);
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let mut counters = _mm256_add_epi32(splat(words[8]), lanes);
    while data.len() > 6 * 64 {
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
        counters = _mm256_add_epi32(counters, splat(8));
    }
    data
}

/// A round of columns on the words of all lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn columns(x: [__m256i; 16]) -> [__m256i; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [x0, x4, x8, x12] = quarter([x0, x4, x8, x12]);
    let [x5, x9, x13, x1] = quarter([x5, x9, x13, x1]);
    let [x10, x14, x2, x6] = quarter([x10, x14, x2, x6]);
    let [x15, x3, x7, x11] = quarter([x15, x3, x7, x11]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A round of rows on the words of all lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn rows(x: [__m256i; 16]) -> [__m256i; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [x0, x1, x2, x3] = quarter([x0, x1, x2, x3]);
    let [x5, x6, x7, x4] = quarter([x5, x6, x7, x4]);
    let [x10, x11, x8, x9] = quarter([x10, x11, x8, x9]);
    let [x15, x12, x13, x14] = quarter([x15, x12, x13, x14]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A quarter-round in each lane of 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn quarter([mut a, mut b, mut c, mut d]: [__m256i; 4]) -> [__m256i; 4] {
    b = xor_turned::<7, 25>(b, _mm256_add_epi32(a, d));
    c = xor_turned::<9, 23>(c, _mm256_add_epi32(b, a));
    d = xor_turned::<13, 19>(d, _mm256_add_epi32(c, b));
    a = xor_turned::<18, 14>(a, _mm256_add_epi32(d, c));
    [a, b, c, d]
}

/// XORs words, rotated left by `LEFT` bits, into others; `RIGHT` is 32 less `LEFT`.
#[inline]
#[target_feature(enable = "avx2")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(into: __m256i, words: __m256i) -> __m256i {
    const { assert!(LEFT + RIGHT == 32) };
    let high = _mm256_xor_si256(into, _mm256_slli_epi32::<LEFT>(words));
    _mm256_xor_si256(high, _mm256_srli_epi32::<RIGHT>(words))
}

/// The diagonals of two blocks, block `i` in the `i`-th lane of 128 bits: `a` is the main one,
/// the `j`-th word of `b`, `c` and `d` stands one, two and three rows below the `j`-th of `a`.
#[derive(Clone, Copy)]
struct Diagonals {
    a: __m256i,
    b: __m256i,
    c: __m256i,
    d: __m256i,
}

impl Diagonals {
    /// The start of two blocks from `counter` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of<const ROUNDS: usize>(state: &State<ROUNDS>, counter: u64) -> Self {
        let key = state.key.as_chunks().0;
        // Every word is in the lane of its column; each diagonal takes two words from one of
        // these and one from each of the others.
        let front = _mm256_shuffle_epi32::<0x93>(row(&key[1]));
        let back = _mm256_shuffle_epi32::<0x39>(row(&key[2]));
        let last = _mm_set_epi64x(state.nonce.cast_signed(), counter.cast_signed());
        let last = _mm256_broadcastsi128_si256(last);
        let first = Self {
            a: row(&key[0]),
            b: _mm256_blend_epi32::<0x44>(front, back),
            c: _mm256_blend_epi32::<0x44>(_mm256_blend_epi32::<0x22>(last, back), front),
            d: _mm256_blend_epi32::<0x44>(_mm256_blend_epi32::<0x22>(back, front), last),
        };
        first.later(counter, _mm256_setr_epi64x(0, 0, 1, 0))
    }

    /// The start of the blocks that are later than `counter` by what each lane says.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn later(self, counter: u64, blocks: __m256i) -> Self {
        let counters = _mm256_add_epi64(_mm256_set1_epi64x(counter.cast_signed()), blocks);
        Self {
            b: _mm256_blend_epi32::<0x22>(self.b, counters),
            c: _mm256_blend_epi32::<0x11>(self.c, counters),
            ..self
        }
    }

    /// A round of columns, a round of rows. The main diagonal is ready last in each round, so the
    /// other three are turned against it and the turning costs no time.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn double_round(self) -> Self {
        let [a, b, c, d] = quarter([self.a, self.b, self.c, self.d]);
        let b = _mm256_shuffle_epi32::<0x93>(b);
        let c = _mm256_shuffle_epi32::<0x4e>(c);
        let d = _mm256_shuffle_epi32::<0x39>(d);
        let [a, d, c, b] = quarter([a, d, c, b]);
        Self {
            a,
            b: _mm256_shuffle_epi32::<0x39>(b),
            c: _mm256_shuffle_epi32::<0x4e>(c),
            d: _mm256_shuffle_epi32::<0x93>(d),
        }
    }

    /// The blocks: what the rounds made of `start`, added to it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn blocks(self, start: Self) -> [[__m256i; 2]; 2] {
        let a = _mm256_add_epi32(self.a, start.a);
        let b = _mm256_add_epi32(self.b, start.b);
        let c = _mm256_add_epi32(self.c, start.c);
        let d = _mm256_add_epi32(self.d, start.d);
        let ad = _mm256_blend_epi32::<0xaa>(a, d);
        let ba = _mm256_blend_epi32::<0xaa>(b, a);
        let cb = _mm256_blend_epi32::<0xaa>(c, b);
        let dc = _mm256_blend_epi32::<0xaa>(d, c);
        blocks([
            _mm256_blend_epi32::<0xcc>(ad, cb),
            _mm256_blend_epi32::<0xcc>(ba, dc),
            _mm256_blend_epi32::<0xcc>(cb, ad),
            _mm256_blend_epi32::<0xcc>(dc, ba),
        ])
    }
}

/// Up to `BLOCKS` blocks, 2 `N`, as `N` independent groups of diagonals, at most 3, that overlap
/// in time. Gives back what is left of `data`.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn twos<'i, 'o, const ROUNDS: usize, const XOR: bool, const N: usize, const BLOCKS: usize>(
    state: &State<ROUNDS>,
    counter: u64,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    const { assert!(N <= 3 && BLOCKS == 2 * N) };
    let x0 = Diagonals::of(state, counter);
    let y0 = x0.later(counter, _mm256_setr_epi64x(2, 0, 3, 0));
    let z0 = x0.later(counter, _mm256_setr_epi64x(4, 0, 5, 0));
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
    let mut blocks = [[_mm256_setzero_si256(); 2]; BLOCKS];
    blocks[0..2].copy_from_slice(&x.blocks(x0));
    if N > 1 {
        blocks[2..4].copy_from_slice(&y.blocks(y0));
    }
    if N > 2 {
        blocks[4..6].copy_from_slice(&z.blocks(z0));
    }
    put::<XOR, BLOCKS>(&blocks, data)
}
