//! Four blocks at a time, one in each lane of 32 bits; one, two or three blocks with a row in each
//! register.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::arx::lanes::x86_64::ssse3::xor;
use crate::arx::lanes::{Rounds, StreamLane};
use crate::arx::x86_64::ssse3::{
    add32, add64, blocks, column, put, put_lanes, row, shuffle32, splat, splat_all, xor32,
};
use crate::arx::{Key, State, later, wraps};
use crate::chacha::rounds::bytes_turned;
use crate::chacha::{first_columns as once, words};
use crate::isa::Mode;
use crate::simd::{load128, low_number, opaque_count, opaque128, store128};
use crate::{Isa, Level};

pub(crate) const NEEDS: Level = Level::Ssse3;

rows!(__m128i, #[target_feature(enable = "ssse3")]);
lanes!(__m128i, #[target_feature(enable = "ssse3")]);
double_round!(__m128i, #[target_feature(enable = "ssse3")]);
double_rounds!(__m128i, #[target_feature(enable = "ssse3")]);
one_block!(__m128i, #[target_feature(enable = "ssse3")]);
starts!(#[target_feature(enable = "ssse3")]);
passes!(
    4, 1, [_mm_setzero_si128(); 4], 12,
    _mm_setr_epi32(0, 1, 2, 3),
    #[target_feature(enable = "ssse3")]
);
narrow!(1, #[target_feature(enable = "ssse3")]);

/// XORs the keystream of each message into its data.
#[target_feature(enable = "ssse3")]
pub(crate) fn xor_lanes<M: StreamLane>(isa: Isa, rounds: Rounds, lanes: &mut [M]) {
    xor(isa, rounds, lanes, |x, count| double_rounds(x, count));
}

/// The words of `x` and `y` XORed, then rotated left by `LEFT` bits; `RIGHT` is 32 less `LEFT`.
#[inline]
#[target_feature(enable = "ssse3")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(x: __m128i, y: __m128i) -> __m128i {
    const { assert!(LEFT + RIGHT == 32) };
    let x = xor32(x, y);
    if LEFT % 8 == 0 {
        // One shuffle of bytes. The indices of the upper half are 8 higher.
        let low = bytes_turned(LEFT);
        let (low, high) = (low.cast_signed(), (low | 0x0808_0808_0808_0808).cast_signed());
        // Opaque, because the compiler would replace a shuffle that it understands by slower moves.
        return _mm_shuffle_epi8(x, opaque128(_mm_set_epi64x(high, low)));
    }
    _mm_or_si128(_mm_slli_epi32::<LEFT>(x), _mm_srli_epi32::<RIGHT>(x))
}

impl Rows {
    /// The start of the block `counter`.
    #[inline]
    #[target_feature(enable = "ssse3")]
    fn of(state: &State, counter: u64, _wide: bool) -> Self {
        let key = state.key.as_chunks().0;
        let d = _mm_set_epi64x(state.nonce.cast_signed(), counter.cast_signed());
        Self { a: row(&key[0]), b: row(&key[1]), c: row(&key[2]), d }
    }

    /// The start of the next block.
    #[inline]
    #[target_feature(enable = "ssse3")]
    fn next(self, wide: bool) -> Self {
        Self { d: count(self.d, _mm_set_epi64x(0, 1), wide), ..self }
    }
}
