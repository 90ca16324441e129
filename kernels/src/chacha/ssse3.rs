//! Four blocks at a time, one in each lane of 32 bits; one, two or three blocks with a row in each
//! register.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{first_columns, later, words};
use crate::Level;
use crate::arx::ssse3::{column, put, put_lanes, row, splat, splat_all};
use crate::arx::{Key, State, wraps};
use crate::simd::{load128, opaque_count, opaque128, store128};

pub(super) const NEEDS: Level = Level::Ssse3;

/// Writes keystream over `out`.
#[target_feature(enable = "ssse3")]
pub(super) fn keystream<const ROUNDS: usize>(state: &State<ROUNDS>, wide: bool, out: &mut [u8]) {
    apply::<ROUNDS, false>(state, wide, out.into());
}

/// XORs keystream into `data`.
#[target_feature(enable = "ssse3")]
pub(super) fn xor<const ROUNDS: usize>(
    state: &State<ROUNDS>,
    wide: bool,
    data: InOutBuf<'_, '_, u8>,
) {
    apply::<ROUNDS, true>(state, wide, data);
}

/// The first 8 bytes of the block whose last row is `last`.
#[inline(never)]
#[target_feature(enable = "ssse3")]
pub(super) fn front(key: &Key, last: &[u8; 16]) -> u64 {
    let [start, x] = rows_of_one(key, last);
    _mm_cvtsi128_si64(_mm_add_epi32(x.a, start.a)).cast_unsigned()
}

/// The key that the rounds make: the first and the last row, behind the constant.
#[inline(never)]
#[target_feature(enable = "ssse3")]
pub(super) fn hchacha20(key: &Key, nonce: &[u8; 16]) -> Key {
    let [_, x] = rows_of_one(key, nonce);
    let [k0, k1, k2, k3, ..] = key.words;
    let [[x0, x1, x2, x3], [x12, x13, x14, x15]] = [words_of(x.a), words_of(x.d)];
    Key { words: [k0, k1, k2, k3, x0, x1, x2, x3, x12, x13, x14, x15] }
}

/// The rows of a block before and after the rounds of ChaCha20.
#[inline]
#[target_feature(enable = "ssse3")]
fn rows_of_one(key: &Key, last: &[u8; 16]) -> [Rows; 2] {
    let rows = key.words.as_chunks().0;
    let start = Rows { a: row(&rows[0]), b: row(&rows[1]), c: row(&rows[2]), d: load128(last) };
    let mut x = start;
    for _ in 0..opaque_count(10) {
        x = x.double_round();
    }
    [start, x]
}

/// The words of a row, which stay together when they are stored.
#[inline]
#[target_feature(enable = "ssse3")]
fn words_of(row: __m128i) -> [u32; 4] {
    let mut bytes = [0; 16];
    store128(&mut bytes, row);
    let number = u128::from_le_bytes(bytes);
    [0, 32, 64, 96].map(|bit| super::portable::word(number >> bit))
}

/// Whole widths first, then the narrowest form that covers what is left.
#[inline]
#[target_feature(enable = "ssse3")]
fn apply<const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    wide: bool,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let mut counter = state.counter;
    // When the low word of a wide counter wraps within, the narrower forms, which carry, do all.
    if data.len() > 3 * 64 && !(wide && wraps(counter, data.len())) {
        let len = data.len();
        data = fours::<ROUNDS, XOR>(state, data);
        counter = later(counter, ((len - data.len()) / 64) as u64, wide);
    }
    while !data.is_empty() {
        data = match data.len().div_ceil(64) {
            0..=1 => ones::<ROUNDS, XOR, 1>(state, counter, wide, data),
            2 => ones::<ROUNDS, XOR, 2>(state, counter, wide, data),
            _ => ones::<ROUNDS, XOR, 3>(state, counter, wide, data),
        };
        counter = later(counter, 3, wide);
    }
}

/// Whole widths of 4 blocks, until at most 3 blocks are left of `data`, which is given back.
///
/// The low word of a wide counter must not wrap within: all lanes take the same high word.
#[inline(never)]
#[target_feature(enable = "ssse3")]
fn fours<'i, 'o, const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    mut data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let words = &words(state, state.counter);
    let started = &first_columns(words);
    let lanes = _mm_setr_epi32(0, 1, 2, 3);
    let mut counters = _mm_add_epi32(splat(words[12]), lanes);
    while data.len() > 3 * 64 {
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
    let [x1, x5, x9, x13] = quarter([x1, x5, x9, x13]);
    let [x2, x6, x10, x14] = quarter([x2, x6, x10, x14]);
    let [x3, x7, x11, x15] = quarter([x3, x7, x11, x15]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A round of diagonals on the words of all lanes.
#[inline]
#[target_feature(enable = "ssse3")]
pub(crate) fn diagonals(x: [__m128i; 16]) -> [__m128i; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [x0, x5, x10, x15] = quarter([x0, x5, x10, x15]);
    let [x1, x6, x11, x12] = quarter([x1, x6, x11, x12]);
    let [x2, x7, x8, x13] = quarter([x2, x7, x8, x13]);
    let [x3, x4, x9, x14] = quarter([x3, x4, x9, x14]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A quarter-round in each lane of 32 bits.
#[inline]
#[target_feature(enable = "ssse3")]
fn quarter([mut a, mut b, mut c, mut d]: [__m128i; 4]) -> [__m128i; 4] {
    a = _mm_add_epi32(a, b);
    d = turn_bytes::<16>(_mm_xor_si128(d, a));
    c = _mm_add_epi32(c, d);
    b = turn_bits::<12, 20>(_mm_xor_si128(b, c));
    a = _mm_add_epi32(a, b);
    d = turn_bytes::<8>(_mm_xor_si128(d, a));
    c = _mm_add_epi32(c, d);
    b = turn_bits::<7, 25>(_mm_xor_si128(b, c));
    [a, b, c, d]
}

/// Rotates words left by 8 or 16 bits: one shuffle of bytes.
#[inline]
#[target_feature(enable = "ssse3")]
fn turn_bytes<const BITS: u32>(x: __m128i) -> __m128i {
    // The lower half lists the bytes 0 to 7, its words turned; the upper half adds 8.
    let turned = |word: u32| u64::from(word.rotate_left(BITS));
    let low = turned(0x0706_0504) << 32 | turned(0x0302_0100);
    let (low, high) = (low.cast_signed(), (low | 0x0808_0808_0808_0808).cast_signed());
    // Opaque, because the compiler knows no better than to move a shuffle that it understands.
    let bytes = opaque128(_mm_set_epi64x(high, low));
    _mm_shuffle_epi8(x, bytes)
}

/// Rotates words left by `LEFT` bits; `RIGHT` is 32 less `LEFT`.
#[inline]
#[target_feature(enable = "ssse3")]
fn turn_bits<const LEFT: i32, const RIGHT: i32>(x: __m128i) -> __m128i {
    const { assert!(LEFT + RIGHT == 32) };
    _mm_or_si128(_mm_slli_epi32::<LEFT>(x), _mm_srli_epi32::<RIGHT>(x))
}

/// The rows of a block.
#[derive(Clone, Copy)]
struct Rows {
    a: __m128i,
    b: __m128i,
    c: __m128i,
    d: __m128i,
}

impl Rows {
    /// The start of the block `counter`.
    #[inline]
    #[target_feature(enable = "ssse3")]
    fn of<const ROUNDS: usize>(state: &State<ROUNDS>, counter: u64) -> Self {
        let key = state.key.as_chunks().0;
        let d = _mm_set_epi64x(state.nonce.cast_signed(), counter.cast_signed());
        Self { a: row(&key[0]), b: row(&key[1]), c: row(&key[2]), d }
    }

    /// The start of the next block.
    #[inline]
    #[target_feature(enable = "ssse3")]
    fn next(self, wide: bool) -> Self {
        Self { d: count(self.d, _mm_set_epi64x(0, 1), wide), ..self }
    }

    /// A round of columns, a round of diagonals. The second row is ready last in each round, so
    /// the other three are turned against it and the turning costs no time.
    #[inline]
    #[target_feature(enable = "ssse3")]
    fn double_round(self) -> Self {
        let [a, b, c, d] = quarter([self.a, self.b, self.c, self.d]);
        let a = _mm_shuffle_epi32::<0x93>(a);
        let d = _mm_shuffle_epi32::<0x4e>(d);
        let c = _mm_shuffle_epi32::<0x39>(c);
        let [a, b, c, d] = quarter([a, b, c, d]);
        Self {
            a: _mm_shuffle_epi32::<0x39>(a),
            b,
            c: _mm_shuffle_epi32::<0x93>(c),
            d: _mm_shuffle_epi32::<0x4e>(d),
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
        [[a, b, c, d]]
    }
}

/// A last row, later by `blocks`, a number of 64 bits in the low half.
#[inline]
#[target_feature(enable = "ssse3")]
fn count(d: __m128i, blocks: __m128i, wide: bool) -> __m128i {
    if wide { _mm_add_epi64(d, blocks) } else { _mm_add_epi32(d, blocks) }
}

/// Up to `N` blocks, `N` at most 3, as independent groups of rows that overlap in time. Gives back
/// what is left of `data`.
#[inline(never)]
#[target_feature(enable = "ssse3")]
fn ones<'i, 'o, const ROUNDS: usize, const XOR: bool, const N: usize>(
    state: &State<ROUNDS>,
    counter: u64,
    wide: bool,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let x0 = Rows::of(state, counter);
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
