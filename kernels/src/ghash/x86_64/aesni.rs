//! GHASH with PCLMULQDQ: eight blocks, then one reduction. Constant time in key and data.
//!
//! Higher levels use the functions that take single blocks too.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::Level;
use crate::ghash::{FOLD, POWERS, ROOM};
pub(crate) use crate::simd::reversed;
use crate::simd::{load128, store128};

pub(crate) const NEEDS: Level = Level::AesNi;

/// The blocks that share a reduction.
const WIDTH: usize = 8;

#[target_feature(enable = "pclmulqdq,sse4.1,ssse3")]
pub(crate) fn fill(powers: &mut [[u8; 16]; ROOM], h: &[u8; 16]) {
    fill_from(powers, load128(h));
}

/// The lowest eight powers of `h`.
#[inline]
#[target_feature(enable = "pclmulqdq,sse4.1,ssse3")]
pub(crate) fn fill_from(powers: &mut [[u8; 16]; ROOM], h: __m128i) {
    let four = first_four(h);
    for (power, x) in powers[POWERS - 4..].iter_mut().zip(four) {
        store128(power, x);
    }
    for (power, x) in powers[POWERS - 8..].iter_mut().zip(four) {
        store128(power, reduce(multiply(x, four[0])));
    }
}

/// H^4 down to H^1.
#[inline]
#[target_feature(enable = "pclmulqdq,sse4.1,ssse3")]
pub(crate) fn first_four(h: __m128i) -> [__m128i; 4] {
    four_from(divided_by_x(reversed(h)))
}

/// The same of a key as POLYVAL has it.
#[inline]
#[target_feature(enable = "pclmulqdq,sse4.1,ssse3")]
pub(crate) fn four_from(h1: __m128i) -> [__m128i; 4] {
    let h2 = reduce(multiply(h1, h1));
    [reduce(multiply(h2, h2)), reduce(multiply(h2, h1)), h2, h1]
}

#[target_feature(enable = "pclmulqdq,sse4.1,ssse3")]
pub(crate) fn absorb(powers: &[[u8; 16]; ROOM], state: &mut [u8; 16], blocks: &[[u8; 16]]) {
    let mut sum = reversed(load128(state));
    let (parts, rest) = blocks.as_chunks::<WIDTH>();
    for part in parts {
        sum = absorb_part(powers, sum, part);
    }
    if !rest.is_empty() {
        sum = absorb_part(powers, sum, rest);
    }
    store128(state, reversed(sum));
}

/// At least one block, and no more than there are powers.
#[inline]
#[target_feature(enable = "pclmulqdq,sse4.1,ssse3")]
pub(crate) fn absorb_part(powers: &[[u8; 16]; ROOM], sum: __m128i, blocks: &[[u8; 16]]) -> __m128i {
    let powers = &powers[POWERS - blocks.len()..];
    let mut products = Product::zero();
    let mut before = sum;
    for (block, power) in blocks.iter().zip(powers) {
        let block = _mm_xor_si128(reversed(load128(block)), before);
        products = products.add(multiply(block, load128(power)));
        before = _mm_setzero_si128();
    }
    reduce(products)
}

/// A product of 256 bits in three parts of 128, each half a part above the one before.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    low: __m128i,
    middle: __m128i,
    high: __m128i,
}

impl Product {
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(crate) fn zero() -> Self {
        let zero = _mm_setzero_si128();
        Self { low: zero, middle: zero, high: zero }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(crate) fn add(self, other: Self) -> Self {
        Self {
            low: _mm_xor_si128(self.low, other.low),
            middle: _mm_xor_si128(self.middle, other.middle),
            high: _mm_xor_si128(self.high, other.high),
        }
    }

    /// Adds the product of `a` and `b` by three multiplications instead of four. `halves` has the
    /// sum of the halves of `b`. The middle part is complete after `completed`.
    #[inline]
    #[target_feature(enable = "pclmulqdq,sse2")]
    pub(crate) fn add_by_three(self, a: __m128i, b: __m128i, halves: __m128i) -> Self {
        let middle = _mm_clmulepi64_si128::<0x00>(sum_of_halves(a), halves);
        Self {
            low: _mm_xor_si128(self.low, _mm_clmulepi64_si128::<0x00>(a, b)),
            middle: _mm_xor_si128(self.middle, middle),
            high: _mm_xor_si128(self.high, _mm_clmulepi64_si128::<0x11>(a, b)),
        }
    }

    /// Subtracts the two other parts from the middle one.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(crate) fn completed(self) -> Self {
        let others = _mm_xor_si128(self.low, self.high);
        Self { middle: _mm_xor_si128(self.middle, others), ..self }
    }

    /// Makes the compiler finish this sum and these blocks before it continues with either.
    /// Otherwise it multiplies first, in any order of the program.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(crate) fn in_order(&mut self, blocks: &mut [__m128i; 8]) {
        let [a, b, c, d, e, f, g, h] = blocks;
        // SAFETY: the assembly is empty and leaves the registers as they were.
        unsafe {
            asm!("/* {0} {1} {2} {3} {4} {5} {6} {7} {8} {9} {10} */",
                inout(xmm_reg) self.low, inout(xmm_reg) self.middle, inout(xmm_reg) self.high,
                inout(xmm_reg) *a, inout(xmm_reg) *b, inout(xmm_reg) *c, inout(xmm_reg) *d,
                inout(xmm_reg) *e, inout(xmm_reg) *f, inout(xmm_reg) *g, inout(xmm_reg) *h,
                options(pure, nomem, nostack, preserves_flags));
        }
    }
}

#[inline]
#[target_feature(enable = "pclmulqdq,sse2")]
pub(crate) fn multiply(a: __m128i, b: __m128i) -> Product {
    let one = _mm_clmulepi64_si128::<0x01>(a, b);
    let other = _mm_clmulepi64_si128::<0x10>(a, b);
    Product {
        low: _mm_clmulepi64_si128::<0x00>(a, b),
        middle: _mm_xor_si128(one, other),
        high: _mm_clmulepi64_si128::<0x11>(a, b),
    }
}

/// The sum of the halves of a number, in both.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn sum_of_halves(x: __m128i) -> __m128i {
    _mm_xor_si128(x, _mm_shuffle_epi32::<0b01_00_11_10>(x))
}

/// Each of two steps folds the lowest word into the part above: the word itself, which the exchange
/// of the words puts in its place, and its product with x^7 + x^2 + x.
#[inline]
#[target_feature(enable = "pclmulqdq,sse2")]
pub(crate) fn reduce(x: Product) -> __m128i {
    let middle = _mm_xor_si128(x.middle, fold(x.low));
    _mm_xor_si128(x.high, fold(middle))
}

#[inline]
#[target_feature(enable = "pclmulqdq,sse2")]
fn fold(x: __m128i) -> __m128i {
    let polynomial = _mm_set_epi64x(0, FOLD.cast_signed());
    let exchanged = _mm_shuffle_epi32::<0b01_00_11_10>(x);
    _mm_xor_si128(exchanged, _mm_clmulepi64_si128::<0x00>(x, polynomial))
}

/// A field element divided by x, as in the portable kernel.
#[inline]
#[target_feature(enable = "sse2")]
fn divided_by_x(a: __m128i) -> __m128i {
    // The sign of each 32-bit word, moved to the one above; the highest, to all.
    let signs = _mm_srai_epi32::<31>(a);
    let top = _mm_shuffle_epi32::<0b11_11_11_11>(signs);
    let carries = _mm_srli_epi32::<31>(_mm_slli_si128::<4>(a));
    let shifted = _mm_or_si128(_mm_slli_epi32::<1>(a), carries);
    _mm_xor_si128(shifted, _mm_and_si128(top, _mm_set_epi64x(FOLD.cast_signed(), 1)))
}
