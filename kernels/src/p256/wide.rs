//! Five limbs of 52 bits, for multiplications of that width (IFMA).
//!
//! The field's prime and one is 2^96 (1 + 2^96 - 2^128 + 2^160): its limbs are 0, 2^44, 0, 2^36 and
//! 2^48 - 2^16. So the factor of each step of a reduction is the lowest limb itself.
#![expect(clippy::needless_range_loop, reason = "places of limbs add up")]

use super::constants::{self, Modulus, split};
use super::number::{Number, limb_methods};
use crate::words::{Words, Words52};

/// Numbers of five limbs. `RARE` is [`Number::IS_RARE`].
#[derive(Clone, Copy)]
pub(super) struct Wide<W, const RARE: bool = false>([W; 5]);

const MASK: u64 = (1 << 52) - 1;

impl<W: Words52, const RARE: bool> Number for Wide<W, RARE> {
    type Word = W;
    type Columns = [W; 10];

    const STEPS: usize = 30;
    const BATCHES: usize = 20;
    const IS_RARE: bool = RARE;

    limb_methods!(5 limbs of 52 bits, 10 columns);

    #[inline(always)]
    fn from_table(limbs: [W; 5]) -> Self {
        Self(limbs)
    }

    #[inline(always)]
    fn product(mut columns: [W; 10], one: &Self, other: &Self) -> [W; 10] {
        for i in 0..5 {
            for j in 0..5 {
                columns[i + j] = columns[i + j].add_low(one.0[i], other.0[j]);
            }
            for j in 0..5 {
                columns[i + j + 1] = columns[i + j + 1].add_high(one.0[i], other.0[j]);
            }
        }
        columns
    }

    #[inline(always)]
    fn square_of(columns: [W; 10], number: &Self) -> [W; 10] {
        let mut mixed = [W::splat(0); 10];
        for i in 0..5 {
            for j in i + 1..5 {
                mixed[i + j] = mixed[i + j].add_low(number.0[i], number.0[j]);
            }
            for j in i + 1..5 {
                mixed[i + j + 1] = mixed[i + j + 1].add_high(number.0[i], number.0[j]);
            }
        }
        let mut result = columns;
        for i in 0..10 {
            let twice = mixed[i].add(mixed[i]);
            result[i] = columns[i].add(twice);
        }
        for i in 0..5 {
            result[2 * i] = result[2 * i].add_low(number.0[i], number.0[i]);
            result[2 * i + 1] = result[2 * i + 1].add_high(number.0[i], number.0[i]);
        }
        result
    }

    #[inline(always)]
    fn scale(mut columns: [W; 10], number: &Self, factor: W) -> [W; 10] {
        for i in 0..5 {
            columns[i] = columns[i].add_low(number.0[i], factor);
        }
        for i in 0..5 {
            columns[i + 1] = columns[i + 1].add_high(number.0[i], factor);
        }
        columns
    }

    #[inline(always)]
    fn scale_signed(columns: [W; 10], number: &Self, factor: W) -> [W; 10] {
        let mut columns = Self::scale(columns, number, factor);
        // Of the highest limb the product has 52 bits.
        let sign = number.0[4].shr_signed::<63>();
        columns[5] = columns[5].sub(factor.and(sign));
        columns
    }

    #[inline(always)]
    fn after_steps(mut columns: [W; 10]) -> Self {
        let mask = W::splat(MASK);
        for i in 0..5 {
            columns[i + 1] = columns[i + 1].add(columns[i].shr::<52>());
            columns[i] = columns[i].and(mask);
        }
        let mut limbs = [W::splat(0); 5];
        for i in 0..5 {
            limbs[i] = columns[i].shr::<30>().add(columns[i + 1].shl::<22>());
        }
        for limb in &mut limbs[..4] {
            *limb = limb.and(mask);
        }
        Self(limbs)
    }

    #[inline(always)]
    fn reduce(columns: [W; 10]) -> Self {
        Self(upper(clear(columns))).carry()
    }

    #[inline(always)]
    fn reduce_well(columns: [W; 10]) -> Self {
        let mut limbs = upper(clear(columns));
        // About so many multiples of 2^256, which is 2^224 - 2^192 - 2^96 + 1.
        let times = limbs[4].shr::<48>();
        limbs[0] = limbs[0].add(times);
        limbs[1] = limbs[1].sub(times.shl::<44>());
        limbs[3] = limbs[3].sub(times.shl::<36>());
        limbs[4] = limbs[4].and(W::splat((1 << 48) - 1)).add(times.shl::<16>());
        Self(limbs).carry()
    }

    #[inline(always)]
    fn reduce_order(mut columns: [W; 10]) -> Self {
        let limbs = const { split::<5>(&constants::N, 52) };
        let inverse = W::splat(constants::Order::INVERSE & MASK);
        for i in 0..5 {
            let factor = W::splat(0).add_low(columns[i], inverse);
            for j in 0..5 {
                columns[i + j] = columns[i + j].add_low(factor, W::splat(limbs[j]));
            }
            for j in 0..5 {
                columns[i + j + 1] = columns[i + j + 1].add_high(factor, W::splat(limbs[j]));
            }
            columns[i + 1] = columns[i + 1].add(columns[i].shr::<52>());
        }
        Self(upper(columns)).carry()
    }
}

/// Makes the lower columns zero by adding multiples of the field's prime.
#[inline(always)]
fn clear<W: Words52>(mut columns: [W; 10]) -> [W; 10] {
    let (second, fourth) = (W::splat(1 << 44), W::splat(1 << 36));
    let fifth = W::splat((1 << 48) - (1 << 16));
    for i in 0..5 {
        // The products take the low 52 bits; the bits above are the carry.
        let factor = columns[i];
        columns[i + 1] = columns[i + 1].add(factor.shr::<52>()).add_low(factor, second);
        columns[i + 2] = columns[i + 2].add_high(factor, second);
        columns[i + 3] = columns[i + 3].add_low(factor, fourth);
        columns[i + 4] = columns[i + 4].add_high(factor, fourth).add_low(factor, fifth);
        columns[i + 5] = columns[i + 5].add_high(factor, fifth);
    }
    columns
}

#[inline(always)]
fn upper<W: Words>(columns: [W; 10]) -> [W; 5] {
    let mut limbs = [W::splat(0); 5];
    limbs.copy_from_slice(&columns[5..]);
    limbs
}
