//! Four blocks at a time, one in each lane of 32 bits; one, two or three blocks with a diagonal in
//! each register.

use core::arch::aarch64::*;

use inout::InOutBuf;
use lanecrypt_kernels::arx::aarch64::neon::{
    add32, blocks, column, last_row, put, put_lanes, row, shuffle32, splat, splat_all, xor32,
};
use lanecrypt_kernels::arx::lanes::aarch64::neon::xor;
use lanecrypt_kernels::arx::lanes::{Rounds, StreamLane};
use lanecrypt_kernels::arx::{State, later, wraps};
use lanecrypt_kernels::isa::Mode;
use lanecrypt_kernels::simd::opaque_count;
use lanecrypt_kernels::{Isa, Level};

use crate::salsa::{once, words};

pub(crate) const NEEDS: Level = Level::Neon;

rounds!(uint32x4_t, 0b1010, 0b1100, #[target_feature(enable = "neon")]);
double_rounds!(uint32x4_t, #[target_feature(enable = "neon")]);
passes!(4, 1, [splat(0); 4], 8, row(&[0, 1, 2, 3]), #[target_feature(enable = "neon")]);
narrow!(1, #[target_feature(enable = "neon")]);

/// XORs the keystream of each message into its data.
#[target_feature(enable = "neon")]
pub(crate) fn xor_lanes<M: StreamLane>(isa: Isa, rounds: Rounds, lanes: &mut [M]) {
    xor(isa, rounds, lanes, |x, count| double_rounds(x, count));
}

/// XORs words, rotated left by `LEFT` bits, into others; `RIGHT` is 32 less `LEFT`.
#[inline]
#[target_feature(enable = "neon")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(
    into: uint32x4_t,
    words: uint32x4_t,
) -> uint32x4_t {
    const { assert!(LEFT + RIGHT == 32) };
    xor32(into, vsriq_n_u32::<RIGHT>(vshlq_n_u32::<LEFT>(words), words))
}

impl Diagonals {
    /// The start of the block `counter`.
    #[inline]
    #[target_feature(enable = "neon")]
    fn of(state: &State, counter: u64) -> Self {
        let key = state.key.as_chunks().0;
        // Every word is in the lane of its column; each diagonal takes two words from one of
        // these and one from each of the others.
        let front = shuffle32::<0x93>(row(&key[1]));
        let back = shuffle32::<0x39>(row(&key[2]));
        let last = last_row(counter, state.nonce);
        Self {
            a: row(&key[0]),
            b: blend::<0b0100>(blend::<0b0010>(front, last), back),
            c: blend::<0b0100>(blend::<0b0010>(last, back), front),
            d: blend::<0b0100>(blend::<0b0010>(back, front), last),
        }
    }
}

/// The words of `b` whose bits are set in `LANES`, else those of `a`.
#[inline]
#[target_feature(enable = "neon")]
fn blend<const LANES: i32>(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
    let of = |lane: i32| if LANES >> lane & 1 == 1 { u32::MAX } else { 0 };
    let chosen = row(&[of(0), of(1), of(2), of(3)]);
    vbslq_u32(chosen, b, a)
}

/// The starts of three blocks from `counter` on.
#[inline]
#[target_feature(enable = "neon")]
fn starts(state: &State, counter: u64, _: bool) -> [Diagonals; 3] {
    [
        Diagonals::of(state, counter),
        Diagonals::of(state, counter.wrapping_add(1)),
        Diagonals::of(state, counter.wrapping_add(2)),
    ]
}
