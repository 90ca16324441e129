//! Montgomery's multiplication of four pairs of numbers, each with its own modulus.
//!
//! Products are summed by columns of four digits, as tiles. The reduction runs along (product
//! scanning: Koç, Acar and Kaliski, "Analyzing and comparing Montgomery multiplication
//! algorithms", 1996): in the lower half of the columns, each column yields the factors of the
//! modulus that make it zero; in the upper half, a block of the result. In a square, tiles off the
//! diagonal are computed once, with one factor doubled.
//!
//! K digits need 2 K^2 multiplications for a product and about 3/2 K^2 for a square.

use core::arch::x86_64::*;

use super::tiles::{BLOCK, Block, Pairs, Sums, WIDTH, add, add_column, product};
use crate::montgomery::Quad;
use crate::montgomery::x86_64::lanes::Moduli;
use crate::simd::{load256_words, store256_words};

/// `number` becomes its product with `other`, divided by 2^(29 K). All are less than twice the
/// moduli.
#[target_feature(enable = "avx2")]
pub(super) fn multiply(moduli: &mut Moduli<'_, Quad>, number: &mut [Quad], other: &[Quad]) {
    let Moduli { n, inverse, room } = moduli;
    let (factors, _) = room.as_chunks_mut().0.split_at_mut(n.len() / BLOCK);
    let number = number.as_chunks_mut().0;
    columns(n.as_chunks().0, inverse, factors, number, other.as_chunks().0, false);
}

/// `number` becomes its square, divided by 2^(29 K).
#[target_feature(enable = "avx2")]
pub(super) fn square(moduli: &mut Moduli<'_, Quad>, number: &mut [Quad]) {
    let Moduli { n, inverse, room } = moduli;
    let (factors, doubled) = room.as_chunks_mut().0.split_at_mut(n.len() / BLOCK);
    for (doubled, digit) in doubled.as_flattened_mut().iter_mut().zip(&*number) {
        let digit = load256_words(&digit.0);
        store256_words(&mut doubled.0, _mm256_add_epi64(digit, digit));
    }
    columns(n.as_chunks().0, inverse, factors, number.as_chunks_mut().0, doubled, true);
}

/// Either of them, where for a square `other` is the number itself, doubled. The result goes where
/// digits are that no later column needs.
#[target_feature(enable = "avx2")]
fn columns(
    n: &[Block],
    inverse: &Quad,
    factors: &mut [Block],
    number: &mut [Block],
    other: &[Block],
    is_square: bool,
) {
    let blocks = n.len();
    let (number, other) = (&mut number[..blocks], &other[..blocks]);
    let factors = &mut factors[..blocks];
    let inverse = load256_words(&inverse.0);
    let zero = _mm256_setzero_si256();
    let mut below = [zero; BLOCK];
    let mut over = zero;
    for column in 0..2 * blocks {
        let first = (column + 1).saturating_sub(blocks);
        let end = blocks.min(column + 1);
        let mut sums = [zero; 2 * BLOCK];
        let half = if is_square { column.div_ceil(2).max(first) } else { end };
        if is_square && column % 2 == 0 {
            add_diagonal(&mut sums, &number[column / 2], &other[column / 2]);
        }
        let products =
            Pairs { one: &number[first..half], other: &other[column + 1 - half..=column - first] };
        let known = end.min(column);
        let multiples =
            Pairs { one: &factors[first..known], other: &n[column + 1 - known..=column - first] };
        add_column(&mut sums, below, [products, multiples], if is_square { 2 } else { 1 });
        if column < blocks {
            over = cancel(&mut sums, &n[0], &mut factors[column], inverse, over);
        } else {
            over = store(&sums, over, &mut number[column - blocks]);
        }
        let [_, _, _, _, next @ ..] = sums;
        below = next;
    }
}

/// Adds the square of a block, which is also there doubled.
#[inline]
#[target_feature(enable = "avx2")]
fn add_diagonal(sums: &mut Sums, block: &Block, doubled: &Block) {
    let (block, doubled) = (load_block(block), load_block(doubled));
    for (i, &one) in block.iter().enumerate() {
        add(&mut sums[2 * i], product(one, one));
        for (j, &other) in doubled.iter().enumerate().skip(i + 1) {
            add(&mut sums[i + j], product(one, other));
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_block(block: &Block) -> [__m256i; BLOCK] {
    let [a, b, c, d] = block;
    [load256_words(&a.0), load256_words(&b.0), load256_words(&c.0), load256_words(&d.0)]
}

/// Makes the lower half of a column zero by multiples of the modulus, whose lowest block is `n`,
/// and returns the carry from there. The factors are stored.
#[inline]
#[target_feature(enable = "avx2")]
fn cancel(
    sums: &mut Sums,
    n: &Block,
    factors: &mut Block,
    inverse: __m256i,
    mut over: __m256i,
) -> __m256i {
    let ones = _mm256_set1_epi64x((1 << WIDTH) - 1);
    let n = load_block(n);
    for (i, out) in factors.iter_mut().enumerate() {
        let sum = _mm256_add_epi64(sums[i], over);
        let factor = _mm256_and_si256(product(sum, inverse), ones);
        store256_words(&mut out.0, factor);
        over = _mm256_srli_epi64::<WIDTH>(_mm256_add_epi64(sum, product(factor, n[0])));
        for (j, &n) in n.iter().enumerate().skip(1) {
            add(&mut sums[i + j], product(factor, n));
        }
    }
    over
}

/// Stores the lower half of a column as digits, and returns the carry from there.
#[inline]
#[target_feature(enable = "avx2")]
fn store(sums: &Sums, mut over: __m256i, out: &mut Block) -> __m256i {
    let ones = _mm256_set1_epi64x((1 << WIDTH) - 1);
    for (&sum, out) in sums.iter().zip(out) {
        let sum = _mm256_add_epi64(sum, over);
        store256_words(&mut out.0, _mm256_and_si256(sum, ones));
        over = _mm256_srli_epi64::<WIDTH>(sum);
    }
    over
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::montgomery::limbs::window;

    /// Products and squares of numbers whose digits are all at their largest, with moduli of which
    /// that is true, too: of every number of digits, with small numbers in other lanes.
    #[test]
    fn sums_at_their_largest() {
        if !std::is_x86_feature_detected!("avx2") {
            return;
        }
        for blocks in (3..=20).chain([36, 71]) {
            let bits = 29 * BLOCK * blocks;
            let power = |exponent: usize| BigUint::from(1_u8) << exponent;
            // 2^bits is 4 modulo n.
            let n = power(bits - 2) - 1_u8;
            let most = &n + &n - 1_u8;
            let numbers = [most.clone(), n.clone(), BigUint::from(3_u8), most.clone()];
            let others = [most.clone(), most, n.clone(), BigUint::from(1_u8)];
            let vectors = |numbers: &[BigUint; 4]| -> Vec<Quad> {
                let limbs = numbers.each_ref().map(|number| number.to_u64_digits());
                (0..BLOCK * blocks)
                    .map(|i| Quad(limbs.each_ref().map(|limbs| window(limbs, 29 * i, 29))))
                    .collect()
            };
            let modulus = vectors(&[(); 4].map(|()| n.clone()));
            let mut room = vec![Quad::default(); 2 * modulus.len()];
            let inverse = Quad([1; 4]);
            let mut moduli = Moduli { n: &modulus, inverse, room: &mut room };
            let mut product = vectors(&numbers);
            // SAFETY: the processor has AVX2.
            unsafe { multiply(&mut moduli, &mut product, &vectors(&others)) }
            let mut squared = vectors(&numbers);
            // SAFETY: the processor has AVX2.
            unsafe { square(&mut moduli, &mut squared) }
            for lane in 0..4 {
                let value = |digits: &[Quad]| {
                    let add = |sum: BigUint, digit: &Quad| {
                        assert!(digit.0[lane] >> 29 == 0, "a digit has 29 bits");
                        (sum << 29_u32) + digit.0[lane]
                    };
                    digits.iter().rev().fold(BigUint::ZERO, add)
                };
                let [product, squared] = [value(&product), value(&squared)];
                assert!(product < &n + &n && squared < &n + &n, "less than twice the modulus");
                let number = &numbers[lane];
                assert_eq!(product * 4_u8 % &n, number * &others[lane] % &n, "{blocks}, {lane}");
                assert_eq!(squared * 4_u8 % &n, number * number % &n, "{blocks}, {lane}");
            }
        }
    }
}
