//! Ten limbs of 26 and 25 bits by turns, with products of 32 bits.

use super::Field;
use crate::words::{Step, Words32};

/// Limbs of at most [`CARRIED`] if they are carried, as products are; of at most [`ELEMENT`] in any
/// element.
#[derive(Clone, Copy)]
pub(in super::super) struct Limbs25<W>([W; 10]);

/// The largest limb of what is carried, at even places and at odd ones.
#[cfg(test)]
pub(super) const CARRIED: [u64; 2] = [(1 << 26) + (1 << 14), (1 << 25) + (1 << 19)];

/// The largest limb of an element.
#[cfg(test)]
pub(super) const ELEMENT: [u64; 2] = [CARRIED[0] + BIAS[2], CARRIED[1] + BIAS[1]];

const MASK26: u64 = (1 << 26) - 1;
const MASK25: u64 = (1 << 25) - 1;

/// 2 p: no limb is less than one of a product.
const BIAS: [u64; 10] = {
    let mut bias = [2 * MASK26; 10];
    let mut i = 1;
    while i < 10 {
        bias[i] = 2 * MASK25;
        i += 2;
    }
    bias[0] -= 2 * 18;
    bias
};

impl<W> Limbs25<W> {
    #[cfg(test)]
    pub(super) fn of(limbs: [W; 10]) -> Self {
        Self(limbs)
    }

    #[cfg(test)]
    pub(super) fn limbs(self) -> [W; 10] {
        self.0
    }
}

/// Nineteen times a word of any length. From plain shifts the compiler would make a product of 64
/// bits, which AVX2 lacks.
#[inline(always)]
fn nineteen_by_shifts<W: Words32>(word: W) -> W {
    word.shl::<4>().opaque().add(word.shl::<1>()).add(word)
}

#[inline(always)]
fn nineteen_times<W: Words32>(mut limbs: [W; 10]) -> [W; 10] {
    unroll!(i in 0..10 { limbs[i] = limbs[i].multiply(W::splat(19)).opaque(); });
    limbs
}

impl<W: Words32> Field for Limbs25<W> {
    type Words = W;
    type Wide = Self;

    #[inline(always)]
    fn from_limbs51(limbs: [W; 5]) -> Self {
        let mask = W::splat(MASK26);
        let mut split = [mask; 10];
        unroll!(i in 0..5 {
            split[2 * i] = limbs[i].and(mask);
            split[2 * i + 1] = limbs[i].shr::<26>();
        });
        Self(split)
    }

    #[inline(always)]
    fn to_limbs51(self) -> [W; 5] {
        let mut joined = [self.0[0]; 5];
        unroll!(i in 0..5 {
            joined[i] = self.0[2 * i + 1].shl::<26>().add(self.0[2 * i]);
        });
        joined
    }

    #[inline(always)]
    fn widen(self) -> Self {
        self
    }

    /// Two chains of carries side by side.
    #[inline(always)]
    fn carry(wide: Self) -> Self {
        let mut limbs = wide.0;
        macro_rules! carry {
            ($($k:literal)+) => {$(
                let over = if $k % 2 == 0 {
                    let over = limbs[$k].shr::<26>();
                    limbs[$k] = limbs[$k].and(W::splat(MASK26));
                    over
                } else {
                    let over = limbs[$k].shr::<25>();
                    limbs[$k] = limbs[$k].and(W::splat(MASK25));
                    over
                };
                let over = if $k == 9 { nineteen_by_shifts(over) } else { over };
                limbs[($k + 1) % 10] = limbs[($k + 1) % 10].add(over);
            )+};
        }
        carry!(0 4 1 5 2 6 3 7 4 8 9 0);
        unroll!(i in 0..10 { limbs[i] = limbs[i].opaque(); });
        Self(limbs)
    }

    #[inline(always)]
    fn settle(wide: Self) -> Self {
        wide
    }

    #[inline(always)]
    fn multiply(&self, other: &Self) -> Self {
        W::outline(Product(self, other))
    }

    #[inline(always)]
    fn square(&self) -> Self {
        W::outline(Square(self))
    }

    #[inline(always)]
    fn times(&self, factor: u64) -> Self {
        let factor = W::splat(factor);
        let mut limbs = self.0;
        unroll!(i in 0..10 { limbs[i] = limbs[i].multiply(factor); });
        Self(limbs)
    }

    #[inline(always)]
    fn sum(one: Self, other: Self) -> Self {
        let mut limbs = one.0;
        unroll!(i in 0..10 { limbs[i] = limbs[i].add(other.0[i]); });
        Self(limbs)
    }

    #[inline(always)]
    fn difference(one: Self, other: Self) -> Self {
        let mut limbs = one.0;
        unroll!(i in 0..10 { limbs[i] = limbs[i].add(W::splat(BIAS[i])).sub(other.0[i]); });
        Self(limbs)
    }

    #[inline(always)]
    fn select(mask: W, one: Self, other: Self) -> Self {
        let mut limbs = other.0;
        unroll!(i in 0..10 { limbs[i] = W::select(mask, one.0[i], limbs[i]); });
        Self(limbs)
    }
}

struct Product<'a, W>(&'a Limbs25<W>, &'a Limbs25<W>);

impl<W: Words32> Step for Product<'_, W> {
    type Output = Limbs25<W>;

    #[inline(always)]
    fn run(self) -> Limbs25<W> {
        let (a, b) = (&self.0.0, &self.1.0);
        let mut b19 = nineteen_times(*b);
        W::keep(&mut b19);
        let mut columns = [W::splat(0); 10];
        // All columns stay in registers. A second factor is loaded for two rows.
        unroll!(pair in 0..5 {
            let (even, odd) = (2 * pair, 2 * pair + 1);
            // Two limbs at odd places have a product of one bit more than its place has.
            let left = [a[odd], a[odd].add(a[odd])];
            unroll!(j in 0..10 {
                let right = if even + j >= 10 { b19[j] } else { b[j] };
                let k = (even + j) % 10;
                columns[k] = columns[k].add(a[even].multiply(right)).opaque();
                let right = if odd + j >= 10 { b19[j] } else { b[j] };
                let k = (odd + j) % 10;
                columns[k] = columns[k].add(left[j % 2].multiply(right)).opaque();
            });
        });
        Limbs25::carry(Limbs25(columns))
    }
}

/// Products of different limbs are computed once, with one of them doubled.
struct Square<'a, W>(&'a Limbs25<W>);

impl<W: Words32> Step for Square<'_, W> {
    type Output = Limbs25<W>;

    #[inline(always)]
    fn run(self) -> Limbs25<W> {
        let a = &self.0.0;
        let mut a19 = nineteen_times(*a);
        W::keep(&mut a19);
        let mut columns = [W::splat(0); 10];
        unroll!(i in 0..10 {
            // Products of different limbs stand for two; two odd places for two more.
            let left = [a[i], a[i].add(a[i]), a[i].shl::<2>()];
            unroll!(j in 0..10 {
                if j >= i {
                    let k = (i + j) % 10;
                    let left = left[usize::from(i < j) + (i % 2) * (j % 2)];
                    let product = left.multiply(if i + j >= 10 { a19[j] } else { a[j] });
                    columns[k] = columns[k].add(product).opaque();
                }
            });
        });
        Limbs25::carry(Limbs25(columns))
    }
}
