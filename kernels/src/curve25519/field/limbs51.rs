//! Five limbs of 51 bits, with products of 52 bits.

use super::{Field, MASK51};
use crate::words::{Step, Words52};

/// Limbs of at most [`ELEMENT`].
#[derive(Clone, Copy)]
pub(in super::super) struct Limbs51<W>([W; 5]);

/// Limbs of any word. Those of products are at most [`PRODUCT`].
#[derive(Clone, Copy)]
pub(in super::super) struct Wide51<W>([W; 5]);

/// The largest limb of an element: a limb, and nineteen times what a word carries.
#[cfg(test)]
pub(super) const ELEMENT: u64 = MASK51 + 19 * ((1 << 13) - 1);

/// The largest limb of a product.
#[cfg(test)]
pub(super) const PRODUCT: u64 = 9 << 52;

/// 32 p: no limb is less than one of a product.
pub(super) const BIAS: [u64; 5] =
    [32 * (MASK51 - 18), 32 * MASK51, 32 * MASK51, 32 * MASK51, 32 * MASK51];

impl<W> Limbs51<W> {
    #[cfg(test)]
    pub(super) fn of(limbs: [W; 5]) -> Self {
        Self(limbs)
    }
}

impl<W> Wide51<W> {
    #[cfg(test)]
    pub(super) fn of(limbs: [W; 5]) -> Self {
        Self(limbs)
    }

    #[cfg(test)]
    pub(super) fn limbs(self) -> [W; 5] {
        self.0
    }
}

/// The sum of columns of products of 52 bits, each in two parts: twice what `halves` has, and the
/// lower halves of the products that `low` lists for a column. Columns 5 to 9 fold into 0 to 4.
macro_rules! columns {
    ($halves:ident, $column:ident, $k:ident: $low:expr) => {{
        let nineteen = W::splat(19);
        let mut limbs = [W::splat(0); 5];
        for $k in (5..10).rev() {
            let mut $column = $halves[$k].add($halves[$k]);
            $low
            // 2^52 of a column is 2 of the next one.
            $halves[$k - 4] = $halves[$k - 4].add_high($column, nineteen);
            // Column 9 is less than 2^52.
            if $k < 9 {
                $halves[$k - 4] = $halves[$k - 4].add_low($column.shr::<52>(), nineteen);
            }
            limbs[$k - 5] = $column;
        }
        for $k in 0..5 {
            // Nothing comes before column 0.
            let mut $column = if $k == 0 { $halves[0] } else { $halves[$k].add($halves[$k]) };
            $low
            limbs[$k] = $column.add_low(limbs[$k], nineteen);
        }
        Wide51(limbs)
    }};
}

impl<W: Words52> Field for Limbs51<W> {
    type Words = W;
    type Wide = Wide51<W>;

    #[inline(always)]
    fn from_limbs51(limbs: [W; 5]) -> Self {
        Self(limbs)
    }

    #[inline(always)]
    fn to_limbs51(self) -> [W; 5] {
        self.0
    }

    #[inline(always)]
    fn widen(self) -> Wide51<W> {
        Wide51(self.0)
    }

    #[inline(always)]
    fn carry(wide: Wide51<W>) -> Self {
        let mask = W::splat(MASK51);
        let [a, b, c, d, e] = wide.0;
        Self([
            a.and(mask).add_low(e.shr::<51>(), W::splat(19)),
            b.and(mask).add(a.shr::<51>()),
            c.and(mask).add(b.shr::<51>()),
            d.and(mask).add(c.shr::<51>()),
            e.and(mask).add(d.shr::<51>()),
        ])
    }

    #[inline(always)]
    fn settle(wide: Wide51<W>) -> Self {
        Self::carry(wide)
    }

    #[inline(always)]
    fn multiply(&self, other: &Self) -> Wide51<W> {
        W::outline(Product(self, other))
    }

    #[inline(always)]
    fn square(&self) -> Wide51<W> {
        W::outline(Square(self))
    }

    #[inline(always)]
    fn times(&self, factor: u64) -> Wide51<W> {
        let (a, factor) = (self.0, W::splat(factor));
        let zero = W::splat(0);
        let mut limbs = [zero.add_low(zero.add_high(a[4], factor), W::splat(38)); 5];
        for k in 1..5 {
            let high = zero.add_high(a[k - 1], factor);
            limbs[k] = high.add(high);
        }
        unroll!(i in 0..5 { limbs[i] = limbs[i].add_low(a[i], factor); });
        Wide51(limbs)
    }

    #[inline(always)]
    fn sum(one: Wide51<W>, other: Wide51<W>) -> Wide51<W> {
        let mut limbs = one.0;
        unroll!(i in 0..5 { limbs[i] = limbs[i].add(other.0[i]); });
        Wide51(limbs)
    }

    #[inline(always)]
    fn difference(one: Wide51<W>, other: Wide51<W>) -> Wide51<W> {
        let mut limbs = one.0;
        unroll!(i in 0..5 { limbs[i] = limbs[i].add(W::splat(BIAS[i])).sub(other.0[i]); });
        Wide51(limbs)
    }

    #[inline(always)]
    fn select(mask: W, one: Self, other: Self) -> Self {
        let mut limbs = other.0;
        unroll!(i in 0..5 { limbs[i] = W::select(mask, one.0[i], limbs[i]); });
        Self(limbs)
    }
}

struct Product<'a, W>(&'a Limbs51<W>, &'a Limbs51<W>);

impl<W: Words52> Step for Product<'_, W> {
    type Output = Wide51<W>;

    #[inline(always)]
    fn run(self) -> Wide51<W> {
        let (a, b) = (self.0.0, self.1.0);
        let mut halves = [W::splat(0); 10];
        for i in 0..5 {
            for j in 0..5 {
                halves[i + j + 1] = halves[i + j + 1].add_high(a[i], b[j]);
            }
        }
        columns!(halves, column, k: {
            for i in 0..5 {
                if i <= k && k - i < 5 {
                    column = column.add_low(a[i], b[k - i]);
                }
            }
        })
    }
}

/// Products of different limbs are computed once and doubled.
struct Square<'a, W>(&'a Limbs51<W>);

impl<W: Words52> Step for Square<'_, W> {
    type Output = Wide51<W>;

    #[inline(always)]
    fn run(self) -> Wide51<W> {
        let a = self.0.0;
        let mut halves = [W::splat(0); 10];
        for i in 0..5 {
            for j in i + 1..5 {
                halves[i + j + 1] = halves[i + j + 1].add_high(a[i], a[j]);
            }
        }
        for half in &mut halves[2..9] {
            *half = half.add(*half);
        }
        for i in 0..5 {
            halves[2 * i + 1] = halves[2 * i + 1].add_high(a[i], a[i]);
            for j in i + 1..5 {
                halves[i + j] = halves[i + j].add_low(a[i], a[j]);
            }
        }
        columns!(halves, column, k: {
            if k % 2 == 0 {
                column = column.add_low(a[k / 2], a[k / 2]);
            }
        })
    }
}
