//! The specification: one block at a time.

use inout::InOutBuf;

use super::{quarter_round, words};
use crate::arx::{self, Key, State, later};
use crate::isa::Mode;
use crate::wipe;

/// Applies keystream. Not inlined, so that the other kernels need no room on the stack for it.
#[inline(never)]
pub(super) fn apply<const XOR: bool>(
    state: &State,
    wide: bool,
    mut data: InOutBuf<'_, '_, u8>,
    _: Mode<XOR>,
) {
    let mut counter = state.counter;
    while !data.is_empty() {
        let block = block(&words(state, counter), state.double_rounds);
        data = arx::put::<XOR>(&block, data);
        counter = later(counter, 1, wide);
    }
}

/// The block of keystream that a state gives.
#[inline]
fn block(state: &[u32; 16], double_rounds: usize) -> [u8; 64] {
    arx::block(rounds(state, double_rounds), state)
}

/// The first 8 bytes of the block whose last row is `last`.
#[inline(never)]
pub(super) fn front(key: &Key, last: &[u8; 16]) -> u64 {
    let number = u128::from_le_bytes(*last);
    let state = State::new::<20>(key, [low(number), low(number >> 64)]);
    let mut block = block(&words(&state, state.counter), state.double_rounds);
    let front = u64::from_le_bytes(*block.first_chunk().expect("a block has 64 bytes"));
    wipe::memory(&mut block);
    front
}

/// The lowest 64 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
fn low(number: u128) -> u64 {
    number as u64
}

/// The key that the rounds make: the first and the last row, behind the constant.
#[inline(never)]
pub(super) fn hchacha20(key: &Key, nonce: &[u8; 16]) -> Key {
    let [k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11] = key.words;
    let number = u128::from_le_bytes(*nonce);
    let [n0, n1, n2, n3] = [0, 32, 64, 96].map(|bit| word(number >> bit));
    let x = rounds(&[k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, n0, n1, n2, n3], 10);
    let [x0, x1, x2, x3, .., x12, x13, x14, x15] = x;
    Key { words: [k0, k1, k2, k3, x0, x1, x2, x3, x12, x13, x14, x15] }
}

/// The lowest word.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lowest word is wanted")]
pub(super) fn word(number: u128) -> u32 {
    number as u32
}

/// The result of the rounds for a state.
#[inline]
fn rounds(state: &[u32; 16], double_rounds: usize) -> [u32; 16] {
    let mut x = *state;
    for _ in 0..double_rounds {
        for column in 0..4 {
            quarter(&mut x, [column, 4 + column, 8 + column, 12 + column]);
        }
        for column in 0..4 {
            let right = |by: usize| (column + by) % 4;
            quarter(&mut x, [column, 4 + right(1), 8 + right(2), 12 + right(3)]);
        }
    }
    x
}

/// One quarter-round on the words at `at`.
#[inline]
fn quarter(x: &mut [u32; 16], at: [usize; 4]) {
    let [a, b, c, d] = at;
    [x[a], x[b], x[c], x[d]] = quarter_round([x[a], x[b], x[c], x[d]]);
}
