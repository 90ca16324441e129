//! Two messages side by side. Constant time in keys, nonces and data.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_set_epi64x, _mm_setzero_si128, _mm_xor_si128,
    _mm256_aesenc_epi128 as aesenc, _mm256_and_si256 as and, _mm256_castsi256_si128,
    _mm256_extracti128_si256, _mm256_set_m128i, _mm256_setzero_si256, _mm256_xor_si256 as xor,
};

use crate::aegis::lanes::group::{ABSORB, DECRYPT, ENCRYPT, MANY, Text, aads, order, texts};
use crate::aegis::lanes::{Lane, one};
use crate::aegis::x86_64::steps::{EARLY, LATE};
use crate::aegis::{CONSTANTS, SEAL, rate};
use crate::gcm::x86_64::part::{first_bytes, load_part, store_part};
use crate::isa::Mode;
use crate::simd::{load128, store128};
use crate::{Level, wipe};

pub(crate) const NEEDS: Level = Level::Avx2Vaes;

/// Messages of one register.
const WIDTH: usize = 2;

beside!(__m256i, _mm256_setzero_si256, #[target_feature(enable = "aes,avx2,vaes")]);

#[target_feature(enable = "aes,avx2,vaes")]
pub(in crate::aegis) fn run<const KEY: usize, const MODE: bool>(
    lanes: &mut [Lane<'_, KEY>],
    _: Mode<MODE>,
) {
    for lanes in lanes.chunks_mut(MANY) {
        for group in order(lanes, &mut [0; MANY]).chunks(WIDTH) {
            match *group {
                [a, b] => {
                    if let Ok(pair) = lanes.get_disjoint_mut([a, b].map(usize::from)) {
                        messages::<KEY, 2, MODE>(pair);
                    }
                }
                _ => group.iter().for_each(|&at| one::<KEY, MODE>(&mut lanes[usize::from(at)])),
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn joined([a, b]: [__m128i; WIDTH]) -> __m256i {
    _mm256_set_m128i(b, a)
}

#[inline]
#[target_feature(enable = "avx2")]
fn parts(v: __m256i) -> [__m128i; WIDTH] {
    [_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v)]
}
