//! The specification: one block at a time.

use inout::InOutBuf;
use lanecrypt_kernels::arx::{self, State, later};
use lanecrypt_kernels::isa::Mode;

use super::{quarter_round, words};

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
    let mut x = *state;
    for _ in 0..double_rounds {
        for column in 0..4 {
            let down = |by: usize| 4 * ((column + by) % 4) + column;
            quarter(&mut x, [down(0), down(1), down(2), down(3)]);
        }
        for row in 0..4 {
            let right = |by: usize| 4 * row + (row + by) % 4;
            quarter(&mut x, [right(0), right(1), right(2), right(3)]);
        }
    }
    arx::block(x, state)
}

/// One quarter-round on the words at `at`.
#[inline]
fn quarter(x: &mut [u32; 16], at: [usize; 4]) {
    let [a, b, c, d] = at;
    [x[a], x[b], x[c], x[d]] = quarter_round([x[a], x[b], x[c], x[d]]);
}
