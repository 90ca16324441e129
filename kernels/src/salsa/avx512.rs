//! Sixteen blocks at a time, one in each lane of 32 bits; four or eight blocks with four
//! blocks' diagonals side by side in each register; two blocks in registers of 256 bits.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{first_double_round, words};
use crate::Level;
use crate::arx::avx512::{block, blocks, column, put, put_lanes, row, splat, splat_all};
use crate::arx::{State, wraps};
use crate::simd::{opaque_count, opaque128};

pub(super) const NEEDS: Level = Level::Avx512;

/// Writes keystream over `out`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn keystream<const ROUNDS: usize>(state: &State<ROUNDS>, out: &mut [u8]) {
    apply::<ROUNDS, false>(state, out.into());
}

/// XORs keystream into `data`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn xor<const ROUNDS: usize>(state: &State<ROUNDS>, data: InOutBuf<'_, '_, u8>) {
    apply::<ROUNDS, true>(state, data);
}

/// Whole widths first, then the narrowest form that covers what is left.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn apply<const ROUNDS: usize, const XOR: bool>(state: &State<ROUNDS>, data: InOutBuf<'_, '_, u8>) {
    let mut data = data;
    let mut counter = state.counter;
    // When the low word of the counter wraps within, the narrower forms, which carry, do all.
    if data.len() > 8 * 64 && !wraps(counter, data.len()) {
        let len = data.len();
        data = sixteens::<ROUNDS, XOR>(state, data);
        counter = counter.wrapping_add(((len - data.len()) / 64) as u64);
    }
    while !data.is_empty() {
        data = match data.len().div_ceil(64) {
            0..=2 => twos::<ROUNDS, XOR>(state, counter, data),
            3..=4 => fours::<ROUNDS, XOR, 1, 4>(state, counter, data),
            _ => fours::<ROUNDS, XOR, 2, 8>(state, counter, data),
        };
        counter = counter.wrapping_add(8);
    }
}

/// Whole widths of 16 blocks, until at most 8 blocks are left of `data`, which is given back.
///
/// The low word of the counter must not wrap within: all lanes take the same high word.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn sixteens<'i, 'o, const ROUNDS: usize, const XOR: bool>(
    state: &State<ROUNDS>,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let mut data = data;
    let words = &words(state, state.counter);
    let started = &first_double_round(words);
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let mut counters = _mm512_add_epi32(splat(words[8]), lanes);
    while data.len() > 8 * 64 {
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
        counters = _mm512_add_epi32(counters, splat(16));
    }
    data
}

/// A round of columns on the words of all lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn columns(x: [__m512i; 16]) -> [__m512i; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [x0, x4, x8, x12] = quarter([x0, x4, x8, x12]);
    let [x5, x9, x13, x1] = quarter([x5, x9, x13, x1]);
    let [x10, x14, x2, x6] = quarter([x10, x14, x2, x6]);
    let [x15, x3, x7, x11] = quarter([x15, x3, x7, x11]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A round of rows on the words of all lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn rows(x: [__m512i; 16]) -> [__m512i; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [x0, x1, x2, x3] = quarter([x0, x1, x2, x3]);
    let [x5, x6, x7, x4] = quarter([x5, x6, x7, x4]);
    let [x10, x11, x8, x9] = quarter([x10, x11, x8, x9]);
    let [x15, x12, x13, x14] = quarter([x15, x12, x13, x14]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A quarter-round in each lane of 32 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn quarter([mut a, mut b, mut c, mut d]: [__m512i; 4]) -> [__m512i; 4] {
    b = _mm512_xor_si512(b, _mm512_rol_epi32::<7>(_mm512_add_epi32(a, d)));
    c = _mm512_xor_si512(c, _mm512_rol_epi32::<9>(_mm512_add_epi32(b, a)));
    d = _mm512_xor_si512(d, _mm512_rol_epi32::<13>(_mm512_add_epi32(c, b)));
    a = _mm512_xor_si512(a, _mm512_rol_epi32::<18>(_mm512_add_epi32(d, c)));
    [a, b, c, d]
}

/// The diagonals of four blocks, block `i` in the `i`-th lane of 128 bits: `a` is the main one,
/// the `j`-th word of `b`, `c` and `d` stands one, two and three rows below the `j`-th of `a`.
#[derive(Clone, Copy)]
struct Diagonals {
    a: __m512i,
    b: __m512i,
    c: __m512i,
    d: __m512i,
}

impl Diagonals {
    /// The start of four blocks from `counter` on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    fn of<const ROUNDS: usize>(state: &State<ROUNDS>, counter: u64) -> Self {
        let [a, b, c, d] = start(state, counter);
        let (a, b) = (_mm512_broadcast_i32x4(a), _mm512_broadcast_i32x4(b));
        let (c, d) = (_mm512_broadcast_i32x4(c), _mm512_broadcast_i32x4(d));
        Self { a, b, c, d }.later(counter, _mm512_setr_epi64(0, 0, 1, 0, 2, 0, 3, 0))
    }

    /// The start of the blocks that are later than `counter` by what each lane says.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    fn later(self, counter: u64, blocks: __m512i) -> Self {
        let counters = _mm512_add_epi64(_mm512_set1_epi64(counter.cast_signed()), blocks);
        Self {
            b: _mm512_mask_blend_epi32(0x2222, self.b, counters),
            c: _mm512_mask_blend_epi32(0x1111, self.c, counters),
            ..self
        }
    }

    /// A round of columns, a round of rows. The main diagonal is ready last in each round, so the
    /// other three are turned against it and the turning costs no time.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    fn double_round(self) -> Self {
        let [a, b, c, d] = quarter([self.a, self.b, self.c, self.d]);
        let b = _mm512_shuffle_epi32::<0x93>(b);
        let c = _mm512_shuffle_epi32::<0x4e>(c);
        let d = _mm512_shuffle_epi32::<0x39>(d);
        let [a, d, c, b] = quarter([a, d, c, b]);
        Self {
            a,
            b: _mm512_shuffle_epi32::<0x39>(b),
            c: _mm512_shuffle_epi32::<0x4e>(c),
            d: _mm512_shuffle_epi32::<0x93>(d),
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
        let ad = _mm512_mask_blend_epi32(0xaaaa, a, d);
        let ba = _mm512_mask_blend_epi32(0xaaaa, b, a);
        let cb = _mm512_mask_blend_epi32(0xaaaa, c, b);
        let dc = _mm512_mask_blend_epi32(0xaaaa, d, c);
        blocks([
            _mm512_mask_blend_epi32(0xcccc, ad, cb),
            _mm512_mask_blend_epi32(0xcccc, ba, dc),
            _mm512_mask_blend_epi32(0xcccc, cb, ad),
            _mm512_mask_blend_epi32(0xcccc, dc, ba),
        ])
    }
}

/// The diagonals of one block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn start<const ROUNDS: usize>(state: &State<ROUNDS>, counter: u64) -> [__m128i; 4] {
    let key = state.key.as_chunks().0;
    // Every word is in the lane of its column; each diagonal takes two words from one of these
    // and one from each of the others. Opaque, because the compiler would load both halves of the
    // key at once, and that waits for the two stores when the key is new.
    let front = opaque128(_mm_shuffle_epi32::<0x93>(row(&key[1])));
    let back = opaque128(_mm_shuffle_epi32::<0x39>(row(&key[2])));
    let last = _mm_set_epi64x(state.nonce.cast_signed(), counter.cast_signed());
    [
        row(&key[0]),
        _mm_blend_epi32::<0b0100>(_mm_blend_epi32::<0b0010>(front, last), back),
        _mm_blend_epi32::<0b0100>(_mm_blend_epi32::<0b0010>(last, back), front),
        _mm_blend_epi32::<0b0100>(_mm_blend_epi32::<0b0010>(back, front), last),
    ]
}

/// Up to `BLOCKS` blocks, 4 `N`, as `N` independent groups of diagonals, at most 2, that overlap
/// in time. Gives back what is left of `data`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn fours<'i, 'o, const ROUNDS: usize, const XOR: bool, const N: usize, const BLOCKS: usize>(
    state: &State<ROUNDS>,
    counter: u64,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    const { assert!(N <= 2 && BLOCKS == 4 * N) };
    let x0 = Diagonals::of(state, counter);
    let y0 = x0.later(counter, _mm512_setr_epi64(4, 0, 5, 0, 6, 0, 7, 0));
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
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let [a, b, c, d] = start(state, counter);
    let (a0, b0) = (_mm256_broadcastsi128_si256(a), _mm256_broadcastsi128_si256(b));
    let (c0, d0) = (_mm256_broadcastsi128_si256(c), _mm256_broadcastsi128_si256(d));
    let one = _mm256_setr_epi64x(0, 0, 1, 0);
    let counters = _mm256_add_epi64(_mm256_set1_epi64x(counter.cast_signed()), one);
    let b0 = _mm256_blend_epi32::<0x22>(b0, counters);
    let c0 = _mm256_blend_epi32::<0x11>(c0, counters);
    let (mut a, mut b, mut c, mut d) = (a0, b0, c0, d0);
    for _ in 0..opaque_count(ROUNDS / 2) {
        [a, b, c, d] = quarter_of_two([a, b, c, d]);
        b = _mm256_shuffle_epi32::<0x93>(b);
        c = _mm256_shuffle_epi32::<0x4e>(c);
        d = _mm256_shuffle_epi32::<0x39>(d);
        [a, d, c, b] = quarter_of_two([a, d, c, b]);
        b = _mm256_shuffle_epi32::<0x39>(b);
        c = _mm256_shuffle_epi32::<0x4e>(c);
        d = _mm256_shuffle_epi32::<0x93>(d);
    }
    let (a, b) = (_mm256_add_epi32(a, a0), _mm256_add_epi32(b, b0));
    let (c, d) = (_mm256_add_epi32(c, c0), _mm256_add_epi32(d, d0));
    let ad = _mm256_blend_epi32::<0xaa>(a, d);
    let ba = _mm256_blend_epi32::<0xaa>(b, a);
    let cb = _mm256_blend_epi32::<0xaa>(c, b);
    let dc = _mm256_blend_epi32::<0xaa>(d, c);
    let a = _mm256_blend_epi32::<0xcc>(ad, cb);
    let b = _mm256_blend_epi32::<0xcc>(ba, dc);
    let c = _mm256_blend_epi32::<0xcc>(cb, ad);
    let d = _mm256_blend_epi32::<0xcc>(dc, ba);
    let blocks = [
        block(_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x20>(c, d)),
        block(_mm256_permute2x128_si256::<0x31>(a, b), _mm256_permute2x128_si256::<0x31>(c, d)),
    ];
    put::<XOR, 2>(&blocks, data)
}

/// [`quarter`] on the diagonals of two blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn quarter_of_two([mut a, mut b, mut c, mut d]: [__m256i; 4]) -> [__m256i; 4] {
    b = _mm256_xor_si256(b, _mm256_rol_epi32::<7>(_mm256_add_epi32(a, d)));
    c = _mm256_xor_si256(c, _mm256_rol_epi32::<9>(_mm256_add_epi32(b, a)));
    d = _mm256_xor_si256(d, _mm256_rol_epi32::<13>(_mm256_add_epi32(c, b)));
    a = _mm256_xor_si256(a, _mm256_rol_epi32::<18>(_mm256_add_epi32(d, c)));
    [a, b, c, d]
}
