//! AES-GCM-SIV with VAES and VPCLMULQDQ on 256-bit registers, two blocks in each. Constant time in
//! key and data.

use core::arch::x86_64::{
    __m256i as State, _mm256_add_epi32 as add, _mm256_aesenc_epi128 as round,
    _mm256_aesenclast_epi128 as last_round, _mm256_xor_si256 as first_key, _mm256_xor_si256 as xor,
    _mm256_zextsi128_si256 as widened, *,
};

use inout::InOutBuf;

use crate::aes::RoundKeys;
use crate::aes::registers128::{expand128, expand256};
use crate::aes::x86_64::avx2vaes::broadcast as round_key;
use crate::gcm::x86_64::part::{
    first_bytes256 as first_bytes, load_pair as load_part, store_pair as store_part,
};
use crate::gcm_siv::{SEAL, words};
use crate::ghash::x86_64::aesni as narrow;
use crate::ghash::x86_64::avx2vaes::{Product, reduce, sum_of, sum_of_halves, times_highest};
use crate::isa::Mode;
use crate::simd::{
    self, Block, add_words, and128, load_part as load_block, load128, load256 as load, low_halves,
    of_halves, of_words, opaque_place, or128, store_part as store_block, store128,
    store256 as store, xor128, zero128,
};
use crate::{Isa, Level, wipe};

pub(crate) const NEEDS: Level = Level::Avx2Vaes;

/// Bytes from which eight powers pay.
const LONG: usize = 16 * 13;

polyval!(__m256i, 32, #[target_feature(enable = "aes,avx2,bmi2,pclmulqdq,vaes,vpclmulqdq")]);
message!(__m256i, 32, #[target_feature(enable = "aes,avx2,bmi2,pclmulqdq,vaes,vpclmulqdq")]);

/// H^4 down to H^1.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
fn four_from(h: __m128i) -> [__m256i; 2] {
    let [h4, h3, h2, h1] = narrow::four_from(h);
    [_mm256_set_m128i(h3, h4), _mm256_set_m128i(h1, h2)]
}

/// The products of four powers and the highest of them.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn next_four(four: [__m256i; 2]) -> [__m256i; 2] {
    times_highest(four, four)
}

#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn reduced(products: Product) -> __m128i {
    sum_of(reduce(products.completed()))
}

/// The counters of the first register.
#[inline]
#[target_feature(enable = "avx2")]
fn counters(counter: __m128i) -> __m256i {
    let counter = _mm256_broadcastsi128_si256(counter);
    _mm256_add_epi32(counter, _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0))
}

/// The distance of counters in registers side by side.
#[inline]
#[target_feature(enable = "avx2")]
fn distance() -> __m256i {
    _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 2)
}

/// The compiler's own order takes fewer registers than the one of the source, and is faster.
#[inline]
fn in_order(_: &mut Product, _: &mut [__m256i; STEP]) {}

/// The same.
#[inline]
fn together(_: &mut [__m256i; STEP]) {}
