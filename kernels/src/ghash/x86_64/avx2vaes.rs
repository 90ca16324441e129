//! GHASH with VPCLMULQDQ on 256-bit registers: sixteen blocks, two in a register, then one
//! reduction. Constant time in key and data.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::Level;
use crate::ghash::FOLD;
use crate::ghash::x86_64::aesni;
use crate::ghash::{POWERS, ROOM};
use crate::simd::{load128, load256, store128, store256};

pub(crate) const NEEDS: Level = Level::Avx2Vaes;

/// The blocks that share a reduction.
pub(crate) const WIDTH: usize = 16;

#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
pub(crate) fn fill(powers: &mut [[u8; 16]; ROOM], h: &[u8; 16]) {
    fill_from(powers, load128(h));
}

/// All powers of `h`. The lowest are stored first, because a short message, which needs only these,
/// may follow at once.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
pub(crate) fn fill_from(powers: &mut [[u8; 16]; ROOM], h: __m128i) {
    let [h4, h3, h2, h1] = aesni::first_four(h);
    let four = [_mm256_set_m128i(h3, h4), _mm256_set_m128i(h1, h2)];
    store_four(powers, 4, four);
    let eight = times_highest(four, four);
    store_four(powers, 8, eight);
    let twelve = times_highest(four, eight);
    store_four(powers, 12, twelve);
    store_four(powers, 16, times_highest(eight, eight));
    store_four(powers, 20, times_highest(eight, twelve));
}

/// The products of four powers and the highest of `by`.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
pub(crate) fn times_highest(four: [__m256i; 2], by: [__m256i; 2]) -> [__m256i; 2] {
    let by = _mm256_broadcastsi128_si256(_mm256_castsi256_si128(by[0]));
    [multiply(four[0], by), multiply(four[1], by)]
}

/// Stores four powers from that of `exponent` down.
#[inline]
#[target_feature(enable = "avx2")]
fn store_four(powers: &mut [[u8; 16]; ROOM], exponent: usize, four: [__m256i; 2]) {
    let (places, _) = powers[POWERS - exponent..].as_flattened_mut().as_chunks_mut();
    for (place, x) in places.iter_mut().zip(four) {
        store256(place, x);
    }
}

#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
pub(crate) fn absorb(powers: &[[u8; 16]; ROOM], state: &mut [u8; 16], blocks: &[[u8; 16]]) {
    let mut sum = aesni::reversed(load128(state));
    let (parts, rest) = blocks.as_chunks::<WIDTH>();
    for part in parts {
        sum = absorb_part(powers, sum, part);
    }
    match rest.len() {
        0 => {}
        1..4 => sum = aesni::absorb_part(powers, sum, rest),
        _ => sum = absorb_part(powers, sum, rest),
    }
    store128(state, aesni::reversed(sum));
}

/// At least two blocks, and no more than there are powers.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq,pclmulqdq")]
fn absorb_part(powers: &[[u8; 16]; ROOM], sum: __m128i, blocks: &[[u8; 16]]) -> __m128i {
    let powers = &powers[POWERS - blocks.len()..];
    let mut products = Product::zero();
    let mut before = _mm256_zextsi128_si256(sum);
    let (pairs, rest) = blocks.as_chunks::<2>();
    for (pair, power) in pairs.iter().zip(powers.as_flattened().as_chunks().0) {
        let pair = pair.as_flattened().first_chunk().expect("two blocks are 32 bytes");
        let pair = _mm256_xor_si256(reversed(load256(pair)), before);
        products = products.add(pair, load256(power));
        before = _mm256_setzero_si256();
    }
    if let [block] = rest {
        let block = _mm256_zextsi128_si256(aesni::reversed(load128(block)));
        products = products.add(block, _mm256_zextsi128_si256(load128(&powers[blocks.len() - 1])));
    }
    sum_of(reduce(products))
}

/// The sum of both lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn sum_of(x: __m256i) -> __m128i {
    _mm_xor_si128(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x))
}

/// Two blocks as numbers, or the other way round.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn reversed(blocks: __m256i) -> __m256i {
    let order = _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
    _mm256_shuffle_epi8(blocks, _mm256_broadcastsi128_si256(order))
}

/// Two products of 256 bits in three parts of 128, each half a part above the one before.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    pub(crate) low: __m256i,
    pub(crate) middle: __m256i,
    pub(crate) high: __m256i,
}

impl Product {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn zero() -> Self {
        let zero = _mm256_setzero_si256();
        Self { low: zero, middle: zero, high: zero }
    }

    /// Adds the product of `a` and `b`.
    #[inline]
    #[target_feature(enable = "avx2,vpclmulqdq")]
    pub(crate) fn add(self, a: __m256i, b: __m256i) -> Self {
        let low = _mm256_clmulepi64_epi128::<0x00>(a, b);
        let one = _mm256_clmulepi64_epi128::<0x01>(a, b);
        let other = _mm256_clmulepi64_epi128::<0x10>(a, b);
        let high = _mm256_clmulepi64_epi128::<0x11>(a, b);
        Self {
            low: _mm256_xor_si256(self.low, low),
            middle: _mm256_xor_si256(_mm256_xor_si256(self.middle, one), other),
            high: _mm256_xor_si256(self.high, high),
        }
    }

    /// Adds the product of `a` and `b` by three multiplications instead of four. `halves` has the
    /// sum of the halves of `b`. The middle part is complete after `completed`.
    #[inline]
    #[target_feature(enable = "avx2,vpclmulqdq")]
    pub(crate) fn add_by_three(self, a: __m256i, b: __m256i, halves: __m256i) -> Self {
        let middle = _mm256_clmulepi64_epi128::<0x00>(sum_of_halves(a), halves);
        Self {
            low: _mm256_xor_si256(self.low, _mm256_clmulepi64_epi128::<0x00>(a, b)),
            middle: _mm256_xor_si256(self.middle, middle),
            high: _mm256_xor_si256(self.high, _mm256_clmulepi64_epi128::<0x11>(a, b)),
        }
    }

    /// Subtracts the two other parts from the middle one.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn completed(self) -> Self {
        let others = _mm256_xor_si256(self.low, self.high);
        Self { middle: _mm256_xor_si256(self.middle, others), ..self }
    }

    /// Makes the compiler finish this sum and these blocks before it continues with either.
    /// Otherwise it multiplies first, in any order of the program.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn in_order(&mut self, blocks: &mut [__m256i; 8]) {
        let [a, b, c, d, e, f, g, h] = blocks;
        // SAFETY: the assembly is empty and leaves the registers as they were.
        unsafe {
            asm!("/* {0} {1} {2} {3} {4} {5} {6} {7} {8} {9} {10} */",
                inout(ymm_reg) self.low, inout(ymm_reg) self.middle, inout(ymm_reg) self.high,
                inout(ymm_reg) *a, inout(ymm_reg) *b, inout(ymm_reg) *c, inout(ymm_reg) *d,
                inout(ymm_reg) *e, inout(ymm_reg) *f, inout(ymm_reg) *g, inout(ymm_reg) *h,
                options(pure, nomem, nostack, preserves_flags));
        }
    }
}

/// The sum of the halves of each number, in both.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn sum_of_halves(x: __m256i) -> __m256i {
    _mm256_xor_si256(x, _mm256_shuffle_epi32::<0b01_00_11_10>(x))
}

#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn multiply(a: __m256i, b: __m256i) -> __m256i {
    reduce(Product::zero().add(a, b))
}

/// As with 128-bit registers, in each lane.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
pub(crate) fn reduce(x: Product) -> __m256i {
    let middle = _mm256_xor_si256(x.middle, fold(x.low));
    _mm256_xor_si256(x.high, fold(middle))
}

#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn fold(x: __m256i) -> __m256i {
    let exchanged = _mm256_shuffle_epi32::<0b01_00_11_10>(x);
    let product = _mm256_clmulepi64_epi128::<0x00>(x, _mm256_set1_epi64x(FOLD.cast_signed()));
    _mm256_xor_si256(exchanged, product)
}
