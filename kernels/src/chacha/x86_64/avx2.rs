//! Eight blocks at a time, one in each lane of 32 bits; two, four or six blocks with two blocks'
//! rows side by side in each register.

mod eight;

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::arx::lanes::x86_64::avx2::xor;
use crate::arx::lanes::{Rounds, StreamLane};
use crate::arx::x86_64::avx2::{
    add32, add64, blocks, column, put, put_lanes, row, shuffle32, splat, splat_all, xor32,
};
use crate::arx::{State, later, wraps};
use crate::chacha::rounds::bytes_turned;
use crate::chacha::{first_columns as once, words};
use crate::isa::Mode;
use crate::simd::{opaque_count, opaque256};
use crate::{Isa, Level};

pub(crate) use self::eight::{double_rounds, double_rounds_beside};

pub(crate) const NEEDS: Level = Level::Avx2;

rows!(__m256i, #[target_feature(enable = "avx2")]);
lanes!(__m256i, #[target_feature(enable = "avx2")]);
starts!(#[target_feature(enable = "avx2")]);
passes!(
    8, 2, [_mm256_setzero_si256(); 2], 12,
    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
    #[target_feature(enable = "avx2")]
);
narrow!(2, #[target_feature(enable = "avx2")]);

/// XORs the keystream of each message into its data.
#[target_feature(enable = "avx2")]
pub(crate) fn xor_lanes<M: StreamLane>(isa: Isa, rounds: Rounds, lanes: &mut [M]) {
    xor(isa, rounds, lanes, |x, count| double_rounds(x, count));
}

/// The words of `x` and `y` XORed, then rotated left by `LEFT` bits; `RIGHT` is 32 less `LEFT`.
#[inline]
#[target_feature(enable = "avx2")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(x: __m256i, y: __m256i) -> __m256i {
    const { assert!(LEFT + RIGHT == 32) };
    let x = xor32(x, y);
    if LEFT % 8 == 0 {
        // Opaque, because the compiler would replace a shuffle that it understands by slower moves.
        return _mm256_shuffle_epi8(x, opaque256(turn(LEFT)));
    }
    _mm256_or_si256(_mm256_slli_epi32::<LEFT>(x), _mm256_srli_epi32::<RIGHT>(x))
}

/// The shuffle of bytes that rotates words left by `bits`.
#[inline]
#[target_feature(enable = "avx2")]
fn turn(bits: i32) -> __m256i {
    let low = bytes_turned(bits);
    // In each lane of 128 bits, the indices of the upper half are 8 higher.
    let (low, high) = (low.cast_signed(), (low | 0x0808_0808_0808_0808).cast_signed());
    _mm256_setr_epi64x(low, high, low, high)
}

impl Rows {
    /// The start of two blocks from `counter` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn of(state: &State, counter: u64, wide: bool) -> Self {
        let key = state.key.as_chunks().0;
        let d = _mm_set_epi64x(state.nonce.cast_signed(), counter.cast_signed());
        let d = _mm256_broadcastsi128_si256(d);
        let (a, b, c) = (row(&key[0]), row(&key[1]), row(&key[2]));
        Self { a, b, c, d: count(d, _mm256_setr_epi64x(0, 0, 1, 0), wide) }
    }

    /// The start of the next two blocks.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn next(self, wide: bool) -> Self {
        Self { d: count(self.d, _mm256_setr_epi64x(2, 0, 2, 0), wide), ..self }
    }
}
