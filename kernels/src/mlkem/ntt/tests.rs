//! The transform by its definition, products by long multiplication, at every level; and the code
//! itself on intervals, which proves that no word overflows.

use super::*;
use crate::mlkem::kernel::{Factor, Kernel};
use crate::mlkem::row::{Poly, Q, Q_INVERSE};
use crate::mlkem::tests::{Draw, each_kernel};

const MODULUS: i64 = Q as i64;

/// All values from the first to the second number.
type Range = (i64, i64);

#[derive(Clone, Copy)]
struct Intervals([Range; 32]);

fn all(most: i64) -> Intervals {
    Intervals([(-most, most); 32])
}

fn most(ranges: &[Range]) -> i64 {
    ranges.iter().map(|(low, high)| low.abs().max(high.abs())).max().expect("some")
}

fn each(one: Intervals, other: Intervals, f: impl Fn(Range, Range) -> Range) -> Intervals {
    let fits = |range: Range| {
        assert!(range.0 >= i16::MIN.into() && range.1 <= i16::MAX.into(), "{range:?}");
        range
    };
    Intervals(core::array::from_fn(|i| fits(f(one.0[i], other.0[i]))))
}

fn product_of(one: Range, other: Range) -> Range {
    let all = [one.0 * other.0, one.0 * other.1, one.1 * other.0, one.1 * other.1];
    (*all.iter().min().expect("four"), *all.iter().max().expect("four"))
}

fn sum_of(one: Range, other: Range) -> Range {
    let sum = (one.0 + other.0, one.1 + other.1);
    assert!(sum.0 >= i32::MIN.into() && sum.1 <= i32::MAX.into(), "{sum:?}");
    sum
}

/// Numbers divided by 2^16 in Montgomery's way: the multiple of q that is added is at most
/// q / 2 · 2^16.
fn divided(number: Range) -> Range {
    (number.0.div_euclid(1 << 16) - MODULUS / 2 - 1, number.1.div_euclid(1 << 16) + MODULUS / 2 + 1)
}

impl Row for Intervals {
    type Wide = [Range; 16];

    fn constant(row: &[i16; 32]) -> Self {
        Self(row.map(|word| (word.into(), word.into())))
    }
    fn add(self, other: Self) -> Self {
        each(self, other, |one, other| (one.0 + other.0, one.1 + other.1))
    }
    fn sub(self, other: Self) -> Self {
        each(self, other, |one, other| (one.0 - other.1, one.1 - other.0))
    }
    fn multiply(self, factor: Self, quotient: Self) -> Self {
        for (factor, quotient) in factor.0.iter().zip(quotient.0) {
            assert_eq!(factor.0, factor.1, "a constant");
            let word = |word: i64| i16::try_from(word).expect("a word");
            assert_eq!(word(factor.0).wrapping_mul(Q_INVERSE), word(quotient.0));
            assert!(factor.0.abs() <= MODULUS / 2);
        }
        each(self, factor, |one, other| divided(product_of(one, other)))
    }
    fn reduce(self) -> Self {
        // `code::tests` tries all words.
        all(1665)
    }
    fn exchange<const BIT: usize>(one: Self, other: Self) -> (Self, Self) {
        let (mut low, mut high) = (one, other);
        for i in (0..32).filter(|i| i & BIT == 0) {
            low.0[i | BIT] = other.0[i];
            high.0[i] = one.0[i | BIT];
        }
        (low, high)
    }
    fn swap(self) -> Self {
        Self(core::array::from_fn(|i| self.0[i ^ 1]))
    }
    fn dot(self, other: Self) -> Self::Wide {
        let product = |i: usize| product_of(self.0[i], other.0[i]);
        core::array::from_fn(|i| sum_of(product(2 * i), product(2 * i + 1)))
    }
    fn add_wide(one: Self::Wide, other: Self::Wide) -> Self::Wide {
        core::array::from_fn(|i| sum_of(one[i], other[i]))
    }
    fn narrow(even: Self::Wide, odd: Self::Wide) -> Self {
        let wide = Self(core::array::from_fn(|i| [even, odd][i % 2][i / 2]));
        Self(wide.0.map(divided))
    }
}

#[test]
fn no_word_overflows() {
    let mut rows = [all(MODULUS); 8];
    forward(&mut rows);
    assert!(rows.iter().all(|row| most(&row.0) <= 1665));

    let [even, odd] = factor(&rows);
    assert!(even.iter().chain(&odd).all(|row| most(&row.0) <= 1708));

    let sum = product([all(4095); 3], [even[0]; 3], [odd[0]; 3]);
    assert!(most(&sum.0) <= 2400, "{}", most(&sum.0));
    let public = to_montgomery(all(2400));
    assert!(most(&public.0) <= 1728, "{}", most(&public.0));

    let mut rows = [all(2400); 8];
    inverse(&mut rows);
    // With noise, the sum is still above −q and below q.
    assert!(rows.iter().all(|row| most(&row.0) < MODULUS - 2), "{}", most(&rows[0].0));
}

/// A bound that is too large is found.
#[test]
#[should_panic(expected = "(-")]
fn overflows_are_found() {
    let mut rows = [all(2 * 2400); 8];
    inverse(&mut rows);
}

fn reversed(index: u32) -> u32 {
    index.reverse_bits() >> 25
}

fn power(exponent: u32) -> i64 {
    (0..exponent).fold(1, |power, _| power * 17 % MODULUS)
}

fn coefficients(poly: &Poly) -> Vec<i64> {
    poly.0.as_flattened().iter().map(|&x| i64::from(x).rem_euclid(MODULUS)).collect()
}

/// FIPS 203, equation 4.12: the remainders modulo the polynomials `X^2 - 17^(2 br(i) + 1)`.
fn by_definition(poly: &[i64]) -> Vec<i64> {
    let mut transformed = vec![0; 256];
    for i in 0..128 {
        let root = power(2 * reversed(i) + 1);
        for j in (0..128).rev() {
            for k in 0..2 {
                let place = &mut transformed[2 * i as usize + k];
                *place = (*place * root + poly[2 * j + k]) % MODULUS;
            }
        }
    }
    transformed
}

/// Modulo X^256 + 1.
fn long_multiplication(one: &[i64], other: &[i64]) -> Vec<i64> {
    let mut product = vec![0; 256];
    for (i, a) in one.iter().enumerate() {
        for (j, b) in other.iter().enumerate() {
            let sign = if i + j < 256 { 1 } else { MODULUS - 1 };
            let place = &mut product[(i + j) % 256];
            *place = (*place + a * b % MODULUS * sign) % MODULUS;
        }
    }
    product
}

/// Random polynomials, and those whose coefficients are all at one end.
fn cases() -> Vec<Poly> {
    let mut draw = Draw(1);
    let mut cases: Vec<_> = (0..12).map(|_| draw.poly()).collect();
    cases.extend([-Q, -2, 0, 1, Q - 1, Q].map(|x| Poly([[x; 32]; 8])));
    cases
}

#[test]
fn transforms_by_definition() {
    macro_rules! check {
        ($kernel:ty) => {
            for poly in cases() {
                let mut transformed = poly.clone();
                <$kernel>::forward(&mut transformed);
                assert_eq!(coefficients(&transformed), by_definition(&coefficients(&poly)));
                assert!(transformed.0.as_flattened().iter().all(|x| x.abs() <= 1665));
            }
        };
    }
    each_kernel!(check);
}

#[test]
fn products_by_long_multiplication() {
    macro_rules! check {
        ($kernel:ty) => {
            for three in cases().chunks(3) {
                let mut transformed = [three[0].clone(), three[1].clone(), three[2].clone()];
                transformed.iter_mut().for_each(<$kernel>::forward);
                let mut factors = [Factor::ZERO; 3];
                let mut expected = vec![0; 256];
                for i in 0..3 {
                    <$kernel>::factor(&transformed[(i + 1) % 3], &mut factors[i]);
                    let [one, other] = [&three[i], &three[(i + 1) % 3]].map(coefficients);
                    let product = long_multiplication(&one, &other);
                    expected
                        .iter_mut()
                        .zip(product)
                        .for_each(|(sum, x)| *sum = (*sum + x) % MODULUS);
                }
                let mut sum = Poly::ZERO;
                <$kernel>::inverse_product(transformed.each_ref(), &factors, &mut sum);
                assert_eq!(coefficients(&sum), expected);
            }
        };
    }
    each_kernel!(check);
}
