//! Numbers side by side, in limbs, and their arithmetic modulo the curve's two primes.
//!
//! A number is *tight* if each limb but the highest has no more bits than the width; products need
//! tight factors. Tight numbers may be greater than the modulus; how much is given in multiples of
//! the field's prime where it matters. Sums and differences are not tight until they are carried,
//! or until a product is added to them, whose reduction does it for nothing.
//!
//! The unit test `bounds` runs all on intervals and proves that nothing overflows.
#![expect(clippy::cast_possible_truncation, reason = "places and parts of numbers are small")]

use super::constants::{self, Modulus, split};
use crate::words::{Step, Words};

/// A reduced expression of numbers, as a [`Step`].
macro_rules! step {
    ($numbers:ident: $($name:ident = $number:expr),+ => $result:expr) => {{
        struct Operands<'n, N>($(step!(@reference $name 'n N)),+);

        impl<$numbers: Number> Step for Operands<'_, $numbers> {
            type Output = $numbers;

            #[inline(always)]
            fn run(self) -> $numbers {
                let Self($($name),+) = self;
                $result
            }
        }

        let operands = Operands($($number),+);
        if Self::IS_RARE {
            Self::Word::outline_long(operands)
        } else {
            Self::Word::outline(operands)
        }
    }};
    (@reference $name:ident $lifetime:lifetime $numbers:ident) => { &$lifetime $numbers };
}

/// The methods of [`Number`] that follow from the count of limbs and their bits.
macro_rules! limb_methods {
    ($limbs:literal limbs of $width:literal bits, $columns:literal columns) => {
        const WIDTH: u32 = $width;
        const LIMBS: usize = $limbs;

        #[inline(always)]
        fn zero() -> Self {
            Self([W::splat(0); $limbs])
        }

        #[inline(always)]
        fn limbs(&self) -> &[W] {
            &self.0
        }

        #[inline(always)]
        fn limbs_mut(&mut self) -> &mut [W] {
            &mut self.0
        }

        #[inline(always)]
        fn down(word: W) -> W {
            word.shr::<$width>()
        }

        #[inline(always)]
        fn down_signed(word: W) -> W {
            word.shr_signed::<$width>()
        }

        #[inline(always)]
        fn offset<M: Modulus, const TIMES: u64, const MORE: u64>() -> Self {
            let limbs = const { constants::offset::<$limbs>(&M::WORDS, $width, TIMES, MORE) };
            let mut offset = Self::zero();
            for i in 0..$limbs {
                offset.0[i] = W::splat(limbs[i]);
            }
            offset
        }

        #[inline(always)]
        fn plus(self) -> [W; $columns] {
            let mut columns = [W::splat(0); $columns];
            columns[$limbs..].copy_from_slice(&self.0);
            columns
        }

        #[inline(always)]
        fn below(self) -> [W; $columns] {
            let mut columns = [W::splat(0); $columns];
            columns[..$limbs].copy_from_slice(&self.0);
            columns
        }
    };
}

pub(super) use limb_methods;

/// The limbs of numbers, those of one place side by side.
///
/// Not inlined into functions with vectors, where such loops would become scatters and gathers.
/// Their addresses would be public, but they are slower.
#[inline(never)]
fn spread(numbers: &[[u64; 4]; 8], width: u32) -> [[u64; 8]; 9] {
    let mut lanes = [[0; 8]; 9];
    for (lane, number) in numbers.iter().enumerate() {
        for (limb, value) in lanes.iter_mut().zip(split::<9>(number, width)) {
            limb[lane] = value;
        }
    }
    lanes
}

/// The numbers of such limbs.
#[inline(never)]
fn join(lanes: &[[u64; 8]], width: u32) -> [[u64; 4]; 8] {
    let mut numbers = [[0; 4]; 8];
    for (i, limb) in (0..).zip(lanes) {
        let (word, bit) = ((i * width / 64) as usize, i * width % 64);
        for (number, value) in numbers.iter_mut().zip(limb) {
            number[word] |= value << bit;
            if word < 3 && bit > 0 {
                number[word + 1] |= value >> (64 - bit);
            }
        }
    }
    numbers
}

/// Several numbers side by side, in limbs.
pub(super) trait Number: Copy {
    type Word: Words;
    /// Sums of products by the places of their limbs; reductions take the lower half away.
    type Columns: Copy;

    /// Bits of a limb.
    const WIDTH: u32;
    const LIMBS: usize;
    /// Division steps of a batch.
    const STEPS: usize;
    /// Batches, together of 590 steps at least.
    const BATCHES: usize;
    /// Whether the code takes so small a part of the time that all products are function calls.
    const IS_RARE: bool = false;

    fn zero() -> Self;
    fn limbs(&self) -> &[Self::Word];
    fn limbs_mut(&mut self) -> &mut [Self::Word];
    /// Words moved down by the width.
    fn down(word: Self::Word) -> Self::Word;
    /// The same, with copies of the sign.
    fn down_signed(word: Self::Word) -> Self::Word;
    /// `TIMES` a modulus in limbs that are `MORE` times too large.
    fn offset<M: Modulus, const TIMES: u64, const MORE: u64>() -> Self;
    /// A number from five limbs of 52 bits in Montgomery's form of [`super::wide`].
    fn from_table(limbs: [Self::Word; 5]) -> Self;

    /// Nothing but a number, which a reduction keeps as it is.
    fn plus(self) -> Self::Columns;
    /// Nothing but a number, which a reduction takes out of Montgomery's form.
    fn below(self) -> Self::Columns;
    /// Adds a product.
    fn product(columns: Self::Columns, one: &Self, other: &Self) -> Self::Columns;
    /// Adds a square.
    fn square_of(columns: Self::Columns, number: &Self) -> Self::Columns;
    /// Adds a product with a word below 2^32.
    fn scale(columns: Self::Columns, number: &Self, factor: Self::Word) -> Self::Columns;
    /// The same, for a number of less than 2^256 whose highest limb has a sign.
    fn scale_signed(columns: Self::Columns, number: &Self, factor: Self::Word) -> Self::Columns;
    /// Divides sums of [`Number::scale_signed`] by 2^`STEPS`.
    fn after_steps(columns: Self::Columns) -> Self;
    /// Divides by 2^(`WIDTH` x `LIMBS`) modulo the field's prime. Tight.
    fn reduce(columns: Self::Columns) -> Self;
    /// The same, to less than 1.01 times the prime, if a multiple of the prime was added whose
    /// limbs are twice too large.
    fn reduce_well(columns: Self::Columns) -> Self;
    /// Divides by 2^(`WIDTH` x `LIMBS`) modulo the order. Tight.
    fn reduce_order(columns: Self::Columns) -> Self;

    /// The same number in each lane.
    #[inline(always)]
    fn constant(number: &[u64; 4]) -> Self {
        let mut result = Self::zero();
        let limbs: [u64; 9] = split(number, Self::WIDTH);
        for (limb, &value) in result.limbs_mut().iter_mut().zip(&limbs) {
            *limb = Self::Word::splat(value);
        }
        result
    }

    /// The same number as another type with as many limbs.
    #[inline(always)]
    fn like<N: Number<Word = Self::Word>>(&self) -> N {
        let mut result = N::zero();
        result.limbs_mut().copy_from_slice(self.limbs());
        result
    }

    /// A number for each lane.
    #[inline(always)]
    fn load(numbers: &[[u64; 4]; 8]) -> Self {
        let lanes = spread(numbers, Self::WIDTH);
        let mut result = Self::zero();
        for (limb, values) in result.limbs_mut().iter_mut().zip(&lanes) {
            *limb = Self::Word::load(values);
        }
        result
    }

    /// The numbers of the lanes, which are tight and less than 2^256.
    #[inline(always)]
    fn store(&self) -> [[u64; 4]; 8] {
        let mut lanes = [[0; 8]; 9];
        for (lanes, limb) in lanes.iter_mut().zip(self.limbs()) {
            *lanes = limb.store();
        }
        join(&lanes[..Self::LIMBS], Self::WIDTH)
    }

    #[inline(always)]
    fn multiply(&self, other: &Self) -> Self {
        step!(N: one = self, other = other => N::reduce(N::product(N::zero().plus(), one, other)))
    }

    /// A number, which need not be tight, and a product.
    #[inline(always)]
    fn plus_product(&self, one: &Self, other: &Self) -> Self {
        step!(N: start = self, one = one, other = other => {
            N::reduce(N::product(start.plus(), one, other))
        })
    }

    /// The sum of two products.
    #[inline(always)]
    fn sum_of_products([a, b]: [&Self; 2], [c, d]: [&Self; 2]) -> Self {
        step!(N: a = a, b = b, c = c, d = d => {
            N::reduce(N::product(N::product(N::zero().plus(), a, b), c, d))
        })
    }

    #[inline(always)]
    fn square(&self) -> Self {
        step!(N: number = self => N::reduce(N::square_of(N::zero().plus(), number)))
    }

    /// A number and a square, by [`reduce_well`](Self::reduce_well), which says what the number is.
    #[inline(always)]
    fn plus_square(&self, root: &Self) -> Self {
        step!(N: start = self, root = root => N::reduce_well(N::square_of(start.plus(), root)))
    }

    /// A reduction modulo one of the two.
    #[inline(always)]
    fn reduce_by<M: Modulus>(columns: Self::Columns) -> Self {
        if M::IS_FIELD { Self::reduce(columns) } else { Self::reduce_order(columns) }
    }

    #[inline(always)]
    fn multiply_order(&self, other: &Self) -> Self {
        step!(N: one = self, other = other => {
            N::reduce_order(N::product(N::zero().plus(), one, other))
        })
    }

    /// The sum. Not tight.
    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        let mut sum = *self;
        for (limb, &other) in sum.limbs_mut().iter_mut().zip(other.limbs()) {
            *limb = limb.add(other);
        }
        sum
    }

    /// The difference; no limb may be negative. Not tight.
    #[inline(always)]
    fn subtract(&self, other: &Self) -> Self {
        let mut difference = *self;
        for (limb, &other) in difference.limbs_mut().iter_mut().zip(other.limbs()) {
            *limb = limb.sub(other);
        }
        difference
    }

    #[inline(always)]
    fn double(&self) -> Self {
        self.add(self)
    }

    /// Makes a number tight whose limbs are less than 2^63.
    #[inline(always)]
    fn carry(mut self) -> Self {
        let mask = Self::Word::splat((1 << Self::WIDTH) - 1);
        let limbs = self.limbs_mut();
        for i in 1..limbs.len() {
            limbs[i] = limbs[i].add(Self::down(limbs[i - 1]));
            limbs[i - 1] = limbs[i - 1].and(mask);
        }
        self
    }

    /// Makes limbs tight that have signs; the highest one keeps it.
    #[inline(always)]
    fn carry_signed(mut self) -> Self {
        let mask = Self::Word::splat((1 << Self::WIDTH) - 1);
        let limbs = self.limbs_mut();
        for i in 1..limbs.len() {
            limbs[i] = limbs[i].add(Self::down_signed(limbs[i - 1]));
            limbs[i - 1] = limbs[i - 1].and(mask);
        }
        self
    }

    /// The number of `one` where the mask has all bits, that of `other` elsewhere.
    #[inline(always)]
    fn select(mask: Self::Word, one: &Self, other: &Self) -> Self {
        let mut chosen = *one;
        for (limb, &other) in chosen.limbs_mut().iter_mut().zip(other.limbs()) {
            *limb = Self::Word::select(mask, *limb, other);
        }
        chosen
    }

    /// Half of a tight number modulo the field's prime; at most half a prime more than that.
    #[inline(always)]
    fn half(&self) -> Self {
        let (zero, one) = (Self::Word::splat(0), Self::Word::splat(1));
        let odd = zero.sub(self.limbs()[0].and(one));
        let mut sum = *self;
        let prime = Self::constant(&constants::P);
        for (limb, &prime) in sum.limbs_mut().iter_mut().zip(prime.limbs()) {
            *limb = limb.add(prime.and(odd));
        }
        let mut sum = sum.carry();
        let top = Self::Word::splat(1 << (Self::WIDTH - 1));
        let limbs = sum.limbs_mut();
        for i in 0..limbs.len() {
            limbs[i] = limbs[i].shr::<1>();
            if i + 1 < limbs.len() {
                let low = zero.sub(limbs[i + 1].and(one));
                limbs[i] = limbs[i].add(low.and(top));
            }
        }
        sum
    }

    /// The remainder of a tight number that is less than twice the modulus.
    #[inline(always)]
    fn canonical<M: Modulus>(&self) -> Self {
        // The difference and 2^(WIDTH x LIMBS), which is there if it is not negative.
        let mask = (1 << Self::WIDTH) - 1;
        let limbs: [u64; 9] = split(&M::WORDS, Self::WIDTH);
        let mut difference = *self;
        for (i, limb) in difference.limbs_mut().iter_mut().enumerate() {
            *limb = limb.add(Self::Word::splat(mask - limbs[i] + u64::from(i == 0)));
        }
        let mut difference = difference.carry();
        let top = &mut difference.limbs_mut()[Self::LIMBS - 1];
        let is_greater = Self::Word::splat(0).sub(Self::down(*top));
        *top = top.and(Self::Word::splat(mask));
        Self::select(is_greater, &difference, self)
    }

    /// Into Montgomery's form of the field: less than 1.1 times the prime.
    #[inline(always)]
    fn enter(&self) -> Self {
        self.multiply(&Self::constant(&Self::R2))
    }

    /// Out of Montgomery's form: the remainder.
    #[inline(always)]
    fn leave(&self) -> Self {
        if Self::Word::LANES == 1 {
            // In a function, the compiler makes a branch of the mask.
            return Self::reduce(self.below()).canonical::<constants::Field>();
        }
        step!(N: number = self => N::reduce(number.below()).canonical::<constants::Field>())
    }

    /// Into Montgomery's form of the order.
    #[inline(always)]
    fn enter_order(&self) -> Self {
        self.multiply_order(&Self::constant(&Self::R2_ORDER))
    }

    /// Out of Montgomery's form of the order: the remainder.
    #[inline(always)]
    fn leave_order(&self) -> Self {
        if Self::Word::LANES == 1 {
            return Self::reduce_order(self.below()).canonical::<constants::Order>();
        }
        step!(N: number = self => {
            N::reduce_order(number.below()).canonical::<constants::Order>()
        })
    }

    /// All bits where a number in Montgomery's form is a multiple of the field's prime.
    #[inline(always)]
    fn is_zero(&self) -> Self::Word {
        let number = self.leave();
        let mut bits = Self::Word::splat(0);
        for &limb in number.limbs() {
            bits = bits.or(limb);
        }
        bits.is_zero()
    }

    /// The number 1 in Montgomery's form.
    #[inline(always)]
    fn one() -> Self {
        Self::constant(&Self::R)
    }

    /// 2^(`WIDTH` x `LIMBS`) modulo the field's prime.
    const R: [u64; 4] = constants::power_of_two(Self::WIDTH * Self::LIMBS as u32, &constants::P);
    /// Its square modulo the field's prime.
    const R2: [u64; 4] =
        constants::power_of_two(2 * Self::WIDTH * Self::LIMBS as u32, &constants::P);
    /// Its square modulo the order.
    const R2_ORDER: [u64; 4] =
        constants::power_of_two(2 * Self::WIDTH * Self::LIMBS as u32, &constants::N);
}
