//! The field of integers modulo 2^255 - 19, for several numbers side by side.

use super::single::{self, MASK51};
use crate::wipe;
use crate::words::Words;

/// Repeats a block for each value of a variable. The compiler does not unroll all loops before it
/// decides which arrays become registers.
macro_rules! unroll {
    ($name:ident in 0..5 $body:block) => { unroll!(@ $name [0 1 2 3 4] $body) };
    ($name:ident in 0..10 $body:block) => { unroll!(@ $name [0 1 2 3 4 5 6 7 8 9] $body) };
    (@ $name:ident [$($value:literal)+] $body:block) => {$({
        let $name: usize = $value;
        $body
    })+};
}

#[cfg_attr(not(feature = "isa-avx2"), allow(dead_code, reason = "only AVX2 has such products"))]
pub(super) mod limbs25;
pub(super) mod limbs51;
#[cfg(test)]
mod tests;

/// An element of the field in each lane.
///
/// Products, sums and differences are [`Wide`](Self::Wide): their limbs may be too long for a
/// factor. [`carry`](Self::carry) and [`settle`](Self::settle) make elements of them, which are
/// factors. Where carries cost least, after each product or after sums of products, differs
/// between implementations. Each states the bounds of its limbs.
pub(super) trait Field: Copy {
    /// The words that hold the limbs.
    type Words: Words;
    /// An element whose limbs are not carried.
    type Wide: Copy;

    /// From five limbs of 51 bits, each less than 2^51, or those of a carried element.
    fn from_limbs51(limbs: [Self::Words; 5]) -> Self;
    /// Five limbs of 51 bits, of a carried element.
    fn to_limbs51(self) -> [Self::Words; 5];

    /// The same element.
    fn widen(self) -> Self::Wide;
    /// The same element, carried, of any sum or difference.
    fn carry(wide: Self::Wide) -> Self;
    /// The same element, of a product, or of a sum or difference of two. It is carried only if its
    /// limbs are too long for a factor.
    fn settle(wide: Self::Wide) -> Self;
    /// A product.
    fn multiply(&self, other: &Self) -> Self::Wide;
    /// A square.
    fn square(&self) -> Self::Wide;
    /// A product with a number of at most 17 bits.
    fn times(&self, factor: u64) -> Self::Wide;
    /// A sum of at most four products, differences among them.
    fn sum(one: Self::Wide, other: Self::Wide) -> Self::Wide;
    /// The difference of a sum of at most three products, and a product. Carried elements count as
    /// products.
    fn difference(one: Self::Wide, other: Self::Wide) -> Self::Wide;
    /// `one` in the lanes where `mask` has all bits, `other` where it has none.
    fn select(mask: Self::Words, one: Self, other: Self) -> Self;

    /// The same small number in each lane.
    #[inline(always)]
    fn small(number: u64) -> Self {
        Self::constant([number, 0, 0, 0, 0])
    }

    /// The same number in each lane, from five limbs of 51 bits.
    #[inline(always)]
    fn constant(limbs: [u64; 5]) -> Self {
        let [a, b, c, d, e] = limbs;
        let splat = Self::Words::splat;
        Self::from_limbs51([splat(a), splat(b), splat(c), splat(d), splat(e)])
    }

    /// The product as an element.
    #[inline(always)]
    fn product(&self, other: &Self) -> Self {
        Self::settle(self.multiply(other))
    }

    /// The square as an element.
    #[inline(always)]
    fn squared(&self) -> Self {
        Self::settle(self.square())
    }

    /// The negative of a carried element.
    #[inline(always)]
    fn negative(self) -> Self {
        Self::carry(Self::difference(Self::small(0).widen(), self.widen()))
    }

    /// From the 256 bits of each lane without the highest, lowest word first; numbers that are not
    /// less than the modulus are reduced.
    #[inline(always)]
    fn from_words(words: [Self::Words; 4]) -> Self {
        let mask = Self::Words::splat(MASK51);
        let [a, b, c, d] = words;
        Self::from_limbs51([
            a.and(mask),
            a.shr::<51>().or(b.shl::<13>()).and(mask),
            b.shr::<38>().or(c.shl::<26>()).and(mask),
            c.shr::<25>().or(d.shl::<39>()).and(mask),
            d.shr::<12>().and(mask),
        ])
    }

    /// The words of the number less than the modulus.
    #[inline(always)]
    fn to_words(self) -> [Self::Words; 4] {
        let mask = Self::Words::splat(MASK51);
        let mut limbs = self.to_limbs51();
        // The number is less than twice the modulus. It is not less than the modulus if, with 19
        // added, it has bit 255. Once to carry, once to subtract.
        for carry in [false, true] {
            let mut over = Self::Words::splat(0);
            if carry {
                over = Self::Words::splat(19);
                for limb in limbs {
                    over = limb.add(over).shr::<51>();
                }
            }
            over = times19(over);
            for limb in &mut limbs {
                let sum = limb.add(over);
                *limb = sum.and(mask);
                over = sum.shr::<51>();
            }
            if !carry {
                limbs[0] = limbs[0].add(times19(over));
            }
        }
        let [a, b, c, d, e] = limbs;
        [
            a.or(b.shl::<51>()),
            b.shr::<13>().or(c.shl::<38>()),
            c.shr::<26>().or(d.shl::<25>()),
            d.shr::<39>().or(e.shl::<12>()),
        ]
    }

    /// All bits where two elements are the same number, none elsewhere.
    #[inline(always)]
    fn equal(one: Self::Wide, other: Self::Wide) -> Self::Words {
        let [a, b, c, d] = Self::carry(Self::difference(one, other)).to_words();
        a.or(b).or(c.or(d)).is_zero()
    }
}

#[inline(always)]
fn times19<W: Words>(word: W) -> W {
    word.shl::<4>().add(word.shl::<1>()).add(word)
}

/// One step of a power: the slot of the base, how often it is squared, the slots of the factor that
/// follows and of the result.
struct Step(usize, u32, usize, usize);

/// The power 2^252 - 3, which is (p - 5) / 8, in slot 1, by powers 2^n - 1; slot 0 keeps the base.
const ROOT: [Step; 11] = [
    Step(0, 1, 0, 1),
    Step(1, 2, 1, 1),
    Step(1, 1, 0, 1),
    Step(1, 5, 1, 2),
    Step(2, 10, 2, 1),
    Step(1, 20, 1, 1),
    Step(1, 10, 2, 2),
    Step(2, 50, 2, 1),
    Step(1, 100, 1, 1),
    Step(1, 50, 2, 1),
    Step(1, 2, 0, 1),
];

/// The powers (p - 5) / 8 of several elements, for square roots.
#[inline(always)]
pub(super) fn root_powers<F: Field, const N: usize>(bases: [F; N]) -> [F; N] {
    let mut slots = [bases; 3];
    for &Step(base, squarings, factor, result) in &ROOT {
        let mut powers = slots[base];
        for _ in 0..squarings {
            for power in &mut powers {
                *power = power.squared();
            }
        }
        let factors = slots[factor];
        for (power, factor) in powers.iter_mut().zip(factors) {
            *power = power.product(&factor);
        }
        slots[result] = powers;
    }
    slots[1]
}

/// The inverse of a carried element in each lane; zero has zero.
#[inline(always)]
pub(super) fn inverse<F: Field>(number: F) -> F {
    let [a, b, c, d, e] = number.to_limbs51();
    let mut limbs = [a.store(), b.store(), c.store(), d.store(), e.store()];
    single::invert_each(&mut limbs, F::Words::LANES);
    let [a, b, c, d, e] = &limbs;
    let load = F::Words::load;
    let inverse = F::from_limbs51([load(a), load(b), load(c), load(d), load(e)]);
    wipe::words(limbs.as_flattened_mut());
    inverse
}
