//! Sixteen blocks at a time, one in each lane of 32 bits; four, eight or twelve blocks with four
//! blocks' rows side by side in each register; twenty-four blocks, sixteen the one way and eight
//! the other; two blocks in registers of 256 bits.

mod x1;
pub(crate) mod x2;

use core::arch::x86_64::*;

use inout::InOutBuf;

pub(crate) use x1::{front, hchacha20};
pub(crate) use x2::rows_of_two;

use crate::arx::lanes::x86_64::avx512 as lanes;
use crate::arx::lanes::{Rounds, Starts, StreamLane};
use crate::arx::x86_64::avx512::{
    across, add32, add64, blocks, plus, put, put_two, row, shuffle32, splat, splat_four,
    splat_from, xor32,
};
use crate::arx::{State, halves, later, taken, wraps};
use crate::chacha::quarter_round;
use crate::isa::Mode;
use crate::simd::opaque_count;
use crate::{Isa, Level};

pub(crate) const NEEDS: Level = Level::Avx512;

rows!(__m512i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
lanes!(__m512i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
double_round!(__m512i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);

/// XORs the keystream of each message into its data.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn xor_lanes<M: StreamLane>(isa: Isa, rounds: Rounds, messages: &mut [M]) {
    lanes::xor(isa, rounds, messages, |x| double_round(x), |x| x2::double_round(x));
}

/// Sixteen blocks of keystream of ChaCha20.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn sixteen_blocks<S: Starts<16>>(starts: &S) -> [__m512i; 16] {
    lanes::sixteen_blocks(10, starts, |x| double_round(x))
}

/// Eight blocks of keystream of ChaCha20, in halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn eight_blocks<S: Starts<16>>(starts: &S) -> [[__m256i; 2]; 8] {
    lanes::eight_blocks(10, starts, |x| x2::double_round(x))
}

/// The words of `x` and `y` XORed, then rotated left by `LEFT` bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(x: __m512i, y: __m512i) -> __m512i {
    _mm512_rol_epi32::<LEFT>(xor32(x, y))
}

/// Whole widths first, then the narrowest form that covers the rest.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn apply<const XOR: bool>(
    state: &State,
    wide: bool,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<XOR>,
) {
    let (mut data, mut counter) = (data, state.counter);
    // If the low word of a wide counter wraps within, only the forms in rows are used: they carry.
    let carries = wide && wraps(counter, data.len());
    let whole = if carries { 0 } else { 16 * passes::<XOR>(data.len().div_ceil(64)) };
    if whole != 0 {
        let len = data.len().min(64 * whole);
        let (front, back) = data.split_at(len);
        if XOR && whole == 16 {
            sixteens::<XOR, true, false>(state, counter, front);
        } else {
            sixteens::<XOR, false, false>(state, counter, front);
        }
        data = back;
        counter = later(counter, whole as u64, wide);
    }
    while carries && data.len() > 8 * 64 {
        let (front, back) = data.split_at(8 * 64);
        fours::<XOR, 2, 8>(state, counter, wide, front);
        data = back;
        counter = later(counter, 8, wide);
    }
    match data.len().div_ceil(64) {
        0 => {}
        1..=2 => twos::<XOR>(state, counter, wide, data),
        3..=4 => fours::<XOR, 1, 4>(state, counter, wide, data),
        9..=12 if XOR => fours::<XOR, 3, 12>(state, counter, wide, data),
        13.. if XOR => sixteens::<XOR, true, true>(state, counter, data),
        _ => fours::<XOR, 2, 8>(state, counter, wide, data),
    }
}

/// The number of passes over 16 lanes at the front of `blocks` blocks; the last may be incomplete.
///
/// Without `XOR`, at most 8 blocks are left for other forms; with it, 12, or 21 to 24. Messages
/// have further forms. Generators of random numbers do not need these, because they request whole
/// widths.
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

/// Passes over 16 blocks, only one if `ONCE`; the last may be incomplete. Many passes take their
/// double rounds in threes: of nested loops, the processor predicts only the end of short ones.
///
/// With `MORE`, one pass over 17 to 24 blocks: 16 in lanes and the rest in rows, at the same time.
/// The chains of the rows leave enough time to do nearly all the work of the lanes beside them.
///
/// The low word of a wide counter must not wrap within: all lanes take the same high word.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn sixteens<const XOR: bool, const ONCE: bool, const MORE: bool>(
    state: &State,
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
            for _ in 0..opaque_count((state.double_rounds - 1) / 3) {
                x = double_round(x);
                x = double_round(x);
                x = double_round(x);
            }
            for _ in 0..(state.double_rounds - 1) % 3 {
                x = double_round(x);
            }
        } else {
            for _ in 1..opaque_count(state.double_rounds) {
                x = double_round(x);
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

/// The start of sixteen blocks, one a lane of 32 bits.
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

    /// The first double round. If `ONCE`, words come from memory one by one.
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

    /// The blocks: the result `x` of the rounds, added to the start.
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

    /// The blocks: the result of the rounds, added to `start`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub(crate) fn blocks(self, start: Self) -> [__m512i; 4] {
        blocks(self.sum(start))
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

/// Up to `BLOCKS` blocks, 4 `N`, as `N` independent groups of rows, at most 3, that overlap in
/// time.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn fours<const XOR: bool, const N: usize, const BLOCKS: usize>(
    state: &State,
    counter: u64,
    wide: bool,
    data: InOutBuf<'_, '_, u8>,
) {
    let x = Rows::of(&state.key, counter, state.nonce, wide);
    let y = x.next(wide);
    let starts = [x, y, y.next(wide)];
    put::<XOR, BLOCKS>(
        &groups!(starts, state.double_rounds, 4, _mm512_setzero_si512()),
        taken(data),
    );
}

/// Up to two blocks, in registers of 256 bits.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn twos<const XOR: bool>(state: &State, counter: u64, wide: bool, data: InOutBuf<'_, '_, u8>) {
    let rows = rows_of_two(&state.key, counter, state.nonce, wide, state.double_rounds);
    put_two::<XOR>(rows, taken(data));
}
