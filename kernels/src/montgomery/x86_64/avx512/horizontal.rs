//! Montgomery's multiplication of one pair of numbers, or of two pairs at once, with the digits of
//! a number side by side.
//!
//! A row multiplies a number by one digit of the other one, adds the multiple of the modulus that
//! makes the lowest digit zero, and moves all digits down by one place. What does not depend on
//! that multiple is summed up apart, so that a row waits only for the factor of the modulus, its
//! lower products, and the move. Two pairs fill the time that one waits (Gueron and Krasnov,
//! "Software implementation of modular exponentiation, using advanced vector instructions
//! architectures", 2012, has such rows).
//!
//! Sums of digits stay below 2^62, because a digit gets four halves of products a row. At the end
//! they are carried.

use core::arch::x86_64::*;

use super::{DIGIT, load};
use crate::montgomery::Lanes;
use crate::simd::store512_words;

/// Digits of a number, eight a register; zeros after the last.
pub(super) type Number<const V: usize> = [Lanes; V];

/// The moduli of `N` numbers.
pub(super) struct Moduli<'a, const V: usize, const N: usize> {
    pub(super) n: &'a [Number<V>; N],
    /// Minus the inverses of the moduli modulo 2^52; the bits above are ignored.
    pub(super) inverse: [u64; N],
    /// How many digits the moduli have.
    pub(super) digits: usize,
}

impl<const V: usize, const N: usize> Moduli<'_, V, N> {
    /// `numbers` become their products with `others`, divided by 2^(52 K). All are less than twice
    /// the moduli.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn multiply(&self, numbers: &mut [Number<V>; N], others: &[Number<V>; N]) {
        let sums = self.rows(numbers, others);
        for (sums, number) in sums.into_iter().zip(numbers) {
            carry(sums, number);
        }
    }

    /// `numbers` become their squares, divided by 2^(52 K).
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self, numbers: &mut [Number<V>; N]) {
        let sums = self.rows(numbers, numbers);
        for (sums, number) in sums.into_iter().zip(numbers) {
            carry(sums, number);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[expect(clippy::cast_possible_wrap, reason = "bits")]
    fn rows(&self, numbers: &[Number<V>; N], others: &[Number<V>; N]) -> [[__m512i; V]; N] {
        let zero = _mm512_setzero_si512();
        let ones = _mm512_set1_epi64((1 << DIGIT) - 1);
        let inverse = self.inverse.map(|inverse| _mm512_set1_epi64(inverse as i64));
        let digit = |number: usize, row: usize| {
            let digit = if row < self.digits { others[number][row / 8].0[row % 8] } else { 0 };
            _mm512_set1_epi64(digit as i64)
        };
        let mut sums = [[zero; V]; N];
        let mut factors = [zero; N];
        for x in 0..N {
            factors[x] = digit(x, 0);
            for v in 0..V {
                sums[x][v] = _mm512_madd52lo_epu64(zero, load(&numbers[x][v]), factors[x]);
            }
        }
        for row in 0..self.digits {
            for x in 0..N {
                let lowest = _mm512_broadcastq_epi64(_mm512_castsi512_si128(sums[x][0]));
                let multiple = _mm512_madd52lo_epu64(zero, lowest, inverse[x]);
                // The lowest digit plus its part of the multiple is a multiple of 2^52: the digit
                // rounded up.
                let up = _mm512_add_epi64(sums[x][0], ones);
                let carry = _mm512_maskz_srli_epi64::<DIGIT>(1, up);
                let next = digit(x, row + 1);
                let mut apart = [zero; V];
                for v in 0..V {
                    let (number, n) = (load(&numbers[x][v]), load(&self.n[x][v]));
                    apart[v] = if v == 0 { carry } else { zero };
                    apart[v] = _mm512_madd52hi_epu64(apart[v], number, factors[x]);
                    apart[v] = _mm512_madd52lo_epu64(apart[v], number, next);
                    apart[v] = _mm512_madd52hi_epu64(apart[v], n, multiple);
                    sums[x][v] = _mm512_madd52lo_epu64(sums[x][v], n, multiple);
                }
                for v in 0..V {
                    let above = if v + 1 < V { sums[x][v + 1] } else { zero };
                    let moved = _mm512_alignr_epi64::<1>(above, sums[x][v]);
                    sums[x][v] = _mm512_add_epi64(moved, apart[v]);
                }
                factors[x] = next;
            }
        }
        sums
    }
}

/// Carries sums into digits of 52 bits.
///
/// After one step each digit is less than 2^52 + 2^12, and all further carries are 0 or 1. A digit
/// above its largest value makes one, and a digit of the largest value passes one on. So an
/// addition of the two sets of bits, which carries in the same way, finds them all.
#[inline]
#[target_feature(enable = "avx512f")]
fn carry<const V: usize>(sums: [__m512i; V], number: &mut Number<V>) {
    let zero = _mm512_setzero_si512();
    let ones = _mm512_set1_epi64((1 << DIGIT) - 1);
    let mut digits = [zero; V];
    let mut below = zero;
    for (digit, sum) in digits.iter_mut().zip(sums) {
        let over = _mm512_srli_epi64::<DIGIT>(sum);
        let moved = _mm512_alignr_epi64::<7>(over, below);
        *digit = _mm512_add_epi64(_mm512_and_si512(sum, ones), moved);
        below = over;
    }
    let mut carry = 0;
    for (digit, out) in digits.into_iter().zip(number) {
        let make = u32::from(_mm512_cmpgt_epu64_mask(digit, ones));
        let pass = u32::from(_mm512_cmpeq_epi64_mask(digit, ones));
        let sum = (make << 1 | carry) + pass;
        let [carries, next, ..] = (sum ^ pass).to_le_bytes();
        carry = u32::from(next);
        let digit = _mm512_mask_sub_epi64(digit, carries, digit, _mm512_set1_epi64(-1));
        store512_words(&mut out.0, _mm512_and_si512(digit, ones));
    }
}
