//! Nine limbs of 29 bits, for multiplications of 32 bits.
//!
//! The field's prime and one has the limbs 2^9 (the fourth), 2^18 (the seventh), 2^29 - 2^21 and
//! 2^24 - 1. So the factor of each step of a reduction is the lowest limb itself.
#![expect(clippy::needless_range_loop, reason = "places of limbs add up")]

use super::constants::{self, Modulus, split};
use super::number::{Number, limb_methods};
use crate::words::{Words, Words32};

/// Numbers of nine limbs.
#[derive(Clone, Copy)]
pub(super) struct Short<W>([W; 9]);

const MASK: u64 = (1 << 29) - 1;

/// Runs a block for each column of a product, without a loop: the compiler would leave it one.
macro_rules! columns {
    ($place:ident => $body:block) => {
        columns!(@each $place $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    };
    (@each $place:ident $body:block; $($number:literal)+) => {
        $({
            const $place: usize = $number;
            $body
        })+
    };
}

/// The first limb of a factor that has a product in a column.
const fn first(place: usize) -> usize {
    place.saturating_sub(8)
}

/// How many products a column has.
const fn count(place: usize) -> usize {
    if place > 8 { 17 - place } else { place + 1 }
}

impl<W: Words32> Number for Short<W> {
    type Word = W;
    type Columns = [W; 18];

    const STEPS: usize = 29;
    const BATCHES: usize = 21;

    limb_methods!(9 limbs of 29 bits, 18 columns);

    /// Twice the number, because 2^(9 x 29) is twice 2^(5 x 52): at most two primes.
    #[inline(always)]
    fn from_table(limbs: [W; 5]) -> Self {
        let mask = W::splat(MASK);
        let [a, b, c, d, e] = limbs;
        // Limb i begins at bit 29 i - 1 of the number.
        Self([
            a.shl::<1>().and(mask),
            a.shr::<28>().or(b.shl::<24>()).and(mask),
            b.shr::<5>().and(mask),
            b.shr::<34>().or(c.shl::<18>()).and(mask),
            c.shr::<11>().and(mask),
            c.shr::<40>().or(d.shl::<12>()).and(mask),
            d.shr::<17>().and(mask),
            d.shr::<46>().or(e.shl::<6>()).and(mask),
            e.shr::<23>(),
        ])
    }

    #[inline(always)]
    fn product(mut columns: [W; 18], one: &Self, other: &Self) -> [W; 18] {
        columns!(PLACE => {
            let mut sum = columns[PLACE];
            for i in 0..count(PLACE) {
                let i = first(PLACE) + i;
                sum = sum.add(one.0[i].multiply(other.0[PLACE - i]));
            }
            columns[PLACE] = sum;
        });
        columns
    }

    #[inline(always)]
    fn square_of(mut columns: [W; 18], number: &Self) -> [W; 18] {
        let twice = number.double();
        columns!(PLACE => {
            let mut sum = columns[PLACE];
            for i in 0..count(PLACE) / 2 {
                let i = first(PLACE) + i;
                sum = sum.add(twice.0[i].multiply(number.0[PLACE - i]));
            }
            if PLACE.is_multiple_of(2) {
                sum = sum.add(number.0[PLACE / 2].multiply(number.0[PLACE / 2]));
            }
            columns[PLACE] = sum;
        });
        columns
    }

    #[inline(always)]
    fn scale(mut columns: [W; 18], number: &Self, factor: W) -> [W; 18] {
        for i in 0..9 {
            columns[i] = columns[i].add(number.0[i].multiply(factor));
        }
        columns
    }

    #[inline(always)]
    fn scale_signed(columns: [W; 18], number: &Self, factor: W) -> [W; 18] {
        let mut columns = Self::scale(columns, number, factor);
        // Of the highest limb the product has 32 bits.
        let sign = number.0[8].shr_signed::<63>();
        columns[8] = columns[8].sub(factor.shl::<32>().and(sign));
        columns
    }

    #[inline(always)]
    fn after_steps(mut columns: [W; 18]) -> Self {
        let mask = W::splat(MASK);
        for i in 0..8 {
            columns[i + 1] = columns[i + 1].add(columns[i].shr::<29>());
            columns[i] = columns[i].and(mask);
        }
        let mut limbs = [columns[8].shr_signed::<29>(); 9];
        limbs[..7].copy_from_slice(&columns[1..8]);
        limbs[7] = columns[8].and(mask);
        Self(limbs)
    }

    #[inline(always)]
    fn reduce(columns: [W; 18]) -> Self {
        Self(upper(clear(columns))).carry()
    }

    #[inline(always)]
    fn reduce_well(columns: [W; 18]) -> Self {
        let mut limbs = upper(clear(columns));
        limbs[8] = limbs[8].add(limbs[7].shr::<29>());
        limbs[7] = limbs[7].and(W::splat(MASK));
        // About so many multiples of 2^256, which is 2^224 - 2^192 - 2^96 + 1.
        let times = limbs[8].shr::<24>();
        limbs[0] = limbs[0].add(times);
        limbs[3] = limbs[3].sub(times.shl::<9>());
        limbs[6] = limbs[6].sub(times.shl::<18>());
        limbs[7] = limbs[7].add(times.shl::<21>());
        limbs[8] = limbs[8].and(W::splat((1 << 24) - 1));
        Self(limbs).carry()
    }

    #[inline(always)]
    fn reduce_order(mut columns: [W; 18]) -> Self {
        let limbs = const { split::<9>(&constants::N, 29) };
        let (mask, inverse) = (W::splat(MASK), W::splat(constants::Order::INVERSE & MASK));
        for i in 0..9 {
            let factor = columns[i].and(mask).multiply(inverse).and(mask);
            for j in 0..9 {
                let product = factor.multiply(W::splat(limbs[j]));
                columns[i + j] = columns[i + j].add(product);
            }
            columns[i + 1] = columns[i + 1].add(columns[i].shr::<29>());
        }
        Self(upper(columns)).carry()
    }
}

/// Makes the lower columns zero by adding multiples of the field's prime.
#[inline(always)]
fn clear<W: Words32>(mut columns: [W; 18]) -> [W; 18] {
    let mask = W::splat(MASK);
    let (eighth, ninth) = (W::splat((1 << 29) - (1 << 21)), W::splat((1 << 24) - 1));
    for i in 0..9 {
        let factor = columns[i].and(mask);
        columns[i + 1] = columns[i + 1].add(columns[i].shr::<29>());
        columns[i + 3] = columns[i + 3].add(factor.shl::<9>());
        columns[i + 6] = columns[i + 6].add(factor.shl::<18>());
        columns[i + 7] = columns[i + 7].add(factor.multiply(eighth));
        columns[i + 8] = columns[i + 8].add(factor.multiply(ninth));
    }
    columns
}

#[inline(always)]
fn upper<W: Words>(columns: [W; 18]) -> [W; 9] {
    let mut limbs = [W::splat(0); 9];
    limbs.copy_from_slice(&columns[9..]);
    limbs
}
