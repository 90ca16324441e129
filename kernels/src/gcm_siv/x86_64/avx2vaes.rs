//! VAES and VPCLMULQDQ on 256-bit registers, with two blocks in each. Constant time in key and
//! data.

use core::arch::x86_64::{
    _mm256_add_epi32 as add, _mm256_aesenc_epi128 as aesenc,
    _mm256_aesenclast_epi128 as aesenclast, _mm256_xor_si256 as xor,
    _mm256_zextsi128_si256 as widened, *,
};

use inout::InOutBuf;

use crate::aes::x86_64::aesni::{expand128, expand256};
use crate::aes::x86_64::avx2vaes::broadcast as round_key;
use crate::aes::{MAX_KEYS, first};
use crate::gcm::x86_64::part::{
    first_bytes256 as first_bytes, load_pair as load_part, store_pair as store_part,
};
use crate::gcm_siv::{SEAL, words};
use crate::ghash::x86_64::aesni as narrow;
use crate::ghash::x86_64::avx2vaes::{Product, multiply, reduce, sum_of, sum_of_halves};
use crate::isa::Mode;
use crate::simd::{load128, load256 as load, opaque_place, store128, store256 as store};
use crate::{Isa, Level, wipe};

pub(crate) const NEEDS: Level = Level::Avx2Vaes;

polyval!(__m256i, 32, #[target_feature(enable = "aes,avx2,bmi2,pclmulqdq,vaes,vpclmulqdq")]);
message!(__m256i, 32, [0 1 2 3 4 5 6 7], #[target_feature(enable = "aes,avx2,bmi2,pclmulqdq,vaes,vpclmulqdq")]);

/// From the eighth down to the first.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
fn powers(h: __m128i) -> [__m256i; REGISTERS] {
    let h2 = narrow::reduce(narrow::multiply(h, h));
    let low = _mm256_set_m128i(h, h2);
    let high = multiply(low, _mm256_broadcastsi128_si256(h2));
    let h4 = _mm256_permute2x128_si256::<0>(high, high);
    [multiply(high, h4), multiply(low, h4), high, low]
}

#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn reduced(products: Product) -> __m128i {
    sum_of(reduce(products.completed()))
}

/// The counters of the first register.
#[inline]
#[target_feature(enable = "avx2")]
fn first_counters(counter: __m128i) -> __m256i {
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
