//! Eight blocks at a time, one in each lane of 32 bits; two, four or six blocks with two blocks'
//! rows side by side in each register.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{first_columns, later, words};
use crate::Level;
use crate::arx::avx2::{blocks, column, put, put_lanes, row, splat, splat_all};
use crate::arx::{State, wraps};
use crate::simd::{opaque_count, opaque256};

pub(super) const NEEDS: Level = Level::Avx2;

/// Writes keystream over `out`.
#[target_feature(enable = "avx2")]
pub(crate) fn keystream<const ROUNDS: usize>(state: &State<ROUNDS>, wide: bool, out: &mut [u8]) {
    apply::<ROUNDS, false>(state, wide, out.into());
}

/// XORs keystream into `data`.
#[target_feature(enable = "avx2")]
pub(crate) fn xor<const ROUNDS: usize>(
    state: &State<ROUNDS>,
    wide: bool,
    data: InOutBuf<'_, '_, u8>,
) {
    apply::<ROUNDS, true>(state, wide, data);
}

/// Whole widths first, then the narrowest form that covers what is left.
#[inline]
#[target_feature(enable = "avx2")]
fn apply<const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    wide: bool,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let mut counter = state.counter;
    // When the low word of a wide counter wraps within, the narrower forms, which carry, do all.
    if data.len() > 6 * 64 && !(wide && wraps(counter, data.len())) {
        let len = data.len();
        data = eights::<ROUNDS, XOR>(state, data);
        counter = later(counter, ((len - data.len()) / 64) as u64, wide);
    }
    while !data.is_empty() {
        data = match data.len().div_ceil(64) {
            0..=2 => twos::<ROUNDS, XOR, 1, 2>(state, counter, wide, data),
            3..=4 => twos::<ROUNDS, XOR, 2, 4>(state, counter, wide, data),
            _ => twos::<ROUNDS, XOR, 3, 6>(state, counter, wide, data),
        };
        counter = later(counter, 6, wide);
    }
}

/// Whole widths of 8 blocks, until at most 6 blocks are left of `data`, which is given back.
///
/// The low word of a wide counter must not wrap within: all lanes take the same high word.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn eights<'i, 'o, const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    mut data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let words = &words(state, state.counter);
    let started = &first_columns(words);
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let mut counters = _mm256_add_epi32(splat(words[12]), lanes);
    while data.len() > 6 * 64 {
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
    let [x1, x5, x9, x13] = quarter([x1, x5, x9, x13]);
    let [x2, x6, x10, x14] = quarter([x2, x6, x10, x14]);
    let [x3, x7, x11, x15] = quarter([x3, x7, x11, x15]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A round of diagonals on the words of all lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn diagonals(x: [__m256i; 16]) -> [__m256i; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [x0, x5, x10, x15] = quarter([x0, x5, x10, x15]);
    let [x1, x6, x11, x12] = quarter([x1, x6, x11, x12]);
    let [x2, x7, x8, x13] = quarter([x2, x7, x8, x13]);
    let [x3, x4, x9, x14] = quarter([x3, x4, x9, x14]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A quarter-round in each lane of 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn quarter([mut a, mut b, mut c, mut d]: [__m256i; 4]) -> [__m256i; 4] {
    a = _mm256_add_epi32(a, b);
    d = turn_bytes::<16>(_mm256_xor_si256(d, a));
    c = _mm256_add_epi32(c, d);
    b = turn_bits::<12, 20>(_mm256_xor_si256(b, c));
    a = _mm256_add_epi32(a, b);
    d = turn_bytes::<8>(_mm256_xor_si256(d, a));
    c = _mm256_add_epi32(c, d);
    b = turn_bits::<7, 25>(_mm256_xor_si256(b, c));
    [a, b, c, d]
}

/// Rotates words left by 8 or 16 bits: one shuffle of bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn turn_bytes<const BITS: u32>(x: __m256i) -> __m256i {
    // Each lane of 64 bits lists the bytes 0 to 7, its words turned; the upper half adds 8.
    let turned = |word: u32| u64::from(word.rotate_left(BITS));
    let low = turned(0x0706_0504) << 32 | turned(0x0302_0100);
    let (low, high) = (low.cast_signed(), (low | 0x0808_0808_0808_0808).cast_signed());
    // Opaque, because the compiler knows no better than to move a shuffle that it understands.
    let bytes = opaque256(_mm256_setr_epi64x(low, high, low, high));
    _mm256_shuffle_epi8(x, bytes)
}

/// Rotates words left by `LEFT` bits; `RIGHT` is 32 less `LEFT`.
#[inline]
#[target_feature(enable = "avx2")]
fn turn_bits<const LEFT: i32, const RIGHT: i32>(x: __m256i) -> __m256i {
    const { assert!(LEFT + RIGHT == 32) };
    _mm256_or_si256(_mm256_slli_epi32::<LEFT>(x), _mm256_srli_epi32::<RIGHT>(x))
}

/// The rows of two blocks, block `i` in the `i`-th lane of 128 bits.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    a: __m256i,
    b: __m256i,
    c: __m256i,
    d: __m256i,
}

impl Rows {
    /// The start of two blocks from `counter` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn of<const ROUNDS: usize>(state: &State<ROUNDS>, counter: u64, wide: bool) -> Self {
        let key = state.key.as_chunks().0;
        let d = _mm_set_epi64x(state.nonce.cast_signed(), counter.cast_signed());
        let d = _mm256_broadcastsi128_si256(d);
        let (a, b, c) = (row(&key[0]), row(&key[1]), row(&key[2]));
        Self { a, b, c, d: count(d, _mm256_setr_epi64x(0, 0, 1, 0), wide) }
    }

    /// The start of the next two blocks.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn next(self, wide: bool) -> Self {
        Self { d: count(self.d, _mm256_setr_epi64x(2, 0, 2, 0), wide), ..self }
    }

    /// A round of columns, a round of diagonals. The second row is ready last in each round, so
    /// the other three are turned against it and the turning costs no time.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn double_round(self) -> Self {
        let [a, b, c, d] = quarter([self.a, self.b, self.c, self.d]);
        let a = _mm256_shuffle_epi32::<0x93>(a);
        let d = _mm256_shuffle_epi32::<0x4e>(d);
        let c = _mm256_shuffle_epi32::<0x39>(c);
        let [a, b, c, d] = quarter([a, b, c, d]);
        Self {
            a: _mm256_shuffle_epi32::<0x39>(a),
            b,
            c: _mm256_shuffle_epi32::<0x93>(c),
            d: _mm256_shuffle_epi32::<0x4e>(d),
        }
    }

    /// The blocks: what the rounds made of `start`, added to it.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn blocks(self, start: Self) -> [[__m256i; 2]; 2] {
        let a = _mm256_add_epi32(self.a, start.a);
        let b = _mm256_add_epi32(self.b, start.b);
        let c = _mm256_add_epi32(self.c, start.c);
        let d = _mm256_add_epi32(self.d, start.d);
        blocks([a, b, c, d])
    }
}

/// Last rows, later by `blocks`, a number of 64 bits in the low half of each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn count(d: __m256i, blocks: __m256i, wide: bool) -> __m256i {
    if wide { _mm256_add_epi64(d, blocks) } else { _mm256_add_epi32(d, blocks) }
}

/// Up to `BLOCKS` blocks, 2 `N`, as `N` independent groups of rows, at most 3, that overlap in
/// time. Gives back what is left of `data`.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn twos<'i, 'o, const ROUNDS: usize, const XOR: bool, const N: usize, const BLOCKS: usize>(
    state: &State<ROUNDS>,
    counter: u64,
    wide: bool,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    const { assert!(N <= 3 && BLOCKS == 2 * N) };
    let x0 = Rows::of(state, counter, wide);
    let y0 = x0.next(wide);
    let z0 = y0.next(wide);
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
