//! Sixteen blocks at a time, one in each lane of 32 bits; four or eight blocks with four
//! blocks' diagonals side by side in each register; two blocks in registers of 256 bits.

pub(crate) mod x2;

use core::arch::x86_64::*;

use inout::InOutBuf;
use lanecrypt_kernels::arx::lanes::x86_64::avx512::xor;
use lanecrypt_kernels::arx::lanes::{Rounds, StreamLane};
use lanecrypt_kernels::arx::x86_64::avx512::{
    add32, blocks, column, put, put_lanes, row, shuffle32, splat, splat_all, xor32,
};
use lanecrypt_kernels::arx::{State, later, wraps};
use lanecrypt_kernels::isa::Mode;
use lanecrypt_kernels::simd::{opaque_count, opaque128};
use lanecrypt_kernels::{Isa, Level};

use crate::salsa::{once, words};

pub(crate) const NEEDS: Level = Level::Avx512;

rounds!(__m512i, 0xaaaa, 0xcccc, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
double_rounds!(__m512i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
passes!(
    16, 4, _mm512_setzero_si512(), 8,
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
);

/// XORs the keystream of each message into its data.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn xor_lanes<M: StreamLane>(isa: Isa, rounds: Rounds, lanes: &mut [M]) {
    xor(isa, rounds, lanes, |x| double_round(x), |x| x2::double_round(x));
}

/// XORs words, rotated left by `LEFT` bits, into others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(into: __m512i, words: __m512i) -> __m512i {
    xor32(into, _mm512_rol_epi32::<LEFT>(words))
}

/// The words of `b` whose bits are set in `WORDS`, else those of `a`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn blend<const WORDS: u16>(a: __m512i, b: __m512i) -> __m512i {
    _mm512_mask_blend_epi32(WORDS, a, b)
}

impl Diagonals {
    /// The start of four blocks from `counter` on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    fn of(state: &State, counter: u64) -> Self {
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
}

/// The diagonals of one block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn start(state: &State, counter: u64) -> [__m128i; 4] {
    let key = state.key.as_chunks().0;
    // Every word is in the lane of its column; each diagonal takes two words from one of these and
    // one from each of the others. Opaque, because the compiler would load both halves of the key
    // at once; if the key is new, that waits for its two stores.
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

/// The starts of three groups of four blocks from `counter` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn starts(state: &State, counter: u64, _: bool) -> [Diagonals; 3] {
    let x = Diagonals::of(state, counter);
    let y = x.later(counter, _mm512_setr_epi64(4, 0, 5, 0, 6, 0, 7, 0));
    let z = x.later(counter, _mm512_setr_epi64(8, 0, 9, 0, 10, 0, 11, 0));
    [x, y, z]
}

/// The most blocks that are taken in diagonals.
const MOST: usize = 8;

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn narrow<'i, 'o, const XOR: bool>(
    state: &State,
    counter: u64,
    wide: bool,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    match data.len().div_ceil(64) {
        0..=2 => x2::twos::<XOR>(state, counter, data),
        3..=4 => put_groups::<XOR, 1, 4>(state, counter, wide, data),
        _ => put_groups::<XOR, 2, 8>(state, counter, wide, data),
    }
}
