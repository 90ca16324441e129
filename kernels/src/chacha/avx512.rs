//! Sixteen blocks at a time, one in each lane of 32 bits; four, eight or twelve blocks with four
//! blocks' rows side by side in each register; twenty-four blocks, sixteen the one way and eight
//! the other; two blocks in registers of 256 bits.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{Key, later, quarter_round};
use crate::Level;
use crate::arx::avx512::{across, blocks, plus, put, put_two, row, splat, splat_four, splat_from};
use crate::arx::{State, halves, taken, wraps};
use crate::simd::{load128, opaque_count, opaque128, store128};

pub(super) const NEEDS: Level = Level::Avx512;

/// Writes keystream over `out`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn keystream<const ROUNDS: usize>(state: &State<ROUNDS>, wide: bool, out: &mut [u8]) {
    apply::<ROUNDS, false>(state, wide, out.into());
}

/// XORs keystream into `data`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn xor<const ROUNDS: usize>(
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
    data: InOutBuf<'_, '_, u8>,
) {
    let (mut data, mut counter) = (data, state.counter);
    // When the low word of a wide counter wraps within, the forms in rows, which carry, do all.
    let carries = wide && wraps(counter, data.len());
    let whole = if carries { 0 } else { 16 * passes::<XOR>(data.len().div_ceil(64)) };
    if whole != 0 {
        let len = data.len().min(64 * whole);
        let (front, back) = data.split_at(len);
        if XOR && whole == 16 {
            sixteens::<ROUNDS, XOR, true, false>(state, counter, front);
        } else {
            sixteens::<ROUNDS, XOR, false, false>(state, counter, front);
        }
        data = back;
        counter = later(counter, whole as u64, wide);
    }
    while carries && data.len() > 8 * 64 {
        let (front, back) = data.split_at(8 * 64);
        fours::<ROUNDS, XOR, 2, 8>(state, counter, wide, front);
        data = back;
        counter = later(counter, 8, wide);
    }
    match data.len().div_ceil(64) {
        0 => {}
        1..=2 => twos::<ROUNDS, XOR>(state, counter, wide, data),
        3..=4 => fours::<ROUNDS, XOR, 1, 4>(state, counter, wide, data),
        9..=12 if XOR => fours::<ROUNDS, XOR, 3, 12>(state, counter, wide, data),
        13.. if XOR => sixteens::<ROUNDS, XOR, true, true>(state, counter, data),
        _ => fours::<ROUNDS, XOR, 2, 8>(state, counter, wide, data),
    }
}

/// How many passes over 16 lanes begin `blocks` blocks; the last may be cut short.
///
/// Without `XOR` at most 8 blocks are left, with it 12, or 21 to 24: messages are worth forms of
/// their own, generators of random numbers are not, because they ask for whole widths.
#[inline]
const fn passes<const XOR: bool>(blocks: usize) -> usize {
    let (whole, rest) = (blocks / 16, blocks % 16);
    match rest {
        0 => whole,
        5..=8 if XOR && whole > 0 => whole - 1,
        1..=8 => whole,
        9..=12 if XOR => whole,
        _ => whole + 1,
    }
}

/// Passes over 16 blocks, only one if `ONCE`; the last may be cut short. Many passes take their
/// double rounds by threes: of loops in loops, the processor foresees the end of short ones only. Or, with `MORE`, one pass
/// over 17 to 24 blocks: 16 in lanes and the rest in rows, at the same time. In the time that the
/// chains of the rows take by themselves, lanes and rows get nearly all of the work done.
///
/// The low word of a wide counter must not wrap within: all lanes take the same high word.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn sixteens<const ROUNDS: usize, const XOR: bool, const ONCE: bool, const MORE: bool>(
    state: &State<ROUNDS>,
    counter: u64,
    data: InOutBuf<'_, '_, u8>,
) {
    const { assert!(ONCE || !MORE) };
    let mut data = taken(data);
    let lanes = Lanes::of(&state.key, counter, state.nonce);
    let mut counters = lanes.counters();
    while !data.is_empty() {
        let mut x = lanes.double_round::<ONCE>(counters);
        let y0 = Rows::of(&state.key, later(counter, 16, false), state.nonce, false);
        let z0 = y0.next(false);
        let (mut y, mut z) = (y0, z0);
        if MORE {
            (y, z) = (y.double_round(), z.double_round());
        }
        if XOR && !ONCE {
            for _ in 0..opaque_count((ROUNDS / 2 - 1) / 3) {
                x = diagonals(columns(x));
                x = diagonals(columns(x));
                x = diagonals(columns(x));
            }
            for _ in 0..(ROUNDS / 2 - 1) % 3 {
                x = diagonals(columns(x));
            }
        } else {
            for _ in 1..opaque_count(ROUNDS / 2) {
                x = diagonals(columns(x));
                if MORE {
                    (y, z) = (y.double_round(), z.double_round());
                }
            }
        }
        let x = lanes.blocks::<ONCE>(x, counters);
        data = put::<XOR, 16>(&x, data);
        if MORE {
            let mut blocks = [_mm512_setzero_si512(); 8];
            blocks[0..4].copy_from_slice(&y.blocks(y0));
            blocks[4..8].copy_from_slice(&z.blocks(z0));
            data = put::<XOR, 8>(&blocks, data);
        }
        counters = _mm512_add_epi32(counters, splat(16));
    }
}

/// What sixteen blocks, one a lane of 32 bits, begin with and end with.
pub(crate) struct Lanes<'a> {
    key: &'a [u32; 12],
    /// The last row of the first block.
    last: [u32; 4],
    /// Columns 1 to 3 after the first round: only column 0 differs between the blocks in it.
    started: [[u32; 4]; 3],
}

impl<'a> Lanes<'a> {
    /// Blocks from `counter` on, whose low word must not wrap among them.
    #[inline]
    pub(crate) fn of(key: &'a [u32; 12], counter: u64, nonce: u64) -> Self {
        let ([c0, c1], [n0, n1]) = (halves(counter), halves(nonce));
        let [_, k1, k2, k3, _, k5, k6, k7, _, k9, k10, k11] = *key;
        Self {
            key,
            last: [c0, c1, n0, n1],
            started: [
                quarter_round([k1, k5, k9, c1]),
                quarter_round([k2, k6, k10, n0]),
                quarter_round([k3, k7, k11, n1]),
            ],
        }
    }

    /// The counters of the first sixteen blocks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub(crate) fn counters(&self) -> __m512i {
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        _mm512_add_epi32(splat(self.last[0]), lanes)
    }

    /// The first double round. When it is done `ONCE`, words come from memory one by one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub(crate) fn double_round<const ONCE: bool>(&self, counters: __m512i) -> [__m512i; 16] {
        let [k0, _, _, _, k4, _, _, _, k8, ..] = self.key;
        let first =
            [splat_from::<ONCE>(k0), splat_from::<ONCE>(k4), splat_from::<ONCE>(k8), counters];
        let [x0, x4, x8, x12] = quarter(first);
        let [x1, x5, x9, x13] = splat_four::<ONCE>(&self.started[0]);
        let [x2, x6, x10, x14] = splat_four::<ONCE>(&self.started[1]);
        let [x3, x7, x11, x15] = splat_four::<ONCE>(&self.started[2]);
        diagonals([x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15])
    }

    /// The blocks: what the rounds made, added to what they began with.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub(crate) fn blocks<const ONCE: bool>(
        &self,
        x: [__m512i; 16],
        counters: __m512i,
    ) -> [__m512i; 16] {
        let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
        let [_, last1, last2, last3] = &self.last;
        let ends = [
            counters,
            splat_from::<ONCE>(last1),
            splat_from::<ONCE>(last2),
            splat_from::<ONCE>(last3),
        ];
        let key = self.key.as_chunks().0;
        let [a0, a1, a2, a3] = across(plus([x0, x1, x2, x3], splat_four::<ONCE>(&key[0])));
        let [b0, b1, b2, b3] = across(plus([x4, x5, x6, x7], splat_four::<ONCE>(&key[1])));
        let [c0, c1, c2, c3] = across(plus([x8, x9, x10, x11], splat_four::<ONCE>(&key[2])));
        let [d0, d1, d2, d3] = across(plus([x12, x13, x14, x15], ends));
        let [x0, x4, x8, x12] = blocks([a0, b0, c0, d0]);
        let [x1, x5, x9, x13] = blocks([a1, b1, c1, d1]);
        let [x2, x6, x10, x14] = blocks([a2, b2, c2, d2]);
        let [x3, x7, x11, x15] = blocks([a3, b3, c3, d3]);
        [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
    }
}

/// A round of columns on the words of all lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn columns(x: [__m512i; 16]) -> [__m512i; 16] {
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
pub(crate) fn diagonals(x: [__m512i; 16]) -> [__m512i; 16] {
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
pub(crate) struct Rows {
    a: __m512i,
    b: __m512i,
    c: __m512i,
    d: __m512i,
}

impl Rows {
    /// The start of four blocks from `counter` on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub(crate) fn of(key: &[u32; 12], counter: u64, nonce: u64, wide: bool) -> Self {
        let [a, b, c, d] = start(key, counter, nonce);
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
    pub(crate) fn next(self, wide: bool) -> Self {
        Self { d: count(self.d, _mm512_setr_epi64(4, 0, 4, 0, 4, 0, 4, 0), wide), ..self }
    }

    /// A round of columns, a round of diagonals. The second row is ready last in each round, so
    /// the other three are turned against it and the turning costs no time.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub(crate) fn double_round(self) -> Self {
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
    pub(crate) fn blocks(self, start: Self) -> [__m512i; 4] {
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
fn start(key: &[u32; 12], counter: u64, nonce: u64) -> [__m128i; 4] {
    let key = key.as_chunks().0;
    [
        row(&key[0]),
        row(&key[1]),
        row(&key[2]),
        _mm_set_epi64x(nonce.cast_signed(), counter.cast_signed()),
    ]
}

/// Last rows, later by `blocks`, a number of 64 bits in the low half of each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn count(d: __m512i, blocks: __m512i, wide: bool) -> __m512i {
    if wide { _mm512_add_epi64(d, blocks) } else { _mm512_add_epi32(d, blocks) }
}

/// Up to `BLOCKS` blocks, 4 `N`, as `N` independent groups of rows, at most 3, that overlap in
/// time.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn fours<const ROUNDS: usize, const XOR: bool, const N: usize, const BLOCKS: usize>(
    state: &State<ROUNDS>,
    counter: u64,
    wide: bool,
    data: InOutBuf<'_, '_, u8>,
) {
    const { assert!(N <= 3 && BLOCKS == 4 * N) };
    let x0 = Rows::of(&state.key, counter, state.nonce, wide);
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
    let mut blocks = [_mm512_setzero_si512(); BLOCKS];
    blocks[0..4].copy_from_slice(&x.blocks(x0));
    if N > 1 {
        blocks[4..8].copy_from_slice(&y.blocks(y0));
    }
    if N > 2 {
        blocks[8..12].copy_from_slice(&z.blocks(z0));
    }
    put::<XOR, BLOCKS>(&blocks, taken(data));
}

/// Up to two blocks, in registers of 256 bits: a program that asks for no more need not wake the
/// wider units.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn twos<const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    counter: u64,
    wide: bool,
    data: InOutBuf<'_, '_, u8>,
) {
    let rows = rows_of_two::<ROUNDS>(&state.key, counter, state.nonce, wide);
    put_two::<XOR>(rows, taken(data));
}

/// The rows of two blocks, side by side.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn rows_of_two<const ROUNDS: usize>(
    key: &[u32; 12],
    counter: u64,
    nonce: u64,
    wide: bool,
) -> [__m256i; 4] {
    let [a, b, c, d] = start(key, counter, nonce);
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
    [a, b, c, d]
}

/// The first 8 bytes of the block whose last row is `last`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn front(key: &Key, last: &[u8; 16]) -> u64 {
    let start = start_of_one(key, last);
    let mut x = start;
    for _ in 0..opaque_count(9) {
        x = double_round_of_one(x);
    }
    // By itself, so that nothing is computed in it that only other words depend on.
    let [a, ..] = double_round_of_one(x);
    _mm_cvtsi128_si64(_mm_add_epi32(a, start[0])).cast_unsigned()
}

/// The key that the rounds make: the first and the last row, behind the constant.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn hchacha20(key: &Key, nonce: &[u8; 16]) -> Key {
    let mut x = start_of_one(key, nonce);
    for _ in 0..opaque_count(10) {
        x = double_round_of_one(x);
    }
    let [a, _, _, d] = x;
    let [k0, k1, k2, k3, ..] = key.words;
    let [[x0, x1, x2, x3], [x12, x13, x14, x15]] = [words_of(a), words_of(d)];
    Key { words: [k0, k1, k2, k3, x0, x1, x2, x3, x12, x13, x14, x15] }
}

/// The rows of the block whose last row is `last`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn start_of_one(key: &Key, last: &[u8; 16]) -> [__m128i; 4] {
    let rows = key.words.as_chunks().0;
    [row(&rows[0]), row(&rows[1]), row(&rows[2]), load128(last)]
}

/// A round of columns, a round of diagonals, as in [`Rows::double_round`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn double_round_of_one(x: [__m128i; 4]) -> [__m128i; 4] {
    let [a, b, c, d] = quarter_of_one(x);
    let a = _mm_shuffle_epi32::<0x93>(a);
    let d = _mm_shuffle_epi32::<0x4e>(d);
    let c = _mm_shuffle_epi32::<0x39>(c);
    let [a, b, c, d] = quarter_of_one([a, b, c, d]);
    let a = _mm_shuffle_epi32::<0x39>(a);
    let d = _mm_shuffle_epi32::<0x4e>(d);
    let c = _mm_shuffle_epi32::<0x93>(c);
    [a, b, c, d]
}

/// The words of a row, which stay together when they are stored.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn words_of(row: __m128i) -> [u32; 4] {
    let mut bytes = [0; 16];
    store128(&mut bytes, row);
    let number = u128::from_le_bytes(bytes);
    [0, 32, 64, 96].map(|bit| super::portable::word(number >> bit))
}

/// [`quarter`] on the rows of one block, whose time is that of a chain of dependent operations.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn quarter_of_one([mut a, mut b, mut c, mut d]: [__m128i; 4]) -> [__m128i; 4] {
    a = _mm_add_epi32(a, b);
    d = xor_turned::<16, 16>(d, a);
    c = _mm_add_epi32(c, d);
    b = xor_turned::<12, 20>(b, c);
    a = _mm_add_epi32(a, b);
    d = xor_turned::<8, 24>(d, a);
    c = _mm_add_epi32(c, d);
    b = xor_turned::<7, 25>(b, c);
    [a, b, c, d]
}

/// The words of `early` and of `late` XORed, then rotated left by `LEFT` bits; `RIGHT` is 32 less
/// `LEFT`.
///
/// A rotation takes two cycles on Zen 4, a shift and an XOR of three one each: what is early is
/// rotated before the other is there, so that the chain is a quarter shorter.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(early: __m128i, late: __m128i) -> __m128i {
    // Opaque, because the compiler would make a rotation of both shifts.
    let left = opaque128(_mm_slli_epi32::<LEFT>(late));
    let right = _mm_srli_epi32::<RIGHT>(late);
    _mm_ternarylogic_epi32::<0x96>(_mm_rol_epi32::<LEFT>(early), left, right)
}

/// [`quarter`] on the rows of two blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn quarter_of_two([mut a, mut b, mut c, mut d]: [__m256i; 4]) -> [__m256i; 4] {
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
