//! Four blocks at a time, one in each lane of 32 bits; one, two or three blocks with a diagonal in
//! each register.

use core::arch::x86_64::*;

use inout::InOutBuf;
use lanecrypt_kernels::arx::lanes::x86_64::ssse3::xor;
use lanecrypt_kernels::arx::lanes::{Rounds, StreamLane};
use lanecrypt_kernels::arx::x86_64::ssse3::{
    add32, blocks, column, put, put_lanes, row, shuffle32, splat, splat_all, xor32,
};
use lanecrypt_kernels::arx::{State, later, wraps};
use lanecrypt_kernels::isa::Mode;
use lanecrypt_kernels::simd::opaque_count;
use lanecrypt_kernels::{Isa, Level};

use crate::salsa::{once, words};

pub(crate) const NEEDS: Level = Level::Ssse3;

rounds!(__m128i, 0b1010, 0b1100, #[target_feature(enable = "ssse3")]);
double_rounds!(__m128i, #[target_feature(enable = "ssse3")]);
passes!(
    4, 1, [_mm_setzero_si128(); 4], 8,
    _mm_setr_epi32(0, 1, 2, 3),
    #[target_feature(enable = "ssse3")]
);
narrow!(1, #[target_feature(enable = "ssse3")]);

/// XORs the keystream of each message into its data.
#[target_feature(enable = "ssse3")]
pub(crate) fn xor_lanes<M: StreamLane>(isa: Isa, rounds: Rounds, lanes: &mut [M]) {
    xor(isa, rounds, lanes, |x, count| double_rounds(x, count));
}

/// XORs words, rotated left by `LEFT` bits, into others; `RIGHT` is 32 less `LEFT`.
#[inline]
#[target_feature(enable = "ssse3")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(into: __m128i, words: __m128i) -> __m128i {
    const { assert!(LEFT + RIGHT == 32) };
    let high = xor32(into, _mm_slli_epi32::<LEFT>(words));
    xor32(high, _mm_srli_epi32::<RIGHT>(words))
}

impl Diagonals {
    /// The start of the block `counter`.
    #[inline]
    #[target_feature(enable = "ssse3")]
    fn of(state: &State, counter: u64) -> Self {
        let key = state.key.as_chunks().0;
        // Every word is in the lane of its column; each diagonal takes two words from one of
        // these and one from each of the others.
        let front = shuffle32::<0x93>(row(&key[1]));
        let back = shuffle32::<0x39>(row(&key[2]));
        let last = _mm_set_epi64x(state.nonce.cast_signed(), counter.cast_signed());
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
#[target_feature(enable = "ssse3")]
fn blend<const LANES: i32>(a: __m128i, b: __m128i) -> __m128i {
    let of = |lane: i32| if LANES >> lane & 1 == 1 { -1 } else { 0 };
    let chosen = _mm_setr_epi32(of(0), of(1), of(2), of(3));
    _mm_or_si128(_mm_andnot_si128(chosen, a), _mm_and_si128(chosen, b))
}

/// The starts of three blocks from `counter` on.
#[inline]
#[target_feature(enable = "ssse3")]
fn starts(state: &State, counter: u64, _: bool) -> [Diagonals; 3] {
    [
        Diagonals::of(state, counter),
        Diagonals::of(state, counter.wrapping_add(1)),
        Diagonals::of(state, counter.wrapping_add(2)),
    ]
}
