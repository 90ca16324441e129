//! Sixteen blocks at a time, one in each lane of 32 bits; four or eight blocks with four
//! blocks' rows side by side in each register; two blocks in registers of 256 bits.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{first_columns, later, words};
use crate::Level;
use crate::arx::avx512::{block, blocks, column, put, put_lanes, row, splat, splat_all};
use crate::arx::{State, wraps};
use crate::simd::opaque_count;

pub(super) const NEEDS: Level = Level::Avx512;

/// Writes keystream over `out`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn keystream<const ROUNDS: usize>(state: &State<ROUNDS>, wide: bool, out: &mut [u8]) {
    apply::<ROUNDS, false>(state, wide, out.into());
}

/// XORs keystream into `data`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn xor<const ROUNDS: usize>(
    state: &State<ROUNDS>,
    wide: bool,
    data: InOutBuf<'_, '_, u8>,
) {
    apply::<ROUNDS, true>(state, wide, data);
}

/// Whole widths first, then the narrowest form that covers what is left.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn apply<const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    wide: bool,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let mut counter = state.counter;
    // When the low word of a wide counter wraps within, the narrower forms, which carry, do all.
    if data.len() > 8 * 64 && !(wide && wraps(counter, data.len())) {
        let len = data.len();
        data = sixteens::<ROUNDS, XOR>(state, data);
        counter = later(counter, ((len - data.len()) / 64) as u64, wide);
    }
    while !data.is_empty() {
        data = match data.len().div_ceil(64) {
            0..=2 => twos::<ROUNDS, XOR>(state, counter, wide, data),
            3..=4 => fours::<ROUNDS, XOR, 1, 4>(state, counter, wide, data),
            _ => fours::<ROUNDS, XOR, 2, 8>(state, counter, wide, data),
        };
        counter = later(counter, 8, wide);
    }
}

/// Whole widths of 16 blocks, until at most 8 blocks are left of `data`, which is given back.
///
/// The low word of a wide counter must not wrap within: all lanes take the same high word.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn sixteens<'i, 'o, const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    mut data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let words = &words(state, state.counter);
    let started = &first_columns(words);
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let mut counters = _mm512_add_epi32(splat(words[12]), lanes);
    while data.len() > 8 * 64 {
        let first = [splat(words[0]), splat(words[4]), splat(words[8]), counters];
        let [x0, x4, x8, x12] = quarter(first);
        let [x1, x5, x9, x13] = column(started, 1);
        let [x2, x6, x10, x14] = column(started, 2);
        let [x3, x7, x11, x15] = column(started, 3);
        let mut x = [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15];
        x = diagonals(x);
        for _ in 1..opaque_count(ROUNDS / 2) {
            x = diagonals(columns(x));
        }
        let mut start = splat_all(words);
        start[12] = counters;
        data = put_lanes::<XOR>(x, start, data);
        counters = _mm512_add_epi32(counters, splat(16));
    }
    data
}

/// A round of columns on the words of all lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn columns(x: [__m512i; 16]) -> [__m512i; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [x0, x4, x8, x12] = quarter([x0, x4, x8, x12]);
    let [x1, x5, x9, x13] = quarter([x1, x5, x9, x13]);
    let [x2, x6, x10, x14] = quarter([x2, x6, x10, x14]);
    let [x3, x7, x11, x15] = quarter([x3, x7, x11, x15]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A round of diagonals on the words of all lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn diagonals(x: [__m512i; 16]) -> [__m512i; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [x0, x5, x10, x15] = quarter([x0, x5, x10, x15]);
    let [x1, x6, x11, x12] = quarter([x1, x6, x11, x12]);
    let [x2, x7, x8, x13] = quarter([x2, x7, x8, x13]);
    let [x3, x4, x9, x14] = quarter([x3, x4, x9, x14]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A quarter-round in each lane of 32 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn quarter([mut a, mut b, mut c, mut d]: [__m512i; 4]) -> [__m512i; 4] {
    a = _mm512_add_epi32(a, b);
    d = _mm512_rol_epi32::<16>(_mm512_xor_si512(d, a));
    c = _mm512_add_epi32(c, d);
    b = _mm512_rol_epi32::<12>(_mm512_xor_si512(b, c));
    a = _mm512_add_epi32(a, b);
    d = _mm512_rol_epi32::<8>(_mm512_xor_si512(d, a));
    c = _mm512_add_epi32(c, d);
    b = _mm512_rol_epi32::<7>(_mm512_xor_si512(b, c));
    [a, b, c, d]
}

/// The rows of four blocks, block `i` in the `i`-th lane of 128 bits.
#[derive(Clone, Copy)]
struct Rows {
    a: __m512i,
    b: __m512i,
    c: __m512i,
    d: __m512i,
}

impl Rows {
    /// The start of four blocks from `counter` on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    fn of<const ROUNDS: usize>(state: &State<ROUNDS>, counter: u64, wide: bool) -> Self {
        let [a, b, c, d] = start(state, counter);
        let d = _mm512_broadcast_i32x4(d);
        Self {
            a: _mm512_broadcast_i32x4(a),
            b: _mm512_broadcast_i32x4(b),
            c: _mm512_broadcast_i32x4(c),
            d: count(d, _mm512_setr_epi64(0, 0, 1, 0, 2, 0, 3, 0), wide),
        }
    }

    /// The start of the next four blocks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    fn next(self, wide: bool) -> Self {
        Self { d: count(self.d, _mm512_setr_epi64(4, 0, 4, 0, 4, 0, 4, 0), wide), ..self }
    }

    /// A round of columns, a round of diagonals. The second row is ready last in each round, so
    /// the other three are turned against it and the turning costs no time.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    fn double_round(self) -> Self {
        let [a, b, c, d] = quarter([self.a, self.b, self.c, self.d]);
        let a = _mm512_shuffle_epi32::<0x93>(a);
        let d = _mm512_shuffle_epi32::<0x4e>(d);
        let c = _mm512_shuffle_epi32::<0x39>(c);
        let [a, b, c, d] = quarter([a, b, c, d]);
        Self {
            a: _mm512_shuffle_epi32::<0x39>(a),
            b,
            c: _mm512_shuffle_epi32::<0x93>(c),
            d: _mm512_shuffle_epi32::<0x4e>(d),
        }
    }

    /// The blocks: what the rounds made of `start`, added to it.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    fn blocks(self, start: Self) -> [__m512i; 4] {
        let a = _mm512_add_epi32(self.a, start.a);
        let b = _mm512_add_epi32(self.b, start.b);
        let c = _mm512_add_epi32(self.c, start.c);
        let d = _mm512_add_epi32(self.d, start.d);
        blocks([a, b, c, d])
    }
}

/// The rows of one block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn start<const ROUNDS: usize>(state: &State<ROUNDS>, counter: u64) -> [__m128i; 4] {
    let key = state.key.as_chunks().0;
    [
        row(&key[0]),
        row(&key[1]),
        row(&key[2]),
        _mm_set_epi64x(state.nonce.cast_signed(), counter.cast_signed()),
    ]
}

/// Last rows, later by `blocks`, a number of 64 bits in the low half of each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn count(d: __m512i, blocks: __m512i, wide: bool) -> __m512i {
    if wide { _mm512_add_epi64(d, blocks) } else { _mm512_add_epi32(d, blocks) }
}

/// Up to `BLOCKS` blocks, 4 `N`, as `N` independent groups of rows, at most 2, that overlap in
/// time. Gives back what is left of `data`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn fours<'i, 'o, const ROUNDS: usize, const XOR: bool, const N: usize, const BLOCKS: usize>(
    state: &State<ROUNDS>,
    counter: u64,
    wide: bool,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    const { assert!(N <= 2 && BLOCKS == 4 * N) };
    let x0 = Rows::of(state, counter, wide);
    let y0 = x0.next(wide);
    let (mut x, mut y) = (x0, y0);
    for _ in 0..opaque_count(ROUNDS / 2) {
        x = x.double_round();
        if N > 1 {
            y = y.double_round();
        }
    }
    let mut blocks = [_mm512_setzero_si512(); BLOCKS];
    blocks[0..4].copy_from_slice(&x.blocks(x0));
    if N > 1 {
        blocks[4..8].copy_from_slice(&y.blocks(y0));
    }
    put::<XOR, BLOCKS>(&blocks, data)
}

/// Up to two blocks, in registers of 256 bits: a program that asks for no more need not wake the
/// wider units. Gives back what is left of `data`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn twos<'i, 'o, const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    counter: u64,
    wide: bool,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let [a, b, c, d] = start(state, counter);
    let (a0, b0) = (_mm256_broadcastsi128_si256(a), _mm256_broadcastsi128_si256(b));
    let (c0, d0) = (_mm256_broadcastsi128_si256(c), _mm256_broadcastsi128_si256(d));
    let one = _mm256_setr_epi64x(0, 0, 1, 0);
    let d0 = if wide { _mm256_add_epi64(d0, one) } else { _mm256_add_epi32(d0, one) };
    let (mut a, mut b, mut c, mut d) = (a0, b0, c0, d0);
    for _ in 0..opaque_count(ROUNDS / 2) {
        [a, b, c, d] = quarter_of_two([a, b, c, d]);
        a = _mm256_shuffle_epi32::<0x93>(a);
        d = _mm256_shuffle_epi32::<0x4e>(d);
        c = _mm256_shuffle_epi32::<0x39>(c);
        [a, b, c, d] = quarter_of_two([a, b, c, d]);
        a = _mm256_shuffle_epi32::<0x39>(a);
        d = _mm256_shuffle_epi32::<0x4e>(d);
        c = _mm256_shuffle_epi32::<0x93>(c);
    }
    let (a, b) = (_mm256_add_epi32(a, a0), _mm256_add_epi32(b, b0));
    let (c, d) = (_mm256_add_epi32(c, c0), _mm256_add_epi32(d, d0));
    let blocks = [
        block(_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x20>(c, d)),
        block(_mm256_permute2x128_si256::<0x31>(a, b), _mm256_permute2x128_si256::<0x31>(c, d)),
    ];
    put::<XOR, 2>(&blocks, data)
}

/// [`quarter`] on the rows of two blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn quarter_of_two([mut a, mut b, mut c, mut d]: [__m256i; 4]) -> [__m256i; 4] {
    a = _mm256_add_epi32(a, b);
    d = _mm256_rol_epi32::<16>(_mm256_xor_si256(d, a));
    c = _mm256_add_epi32(c, d);
    b = _mm256_rol_epi32::<12>(_mm256_xor_si256(b, c));
    a = _mm256_add_epi32(a, b);
    d = _mm256_rol_epi32::<8>(_mm256_xor_si256(d, a));
    c = _mm256_add_epi32(c, d);
    b = _mm256_rol_epi32::<7>(_mm256_xor_si256(b, c));
    [a, b, c, d]
}
