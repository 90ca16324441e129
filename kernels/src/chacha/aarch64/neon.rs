//! Eight blocks at a time, in two groups of four, one in each lane of 32 bits; fewer as one such
//! group, and one, two or three blocks with a row in each register.

mod eight;

use core::arch::aarch64::*;

use inout::InOutBuf;

use crate::arx::aarch64::neon::{
    across, add32, add64, column, last_row, load as load128, put, put_whole, row, shuffle32, splat,
    splat_all, store as store128, sums, xor32,
};
use crate::arx::lanes::aarch64::neon::xor_eight;
use crate::arx::lanes::{Rounds, StreamLane};
use crate::arx::{Key, State, later, wraps};
use crate::chacha::{first_columns, words};
use crate::isa::Mode;
use crate::opaque::observe;
use crate::simd::{load_words, load128 as load_bytes, opaque_count};
use crate::{Isa, Level};

pub(crate) use self::eight::{BESIDE, Groups, rounds, rounds_beside};

pub(crate) const NEEDS: Level = Level::Neon;

rows!(uint32x4_t, #[target_feature(enable = "neon")]);
lanes!(uint32x4_t, #[target_feature(enable = "neon")]);
double_round!(uint32x4_t, #[target_feature(enable = "neon")]);
one_block!(uint32x4_t, #[target_feature(enable = "neon")]);
starts!(#[target_feature(enable = "neon")]);

/// The most blocks that are not taken eight at a time.
const MOST: usize = 7;

/// Eight blocks at a time first, then the form that covers the rest.
#[target_feature(enable = "neon")]
pub(crate) fn apply<const XOR: bool>(
    state: &State,
    wide: bool,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<XOR>,
) {
    let (mut data, mut counter) = (data, state.counter);
    // Lanes have the same high word of the counter; only rows carry into it.
    while wide && wraps(counter, data.len()) && !data.is_empty() {
        data = put_rows::<XOR, 3>(state, counter, wide, data);
        counter = later(counter, 3, wide);
    }
    if data.len() > MOST * 64 {
        let len = data.len();
        data = whole::<XOR>(state, counter, data);
        counter = later(counter, ((len - data.len()) / 64) as u64, wide);
    }
    let _: InOutBuf<'_, '_, u8> = match data.len().div_ceil(64) {
        0 => data,
        1 => put_rows::<XOR, 1>(state, counter, wide, data),
        2 => put_rows::<XOR, 2>(state, counter, wide, data),
        3 => put_rows::<XOR, 3>(state, counter, wide, data),
        4 => put_four_and::<XOR, 0>(state, counter, wide, data),
        5 => put_four_and::<XOR, 1>(state, counter, wide, data),
        6 => put_four_and::<XOR, 2>(state, counter, wide, data),
        _ => put_four_and::<XOR, 3>(state, counter, wide, data),
    };
}

/// Eight blocks at a time, until at most `MOST` blocks of `data` are left, which are returned.
#[inline(never)]
#[target_feature(enable = "neon")]
fn whole<'i, 'o, const XOR: bool>(
    state: &State,
    counter: u64,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let mut data = data;
    let mut start = Start::of(&words(state, counter));
    while data.len() > MOST * 64 {
        (_, data) = start.pass::<XOR, false>(|x, _| rounds(x, state.double_rounds - 1), data);
    }
    data
}

/// A block, in rows.
pub(crate) type Block = [uint32x4_t; 4];

/// The start of eight blocks.
pub(crate) struct Start {
    /// The words of the first group.
    words: [uint32x4_t; 16],
    /// The words of columns 1 to 3 after the first round, which are the same in all blocks.
    columns: [[uint32x4_t; 4]; 3],
}

impl Start {
    /// The start whose first block has these words.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn of(words: &[u32; 16]) -> Self {
        let after = &first_columns(words);
        let columns = [column(after, 1), column(after, 2), column(after, 3)];
        let mut words = splat_all(words);
        words[12] = add32(words[12], load_words(&[0, 1, 2, 3]));
        Self { words, columns }
    }

    /// Writes eight blocks over the front of `data`, or XORs them in, and returns the rest of
    /// `data`. The start becomes that of the next blocks. `rounds` are those after the first;
    /// they may read what is in `data`.
    ///
    /// With `KEY`, the first block is not for the data, of which there are at least seven blocks;
    /// it is returned, too.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn pass<'i, 'o, const XOR: bool, const KEY: bool>(
        &mut self,
        rounds: impl FnOnce(Groups, &[u8]) -> Groups,
        data: InOutBuf<'i, 'o, u8>,
    ) -> (Block, InOutBuf<'i, 'o, u8>) {
        let counters = self.words[12];
        let x = self.first_round(counters);
        // So that the compiler loads the words again, and does not keep copies of them.
        observe(self);
        let y = self.first_round(add32(counters, splat(4)));
        let [x, y] = rounds([x, y], data.get_in());
        if data.len() < if KEY { 7 * 64 } else { 8 * 64 } {
            // A copy, so that only this path has the words in memory.
            let spilled = [x, y];
            return ([splat(0); 4], self.put_part::<XOR>(&spilled, data));
        }
        let blocks = self.sums(x);
        let [key, one, two, three] = blocks;
        let (front, data) = data.split_at(if KEY { 3 * 64 } else { 4 * 64 });
        if KEY {
            put_whole::<XOR, 3>([one, two, three], front);
        } else {
            put_whole::<XOR, 4>(blocks, front);
        }
        let (front, data) = data.split_at(4 * 64);
        put_whole::<XOR, 4>(self.sums(y), front);
        (key, data)
    }

    /// The first round of a group with these counters.
    #[inline]
    #[target_feature(enable = "neon")]
    fn first_round(&self, counters: uint32x4_t) -> [uint32x4_t; 16] {
        let [x0, x4, x8, x12] = quarter([self.words[0], self.words[4], self.words[8], counters]);
        let [[x1, x5, x9, x13], [x2, x6, x10, x14], [x3, x7, x11, x15]] = self.columns;
        [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
    }

    /// The end of a pass over fewer bytes, out of line: the usual case needs all registers.
    #[inline(never)]
    #[target_feature(enable = "neon")]
    fn put_part<'i, 'o, const XOR: bool>(
        &mut self,
        groups: &Groups,
        data: InOutBuf<'i, 'o, u8>,
    ) -> InOutBuf<'i, 'o, u8> {
        let mut data = data;
        for x in groups {
            data = put::<XOR, 4>(&self.sums(*x), data);
        }
        data
    }

    /// The blocks of a group, from the result `x` of the rounds.
    #[inline]
    #[target_feature(enable = "neon")]
    fn sums(&mut self, x: [uint32x4_t; 16]) -> [Block; 4] {
        // So that the compiler loads the words now.
        observe(self);
        let blocks = sums(x, self.words);
        self.words[12] = add32(self.words[12], splat(4));
        blocks
    }
}

/// Blocks 0 and 1 of four keys and last rows, whose counters are zero and have 32 bits: all blocks
/// 0, then all blocks 1.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn first_two_of_four(keys: [(&Key, [u64; 2]); 4]) -> [[Block; 4]; 2] {
    let row_of = |at: usize| across(keys.map(|(key, _)| row(&key.words.as_chunks().0[at])));
    let [c0, c1, n0, n1] = across(keys.map(|(_, [counter, nonce])| last_row(counter, nonce)));
    let [[s0, s1, s2, s3], [k0, k1, k2, k3], [k4, k5, k6, k7]] = [row_of(0), row_of(1), row_of(2)];
    let mut start = [s0, s1, s2, s3, k0, k1, k2, k3, k4, k5, k6, k7, c0, c1, n0, n1];
    let x = columns(start);
    // So that the compiler loads the words again, and does not keep copies of them.
    observe(&mut start);
    let counters = add32(start[12], splat(1));
    let mut next = start;
    next[12] = counters;
    let [x, y] = rounds([x, columns(next)], 9);
    observe(&mut start);
    let first = sums(x, start);
    observe(&mut start);
    start[12] = counters;
    [first, sums(y, start)]
}

/// Up to `N` blocks in rows. Returns the rest of `data`.
#[inline(never)]
#[target_feature(enable = "neon")]
fn put_rows<'i, 'o, const XOR: bool, const N: usize>(
    state: &State,
    counter: u64,
    wide: bool,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    put::<XOR, N>(&in_rows(state, counter, wide, || {}), data)
}

/// Up to four blocks and `N` more. Returns the rest of `data`.
#[inline(never)]
#[target_feature(enable = "neon")]
fn put_four_and<'i, 'o, const XOR: bool, const N: usize>(
    state: &State,
    counter: u64,
    wide: bool,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let (four, rows) = four_and(state, counter, wide, || {});
    put::<XOR, N>(&rows, put::<XOR, 4>(&four, data))
}

/// `N` blocks in rows, at most three. `beside` is called in each double round.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn in_rows<const N: usize>(
    state: &State,
    counter: u64,
    wide: bool,
    mut beside: impl FnMut(),
) -> [Block; N] {
    let starts = starts(state, counter, wide);
    let mut x = starts;
    for _ in 0..opaque_count(state.double_rounds) {
        for x in &mut x[..N] {
            *x = x.double_round();
        }
        beside();
    }
    core::array::from_fn(|at| x[at].sum(starts[at]))
}

/// Four blocks lane by lane, and `N` more in rows, at most three. `beside` is called in each double
/// round.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn four_and<const N: usize>(
    state: &State,
    counter: u64,
    wide: bool,
    mut beside: impl FnMut(),
) -> ([Block; 4], [Block; N]) {
    let start = Start::of(&words(state, counter));
    let starts = starts(state, later(counter, 4, wide), wide);
    let (mut x, mut y) = (diagonals(start.first_round(start.words[12])), starts);
    for y in &mut y[..N] {
        *y = y.double_round();
    }
    beside();
    for _ in 0..opaque_count(state.double_rounds - 1) {
        x = double_round(x);
        for y in &mut y[..N] {
            *y = y.double_round();
        }
        beside();
    }
    (sums(x, start.words), core::array::from_fn(|at| y[at].sum(starts[at])))
}

/// XORs the keystream of each message into its data.
#[target_feature(enable = "neon")]
pub(crate) fn xor_lanes<M: StreamLane>(isa: Isa, rounds: Rounds, lanes: &mut [M]) {
    xor_eight(isa, rounds, lanes, |[x, y], count| {
        self::rounds([columns(x), columns(y)], count - 1)
    });
}

/// The words of `x` and `y` XORed, then rotated left by `LEFT` bits; `RIGHT` is 32 less `LEFT`.
#[inline]
#[target_feature(enable = "neon")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(x: uint32x4_t, y: uint32x4_t) -> uint32x4_t {
    const { assert!(LEFT + RIGHT == 32) };
    let x = xor32(x, y);
    match LEFT {
        16 => vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(x))),
        8 => vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(x), byte_order())),
        _ => vsriq_n_u32::<RIGHT>(vshlq_n_u32::<LEFT>(x), x),
    }
}

/// The order of bytes that rotates words left by 8 bits.
#[inline]
#[target_feature(enable = "neon")]
fn byte_order() -> uint8x16_t {
    load_bytes(&[3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14])
}

/// The lowest 64 bits of a row.
#[inline]
#[target_feature(enable = "neon")]
fn low_number(row: uint32x4_t) -> u64 {
    vgetq_lane_u64::<0>(vreinterpretq_u64_u32(row))
}

impl Rows {
    /// The start of the block `counter`.
    #[inline]
    #[target_feature(enable = "neon")]
    fn of(state: &State, counter: u64, _wide: bool) -> Self {
        let key = state.key.as_chunks().0;
        let d = last_row(counter, state.nonce);
        Self { a: row(&key[0]), b: row(&key[1]), c: row(&key[2]), d }
    }

    /// The start of the next block.
    #[inline]
    #[target_feature(enable = "neon")]
    fn next(self, wide: bool) -> Self {
        Self { d: count(self.d, last_row(1, 0), wide), ..self }
    }
}
