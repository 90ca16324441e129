//! SHA-512 of one message: rounds on words, and the schedule of two words at a time in registers.

use core::arch::x86_64::*;

use crate::sha2::rounds512::{ROUNDS, round};
use crate::simd::{load_pair, load128};

/// Absorbs a block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn compress(state: &mut [u64; 8], block: &[u8; 128]) {
    let order = _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
    let (pairs, _) = block.as_chunks();
    let mut w = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| _mm_shuffle_epi8(load128(&pairs[i]), order));
    let mut s = *state;
    let (constants, _) = ROUNDS.as_chunks::<2>();
    let (constants, last) = constants.split_at(32);
    for constants in constants.as_chunks::<8>().0 {
        eight!(P => {
            s = two(s, w[P], &constants[P]);
            let w1 = _mm_alignr_epi8::<8>(w[(P + 1) & 7], w[P]);
            let w9 = _mm_alignr_epi8::<8>(w[(P + 5) & 7], w[(P + 4) & 7]);
            w[P] = next(w[P], w1, w9, w[(P + 7) & 7]);
        });
    }
    eight!(P => s = two(s, w[P], &last[P]));
    for (word, new) in state.iter_mut().zip(s) {
        *word = word.wrapping_add(new);
    }
}

/// Two rounds.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn two(state: [u64; 8], words: __m128i, constants: &[u64; 2]) -> [u64; 8] {
    let sums = _mm_add_epi64(words, load_pair(constants));
    let low = _mm_cvtsi128_si64(sums).cast_unsigned();
    let high = _mm_extract_epi64::<1>(sums).cast_unsigned();
    round(round(state, low, 0), high, 0)
}

/// Words `t + 16` and `t + 17` of the schedule from the words at `t`, `t + 1`, `t + 9`, `t + 14`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn next(w0: __m128i, w1: __m128i, w9: __m128i, w14: __m128i) -> __m128i {
    let s0 = [_mm_ror_epi64::<1>(w1), _mm_ror_epi64::<8>(w1), _mm_srli_epi64::<7>(w1)];
    let s1 = [_mm_ror_epi64::<19>(w14), _mm_ror_epi64::<61>(w14), _mm_srli_epi64::<6>(w14)];
    let [s0, s1] = [s0, s1].map(|[a, b, c]| _mm_ternarylogic_epi64::<0x96>(a, b, c));
    _mm_add_epi64(_mm_add_epi64(w0, s0), _mm_add_epi64(w9, s1))
}
