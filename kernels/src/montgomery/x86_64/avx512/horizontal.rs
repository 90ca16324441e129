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
use core::ops::Range;

use super::{DIGIT, load};
use crate::montgomery::Lanes;
use crate::montgomery::x86_64::lanes::ENTRIES;
use crate::simd::store512_words;

/// Digits of a number, eight a register; zeros after the last.
type Number<const V: usize> = [Lanes; V];

/// The most numbers at once.
pub(super) const MOST: usize = 2;

/// The moduli of one or two numbers.
pub(super) struct Moduli<'a> {
    /// Their digits, one modulus after the other.
    pub(super) n: &'a [Lanes],
    /// Minus their inverses modulo 2^52; the bits above are ignored.
    pub(super) inverse: [u64; MOST],
    /// How many digits the moduli have.
    pub(super) digits: usize,
}

/// The functions for `count` numbers of `vectors` registers each.
pub(super) struct Kernel {
    pub(super) vectors: usize,
    pub(super) count: usize,
    multiply: unsafe fn(&Moduli<'_>, &mut [Lanes], u32, Option<&[Lanes]>),
    look_up: unsafe fn(&[Lanes], [u64; MOST], &mut [Lanes]),
}

impl Kernel {
    const fn new<const V: usize, const N: usize>() -> Self {
        Self { vectors: V, count: N, multiply: multiply::<V, N>, look_up: look_up::<V> }
    }

    /// For one number of so many digits, or for two, which have at most 40.
    pub(super) fn of(digits: usize, count: usize) -> &'static Self {
        const ONE: [Kernel; 8] = [
            Kernel::new::<1, 1>(),
            Kernel::new::<2, 1>(),
            Kernel::new::<3, 1>(),
            Kernel::new::<4, 1>(),
            Kernel::new::<5, 1>(),
            Kernel::new::<8, 1>(),
            Kernel::new::<10, 1>(),
            Kernel::new::<20, 1>(),
        ];
        const TWO: [Kernel; 5] = [
            Kernel::new::<1, 2>(),
            Kernel::new::<2, 2>(),
            Kernel::new::<3, 2>(),
            Kernel::new::<4, 2>(),
            Kernel::new::<5, 2>(),
        ];
        let kernels: &'static [Self] = if count == 1 { &ONE } else { &TWO };
        let fits = kernels.iter().find(|kernel| digits <= 8 * kernel.vectors);
        fits.expect("moduli have at most 160 digits")
    }

    /// Where the digits of a number are.
    pub(super) const fn place(&self, number: usize) -> Range<usize> {
        number * self.vectors..(number + 1) * self.vectors
    }

    /// `numbers` are squared so many times, and multiplied with `others`, if there are any; each
    /// product is divided by 2^(52 K). All are less than twice the moduli.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn multiply(
        &self,
        moduli: &Moduli<'_>,
        numbers: &mut [Lanes],
        squarings: u32,
        others: Option<&[Lanes]>,
    ) {
        // SAFETY: callers have the instructions that the functions need.
        unsafe { (self.multiply)(moduli, numbers, squarings, others) }
    }

    /// One of the [`ENTRIES`] of the table for each number, by reading all.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn look_up(&self, table: &[Lanes], indices: [u64; MOST], out: &mut [Lanes]) {
        // SAFETY: as above.
        unsafe { (self.look_up)(table, indices, out) }
    }
}

/// See [`Kernel::multiply`].
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply<const V: usize, const N: usize>(
    moduli: &Moduli<'_>,
    numbers: &mut [Lanes],
    squarings: u32,
    others: Option<&[Lanes]>,
) {
    let n = numbers_of(moduli.n);
    let others = others.map(numbers_of);
    let numbers: &mut [Number<V>; N] =
        numbers.as_chunks_mut().0.first_chunk_mut().expect("as many as the kernel is for");
    for left in (0..=squarings).rev() {
        let factors = match others {
            _ if left > 0 => &*numbers,
            Some(others) => others,
            None => break,
        };
        let sums = rows::<V, N>(moduli, n, numbers, factors);
        for (sums, number) in sums.into_iter().zip(&mut *numbers) {
            carry(sums, number);
        }
    }
}

#[inline]
fn numbers_of<const V: usize, const N: usize>(lanes: &[Lanes]) -> &[Number<V>; N] {
    lanes.as_chunks().0.first_chunk().expect("as many as the kernel is for")
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
#[expect(clippy::cast_possible_wrap, reason = "bits")]
fn rows<const V: usize, const N: usize>(
    moduli: &Moduli<'_>,
    n: &[Number<V>; N],
    numbers: &[Number<V>; N],
    others: &[Number<V>; N],
) -> [[__m512i; V]; N] {
    let zero = _mm512_setzero_si512();
    let ones = _mm512_set1_epi64((1 << DIGIT) - 1);
    let inverse = moduli.inverse.map(|inverse| _mm512_set1_epi64(inverse as i64));
    let digit = |number: usize, row: usize| {
        let digit = if row < moduli.digits { others[number][row / 8].0[row % 8] } else { 0 };
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
    for row in 0..moduli.digits {
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
                let (number, n) = (load(&numbers[x][v]), load(&n[x][v]));
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

/// See [`Kernel::look_up`].
#[target_feature(enable = "avx512f")]
#[expect(clippy::cast_possible_wrap, reason = "indices are small")]
fn look_up<const V: usize>(table: &[Lanes], indices: [u64; MOST], out: &mut [Lanes]) {
    let (table, out): (&[Number<V>], &mut [Number<V>]) =
        (table.as_chunks().0, out.as_chunks_mut().0);
    let count = out.len();
    for ((x, out), index) in out.iter_mut().enumerate().zip(indices) {
        let index = _mm512_set1_epi64(index as i64);
        let mut chosen = [_mm512_setzero_si512(); V];
        for i in 0..ENTRIES {
            let here = _mm512_cmpeq_epi64_mask(_mm512_set1_epi64(i as i64), index);
            for (chosen, digits) in chosen.iter_mut().zip(&table[i * count + x]) {
                *chosen = _mm512_mask_mov_epi64(*chosen, here, load(digits));
            }
        }
        for (out, chosen) in out.iter_mut().zip(chosen) {
            store512_words(&mut out.0, chosen);
        }
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
