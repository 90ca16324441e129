//! Ten limbs of 26 and 25 bits by turns, with products of 32 bits.

use super::{Field, times19};
use crate::words::{Step, Words32};

/// Limbs of at most [`ELEMENT`].
#[derive(Clone, Copy)]
pub(in super::super) struct Limbs25<W>([W; 10]);

/// Limbs less than 2^63. Those of products are at most [`PRODUCT`].
#[derive(Clone, Copy)]
pub(in super::super) struct Wide25<W>([W; 10]);

/// The largest limb of an element, at even places and at odd ones.
#[cfg(test)]
pub(super) const ELEMENT: [u64; 2] = [(1 << 26) + (1 << 14), (1 << 25) + (1 << 19)];

/// The largest limb of a product.
#[cfg(test)]
pub(super) const PRODUCT: [u64; 2] = [7 << 57, 7 << 56];

const MASK26: u64 = (1 << 26) - 1;
const MASK25: u64 = (1 << 25) - 1;

/// 2^35 p: no limb is less than one of a product.
const BIAS: [u64; 10] = {
    let mut bias = [MASK26 << 35; 10];
    let mut i = 1;
    while i < 10 {
        bias[i] = MASK25 << 35;
        i += 2;
    }
    bias[0] -= 18 << 35;
    bias
};

impl<W> Limbs25<W> {
    #[cfg(test)]
    pub(super) fn of(limbs: [W; 10]) -> Self {
        Self(limbs)
    }
}

impl<W> Wide25<W> {
    #[cfg(test)]
    pub(super) fn of(limbs: [W; 10]) -> Self {
        Self(limbs)
    }

    #[cfg(test)]
    pub(super) fn limbs(self) -> [W; 10] {
        self.0
    }
}

#[inline(always)]
fn twice<W: Words32>(mut limbs: [W; 10]) -> [W; 10] {
    unroll!(i in 0..10 { limbs[i] = limbs[i].add(limbs[i]).opaque(); });
    limbs
}

#[inline(always)]
fn nineteen_times<W: Words32>(mut limbs: [W; 10]) -> [W; 10] {
    unroll!(i in 0..10 { limbs[i] = limbs[i].multiply(W::splat(19)).opaque(); });
    limbs
}

impl<W: Words32> Field for Limbs25<W> {
    type Words = W;
    type Wide = Wide25<W>;

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
    fn widen(self) -> Wide25<W> {
        Wide25(self.0)
    }

    /// Two chains of carries side by side.
    #[inline(always)]
    fn carry(wide: Wide25<W>) -> Self {
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
                let over = if $k == 9 { times19(over) } else { over };
                limbs[($k + 1) % 10] = limbs[($k + 1) % 10].add(over);
            )+};
        }
        carry!(0 4 1 5 2 6 3 7 4 8 9 0);
        unroll!(i in 0..10 { limbs[i] = limbs[i].opaque(); });
        Self(limbs)
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Wide25<W> {
        W::outline(Product(&self, &other))
    }

    #[inline(always)]
    fn square(self) -> Wide25<W> {
        W::outline(Square(&self))
    }

    #[inline(always)]
    fn products<const N: usize>(pairs: [(&Self, &Self); N]) -> [Wide25<W>; N] {
        let mut products = [pairs[0].0.widen(); N];
        unroll!(i in 0..5 {
            if i < N {
                products[i] = pairs[i].0.multiply(*pairs[i].1);
            }
        });
        products
    }

    #[inline(always)]
    fn squares<const N: usize>(numbers: [&Self; N]) -> [Wide25<W>; N] {
        let mut squares = [numbers[0].widen(); N];
        unroll!(i in 0..5 {
            if i < N {
                squares[i] = numbers[i].square();
            }
        });
        squares
    }

    #[inline(always)]
    fn times(self, factor: u64) -> Wide25<W> {
        let factor = W::splat(factor);
        let mut limbs = self.0;
        unroll!(i in 0..10 { limbs[i] = limbs[i].multiply(factor); });
        Wide25(limbs)
    }

    #[inline(always)]
    fn sum(one: Wide25<W>, other: Wide25<W>) -> Wide25<W> {
        let mut limbs = one.0;
        unroll!(i in 0..10 { limbs[i] = limbs[i].add(other.0[i]); });
        Wide25(limbs)
    }

    #[inline(always)]
    fn difference(one: Wide25<W>, other: Wide25<W>) -> Wide25<W> {
        let mut limbs = one.0;
        unroll!(i in 0..10 { limbs[i] = limbs[i].add(W::splat(BIAS[i])).sub(other.0[i]); });
        Wide25(limbs)
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
    type Output = Wide25<W>;

    #[inline(always)]
    fn run(self) -> Wide25<W> {
        let (a, b) = (self.0.0, self.1.0);
        let b19 = nineteen_times(b);
        // Two limbs at odd places have a product of one bit more than its place has.
        let a2 = twice(a);
        let mut columns = a;
        unroll!(k in 0..10 {
            let mut sum = a[0].multiply(b[k]);
            unroll!(i in 0..10 {
                let j = (k + 10 - i) % 10;
                if i > 0 {
                    let left = if i % 2 == 1 && j % 2 == 1 { a2[i] } else { a[i] };
                    sum = sum.add(left.multiply(if i > k { b19[j] } else { b[j] }));
                }
            });
            columns[k] = sum;
        });
        Wide25(columns)
    }
}

/// Products of different limbs are computed once, with one of them doubled.
struct Square<'a, W>(&'a Limbs25<W>);

impl<W: Words32> Step for Square<'_, W> {
    type Output = Wide25<W>;

    #[inline(always)]
    fn run(self) -> Wide25<W> {
        let a = self.0.0;
        let a19 = nineteen_times(a);
        let a2 = twice(a);
        let a4 = twice(a2);
        let mut columns = a;
        unroll!(k in 0..10 {
            let mut sum = W::splat(0);
            unroll!(i in 0..10 {
                let j = (k + 10 - i) % 10;
                if i <= j {
                    let left = match (i == j, i % 2 == 1 && j % 2 == 1) {
                        (true, false) => a[i],
                        (true, true) | (false, false) => a2[i],
                        (false, true) => a4[i],
                    };
                    sum = sum.add(left.multiply(if i + j > k { a19[j] } else { a[j] }));
                }
            });
            columns[k] = sum;
        });
        Wide25(columns)
    }
}
