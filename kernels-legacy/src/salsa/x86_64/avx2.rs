//! Eight blocks at a time, one in each lane of 32 bits; two, four or six blocks with two blocks'
//! diagonals side by side in each register.

use core::arch::x86_64::{_mm256_blend_epi32 as blend, *};

use inout::InOutBuf;
use lanecrypt_kernels::arx::lanes::x86_64::avx2::xor;
use lanecrypt_kernels::arx::lanes::{Rounds, StreamLane};
use lanecrypt_kernels::arx::x86_64::avx2::{
    add32, blocks, column, put, put_lanes, row, shuffle32, splat, splat_all, xor32,
};
use lanecrypt_kernels::arx::{State, later, wraps};
use lanecrypt_kernels::isa::Mode;
use lanecrypt_kernels::simd::opaque_count;
use lanecrypt_kernels::{Isa, Level};

use crate::salsa::{once, words};

pub(crate) const NEEDS: Level = Level::Avx2;

rounds!(__m256i, 0xaa, 0xcc, #[target_feature(enable = "avx2")]);
double_rounds!(__m256i, #[target_feature(enable = "avx2")]);
passes!(
    8, 2, [_mm256_setzero_si256(); 2], 8,
    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
    #[target_feature(enable = "avx2")]
);
narrow!(2, #[target_feature(enable = "avx2")]);

/// XORs the keystream of each message into its data.
#[target_feature(enable = "avx2")]
pub(crate) fn xor_lanes<M: StreamLane>(isa: Isa, rounds: Rounds, lanes: &mut [M]) {
    xor(isa, rounds, lanes, |x, count| double_rounds(x, count));
}

/// XORs words, rotated left by `LEFT` bits, into others; `RIGHT` is 32 less `LEFT`.
#[inline]
#[target_feature(enable = "avx2")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(into: __m256i, words: __m256i) -> __m256i {
    const { assert!(LEFT + RIGHT == 32) };
    let high = xor32(into, _mm256_slli_epi32::<LEFT>(words));
    xor32(high, _mm256_srli_epi32::<RIGHT>(words))
}

impl Diagonals {
    /// The start of two blocks from `counter` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(state: &State, counter: u64) -> Self {
        let key = state.key.as_chunks().0;
        // Every word is in the lane of its column; each diagonal takes two words from one of
        // these and one from each of the others.
        let front = shuffle32::<0x93>(row(&key[1]));
        let back = shuffle32::<0x39>(row(&key[2]));
        let last = _mm_set_epi64x(state.nonce.cast_signed(), counter.cast_signed());
        let last = _mm256_broadcastsi128_si256(last);
        let first = Self {
            a: row(&key[0]),
            b: blend::<0x44>(front, back),
            c: blend::<0x44>(blend::<0x22>(last, back), front),
            d: blend::<0x44>(blend::<0x22>(back, front), last),
        };
        first.later(counter, _mm256_setr_epi64x(0, 0, 1, 0))
    }

    /// The start of the blocks that are later than `counter` by what each lane says.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn later(self, counter: u64, blocks: __m256i) -> Self {
        let counters = _mm256_add_epi64(_mm256_set1_epi64x(counter.cast_signed()), blocks);
        Self { b: blend::<0x22>(self.b, counters), c: blend::<0x11>(self.c, counters), ..self }
    }
}

/// The starts of three groups of two blocks from `counter` on.
#[inline]
#[target_feature(enable = "avx2")]
fn starts(state: &State, counter: u64, _: bool) -> [Diagonals; 3] {
    let x = Diagonals::of(state, counter);
    let y = x.later(counter, _mm256_setr_epi64x(2, 0, 3, 0));
    let z = x.later(counter, _mm256_setr_epi64x(4, 0, 5, 0));
    [x, y, z]
}
