//! Sixteen blocks at a time, one in each lane of 32 bits; four or eight blocks with four
//! blocks' rows side by side in each register; two blocks in registers of 256 bits.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{State, first_columns, later, wraps};
use crate::Level;
use crate::simd::{load512, load512_part, opaque_count, store512, store512_part};

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
    let words = &state.words(state.counter);
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
        let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
        let [a0, a1, a2, a3] = across(plus([x0, x1, x2, x3], words, 0));
        let [b0, b1, b2, b3] = across(plus([x4, x5, x6, x7], words, 4));
        let [c0, c1, c2, c3] = across(plus([x8, x9, x10, x11], words, 8));
        let [_, d1, d2, d3] = plus([x12, x13, x14, x15], words, 12);
        let [d0, d1, d2, d3] = across([_mm512_add_epi32(x12, counters), d1, d2, d3]);
        let [x0, x4, x8, x12] = blocks([a0, b0, c0, d0]);
        let [x1, x5, x9, x13] = blocks([a1, b1, c1, d1]);
        let [x2, x6, x10, x14] = blocks([a2, b2, c2, d2]);
        let [x3, x7, x11, x15] = blocks([a3, b3, c3, d3]);
        let blocks = [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15];
        data = put::<XOR, 16>(&blocks, data);
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

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn splat(word: u32) -> __m512i {
    _mm512_set1_epi32(word.cast_signed())
}

/// A column of the state, the same in all lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn column(words: &[u32; 16], at: usize) -> [__m512i; 4] {
    [splat(words[at]), splat(words[4 + at]), splat(words[8 + at]), splat(words[12 + at])]
}

/// Adds the four words from `at` on, the same in all lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn plus([x0, x1, x2, x3]: [__m512i; 4], words: &[u32; 16], at: usize) -> [__m512i; 4] {
    [
        _mm512_add_epi32(x0, splat(words[at])),
        _mm512_add_epi32(x1, splat(words[at + 1])),
        _mm512_add_epi32(x2, splat(words[at + 2])),
        _mm512_add_epi32(x3, splat(words[at + 3])),
    ]
}

/// Gathers four words of a row that lie lane by lane: in the `i`-th result, the four lanes of 128
/// bits are rows of the blocks `i`, 4 + `i`, 8 + `i` and 12 + `i`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn across([x0, x1, x2, x3]: [__m512i; 4]) -> [__m512i; 4] {
    let (low01, high01) = (_mm512_unpacklo_epi32(x0, x1), _mm512_unpackhi_epi32(x0, x1));
    let (low23, high23) = (_mm512_unpacklo_epi32(x2, x3), _mm512_unpackhi_epi32(x2, x3));
    [
        _mm512_unpacklo_epi64(low01, low23),
        _mm512_unpackhi_epi64(low01, low23),
        _mm512_unpacklo_epi64(high01, high23),
        _mm512_unpackhi_epi64(high01, high23),
    ]
}

/// Four blocks from their rows: block `i` is in the `i`-th lane of 128 bits of each row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn blocks([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab01, ab23) = (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0xee>(a, b));
    let (cd01, cd23) = (_mm512_shuffle_i32x4::<0x44>(c, d), _mm512_shuffle_i32x4::<0xee>(c, d));
    [
        _mm512_shuffle_i32x4::<0x88>(ab01, cd01),
        _mm512_shuffle_i32x4::<0xdd>(ab01, cd01),
        _mm512_shuffle_i32x4::<0x88>(ab23, cd23),
        _mm512_shuffle_i32x4::<0xdd>(ab23, cd23),
    ]
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

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn row(&[w0, w1, w2, w3]: &[u32; 4]) -> __m128i {
    _mm_setr_epi32(w0.cast_signed(), w1.cast_signed(), w2.cast_signed(), w3.cast_signed())
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

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn block(front: __m256i, back: __m256i) -> __m512i {
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(front), back)
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

/// Writes blocks over the front of `data`, or XORs them in, and gives back what is left of it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn put<'i, 'o, const XOR: bool, const N: usize>(
    blocks: &[__m512i; N],
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    if data.len() < 64 * N {
        // A copy, so that only this path has the blocks in memory.
        let mut spilled = *blocks;
        return put_part::<XOR>(&mut spilled, data);
    }
    let (mut front, rest) = data.split_at(64 * N);
    let mut blocks = *blocks;
    if XOR {
        xor_all(&mut blocks, front.get_in());
    }
    write(&blocks, front.get_out());
    rest
}

/// [`put`] for fewer bytes than there are: nothing is left of `data`. The last part block goes
/// through a mask.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn put_part<'i, 'o, const XOR: bool>(
    blocks: &mut [__m512i],
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let (whole, part) = (data.len() / 64, data.len() % 64);
    let (mut front, back) = data.split_at(64 * whole);
    if XOR {
        xor_all(blocks, front.get_in());
    }
    write(blocks, front.get_out());
    let (mut last, rest) = back.split_at(part);
    if part != 0 {
        let block = blocks[whole];
        let text = if XOR { load512_part(last.get_in()) } else { _mm512_setzero_si512() };
        store512_part(last.get_out(), _mm512_xor_si512(block, text));
    }
    rest
}

/// XORs whole blocks of bytes into as many blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn xor_all(blocks: &mut [__m512i], bytes: &[u8]) {
    for (block, bytes) in blocks.iter_mut().zip(bytes.as_chunks().0) {
        *block = _mm512_xor_si512(*block, load512(bytes));
    }
}

/// Writes as many blocks over `out` as it has room for.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn write(blocks: &[__m512i], out: &mut [u8]) {
    for (block, bytes) in blocks.iter().zip(out.as_chunks_mut().0) {
        store512(bytes, *block);
    }
}
