//! Montgomery's multiplication of eight pairs of numbers, each with its own modulus.
//!
//! Products are summed by columns of five digits: a block of digits times a block of digits is a
//! tile of 25 products, in low and high halves, which ten registers sum up. So the accumulators of
//! a column stay in registers, and 50 multiplications need ten loads. The reduction runs along
//! (product scanning: Koç, Acar and Kaliski, "Analyzing and comparing Montgomery multiplication
//! algorithms", 1996): in the lower half of the columns, each column yields the factors of the
//! modulus that make it zero; in the upper half, a block of the result.
//!
//! A column sums up less than 4 K + 2 halves of products, below 2^52 each, and K is at most 160: no
//! sum overflows. In a square, tiles off the diagonal are computed once and doubled.
//!
//! K digits need 4 K^2 multiplications for a product and about 3 K^2 for a square.

use core::arch::x86_64::*;

use super::selection::Selection;
use super::{BLOCK, Block, DIGIT as WIDTH, load};
use crate::montgomery::Lanes;
use crate::montgomery::x86_64::lanes::Moduli;
use crate::simd::store512_words;

/// `number` becomes its product with `other`, divided by 2^(52 K). All are less than twice the
/// moduli.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply(moduli: &mut Moduli<'_, Lanes>, number: &mut [Lanes], other: &[Lanes]) {
    product::<false>(moduli, number, other, &mut Selection::none());
}

/// `number` becomes its square, divided by 2^(52 K). The selection advances by two digits a block
/// of the number.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn square(
    moduli: &mut Moduli<'_, Lanes>,
    number: &mut [Lanes],
    selection: &mut Selection<'_>,
) {
    product::<true>(moduli, number, &[], selection);
}

/// Either of them. The result goes where digits are that no later column needs.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn product<const SQUARE: bool>(
    moduli: &mut Moduli<'_, Lanes>,
    number: &mut [Lanes],
    other: &[Lanes],
    selection: &mut Selection<'_>,
) {
    let n: &[Block] = moduli.n.as_chunks().0;
    let blocks = n.len();
    let number: &mut [Block] = &mut number.as_chunks_mut().0[..blocks];
    let other: &[Block] = other.as_chunks().0;
    let other = if SQUARE { other } else { &other[..blocks] };
    let factors: &mut [Block] = &mut moduli.room.as_chunks_mut().0[..blocks];
    let inverse = load(&moduli.inverse);
    let digit = _mm512_set1_epi64((1 << WIDTH) - 1);
    let mut sums = [_mm512_setzero_si512(); 2 * BLOCK];
    let mut carry = _mm512_setzero_si512();
    for column in 0..2 * blocks {
        let first = (column + 1).saturating_sub(blocks);
        let end = blocks.min(column + 1);
        if SQUARE {
            let mut squares = [_mm512_setzero_si512(); 2 * BLOCK];
            let half = column.div_ceil(2).max(first);
            for (one, other) in number[first..half].iter().zip(number[..end].iter().rev()) {
                add_tile(&mut squares, one, other);
            }
            if column % 2 == 0 {
                add_different(&mut squares, &number[column / 2]);
                double_and_add(&mut squares, &sums);
                add_squares(&mut squares, &number[column / 2]);
            } else {
                double_and_add(&mut squares, &sums);
            }
            sums = squares;
        } else {
            for (one, other) in number[first..end].iter().zip(other[first..end].iter().rev()) {
                add_tile(&mut sums, one, other);
            }
        }
        let known = end.min(column);
        for (factors, n) in factors[first..known].iter().zip(n[first..=column - first].iter().rev())
        {
            add_tile(&mut sums, factors, n);
        }
        if SQUARE {
            // Each factor of the modulus waits for the one before; there is time for it.
            selection.step();
        }
        if column < blocks {
            carry = cancel(&mut sums, &n[0], &mut factors[column], inverse, carry);
        } else {
            for (sum, out) in sums.iter().zip(&mut number[column - blocks]) {
                let sum = _mm512_add_epi64(*sum, carry);
                store512_words(&mut out.0, _mm512_and_si512(sum, digit));
                carry = _mm512_srli_epi64::<WIDTH>(sum);
            }
        }
        for i in 0..BLOCK {
            sums[i] = sums[i + BLOCK];
            sums[i + BLOCK] = _mm512_setzero_si512();
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_block(block: &Block) -> [__m512i; BLOCK] {
    let [a, b, c, d, e] = block;
    [load(a), load(b), load(c), load(d), load(e)]
}

/// Adds the products of all pairs of digits.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_tile(sums: &mut [__m512i; 2 * BLOCK], one: &Block, other: &Block) {
    let one = load_block(one);
    for (j, other) in other.iter().enumerate() {
        let other = load(other);
        // The low halves first, so that an addition to a sum does not wait for the one before.
        for (i, &one) in one.iter().enumerate() {
            sums[i + j] = _mm512_madd52lo_epu64(sums[i + j], one, other);
        }
        for (i, &one) in one.iter().enumerate() {
            sums[i + j + 1] = _mm512_madd52hi_epu64(sums[i + j + 1], one, other);
        }
    }
}

/// Twice the sums, plus others in the lower half.
#[inline]
#[target_feature(enable = "avx512f")]
fn double_and_add(sums: &mut [__m512i; 2 * BLOCK], others: &[__m512i; 2 * BLOCK]) {
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = _mm512_add_epi64(*sum, *sum);
        if i < BLOCK {
            *sum = _mm512_add_epi64(*sum, others[i]);
        }
    }
}

/// Adds the products of different digits of a block, each once.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_different(sums: &mut [__m512i; 2 * BLOCK], block: &Block) {
    let block = load_block(block);
    for (i, &one) in block.iter().enumerate() {
        for (j, &other) in block.iter().enumerate().skip(i + 1) {
            sums[i + j] = _mm512_madd52lo_epu64(sums[i + j], one, other);
            sums[i + j + 1] = _mm512_madd52hi_epu64(sums[i + j + 1], one, other);
        }
    }
}

/// Adds the squares of the digits of a block.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_squares(sums: &mut [__m512i; 2 * BLOCK], block: &Block) {
    for (i, digit) in load_block(block).into_iter().enumerate() {
        sums[2 * i] = _mm512_madd52lo_epu64(sums[2 * i], digit, digit);
        sums[2 * i + 1] = _mm512_madd52hi_epu64(sums[2 * i + 1], digit, digit);
    }
}

/// Makes the lower half of a column zero by multiples of the modulus, whose lowest block is `n`,
/// and returns the carry from there. The factors are stored.
///
/// What is left of a digit's sum is a multiple of 2^52: the sum itself, rounded up. So its own
/// product need not be waited for.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn cancel(
    sums: &mut [__m512i; 2 * BLOCK],
    n: &Block,
    factors: &mut Block,
    inverse: __m512i,
    carry: __m512i,
) -> __m512i {
    let digit = _mm512_set1_epi64((1 << WIDTH) - 1);
    let n = load_block(n);
    let mut sum = _mm512_add_epi64(sums[0], carry);
    let mut carry = carry;
    for i in 0..BLOCK {
        let factor = _mm512_madd52lo_epu64(_mm512_setzero_si512(), sum, inverse);
        store512_words(&mut factors[i].0, factor);
        carry = _mm512_srli_epi64::<WIDTH>(_mm512_add_epi64(sum, digit));
        sums[i + 1] = _mm512_madd52hi_epu64(sums[i + 1], factor, n[0]);
        if i + 1 < BLOCK {
            carry = _mm512_madd52lo_epu64(carry, factor, n[1]);
            sum = _mm512_add_epi64(sums[i + 1], carry);
        } else {
            sums[i + 1] = _mm512_madd52lo_epu64(sums[i + 1], factor, n[1]);
        }
        for (j, &n) in n.iter().enumerate().skip(1) {
            if j > 1 {
                sums[i + j] = _mm512_madd52lo_epu64(sums[i + j], factor, n);
            }
            sums[i + j + 1] = _mm512_madd52hi_epu64(sums[i + j + 1], factor, n);
        }
    }
    carry
}
