//! The group of Ed25519: points of -x^2 + y^2 = 1 + d x^2 y^2, one in each lane.
//!
//! The formulas of addition are complete: no point is an exception.

use super::field::Field;
use super::table::{self, BASE, Multiples};
use crate::words::Words;

/// A point by x / z and y / z, with t = x y / z. All are products or elements.
#[derive(Clone, Copy)]
pub(super) struct Point<F: Field> {
    pub(super) x: F::Wide,
    pub(super) y: F::Wide,
    pub(super) z: F::Wide,
    t: F::Wide,
}

/// What the addition of a point needs of it: y + x, y - x, and 2 d x y, for z = 1.
struct Addend<F> {
    sum: F,
    difference: F,
    product: F,
}

impl<F: Field> Point<F> {
    /// The neutral point.
    #[inline(always)]
    pub(super) fn neutral() -> Self {
        let (zero, one) = (F::small(0).widen(), F::small(1).widen());
        Self { x: zero, y: one, z: one, t: zero }
    }

    /// The point times 2^`doublings`, which is at least one.
    #[inline(always)]
    pub(super) fn double(self, doublings: u32) -> Self {
        let Self { mut x, mut y, mut z, mut t } = self;
        for left in (0..doublings).rev() {
            let (a, b, c) = (F::carry(x), F::carry(y), F::carry(z));
            let ab = a.multiply(b);
            let (aa, bb, cc) = (a.square(), b.square(), c.square());
            let e = F::carry(F::sum(ab, ab));
            let g = F::carry(F::difference(bb, aa));
            let h = F::carry(F::sum(aa, bb));
            let f = F::carry(F::difference(F::sum(F::sum(cc, cc), aa), bb));
            (x, y, z) = (e.multiply(f), g.multiply(h), f.multiply(g));
            if left == 0 {
                // Only additions need it.
                t = e.multiply(h);
            }
        }
        Self { x, y, z, t }
    }

    /// The sum with a point, or the difference in lanes where `negative` has all bits. `double_z` is
    /// twice the product of both z.
    #[inline(always)]
    fn add(self, addend: Addend<F>, double_z: F::Wide, negative: F::Words) -> Self {
        let a = F::carry(F::difference(self.y, self.x)).multiply(addend.difference);
        let b = F::carry(F::sum(self.y, self.x)).multiply(addend.sum);
        let c = F::carry(self.t).multiply(addend.product);
        let e = F::carry(F::difference(b, a));
        let h = F::carry(F::sum(b, a));
        let (less, more) = (F::difference(double_z, c), F::sum(double_z, c));
        let (less, more) = (F::carry(less), F::carry(more));
        let (f, g) = (F::select(negative, more, less), F::select(negative, less, more));
        Self { x: e.multiply(f), y: g.multiply(h), z: f.multiply(g), t: e.multiply(h) }
    }

    /// The sum with the multiple of a table that an odd digit names: `digit`, of five bits, stands
    /// for `2 digit - 31`.
    #[inline(always)]
    fn add_multiple(self, table: &Multiples, digit: F::Words) -> Self {
        let negative = digit.shr::<4>().sub(F::Words::splat(1));
        let index = digit.xor(negative).and(F::Words::splat(15));
        let mut limbs = [[index; 5]; 3];
        unroll!(I in 0..5 {
            let (sum, difference) = (index.look_up(&table[I]), index.look_up(&table[5 + I]));
            limbs[0][I] = F::Words::select(negative, difference, sum);
            limbs[1][I] = F::Words::select(negative, sum, difference);
            limbs[2][I] = index.look_up(&table[10 + I]);
        });
        let [sum, difference, product] = limbs;
        let addend = Addend {
            sum: F::from_limbs51(sum),
            difference: F::from_limbs51(difference),
            product: F::from_limbs51(product),
        };
        self.add(addend, F::sum(self.z, self.z), negative)
    }
}

/// The scalar times the base point. Bits of `digits`, lowest word first, are 52 odd digits.
#[inline(always)]
pub(super) fn base_multiply<F: Field>(digits: [F::Words; 5]) -> Point<F> {
    let mut point = Point::neutral();
    // A table serves the digit of even place, and after five doublings that of odd place above it.
    for odd in [true, false] {
        let mut bits = digits;
        if odd {
            bits = down_5(bits);
        } else {
            point = point.double(5);
        }
        for table in &BASE {
            let digit = bits[0].and(F::Words::splat(31));
            bits = down_5(down_5(bits));
            point = point.add_multiple(table, digit);
        }
    }
    point
}

#[inline(always)]
fn down_5<W: Words>([a, b, c, d, e]: [W; 5]) -> [W; 5] {
    [
        a.shr::<5>().or(b.shl::<59>()),
        b.shr::<5>().or(c.shl::<59>()),
        c.shr::<5>().or(d.shl::<59>()),
        d.shr::<5>().or(e.shl::<59>()),
        e.shr::<5>(),
    ]
}

/// The order of the base point, lowest word first.
const ORDER: [u64; 4] =
    [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 0x1000_0000_0000_0000];

/// The `digits` odd digits of a scalar below 2^255, as [`base_multiply`] takes them.
///
/// The sum of `2 d - 31` times 32^i is `2 n - (32^digits - 1)` if n is the number with digits d. So
/// n is half of the scalar and 32^digits - 1; an even scalar is made odd by the order.
pub(super) fn odd_digits(scalar: [u64; 4], digits: u32) -> [u64; 5] {
    let even = (scalar[0] & 1).wrapping_sub(1);
    let mut words = [0; 5];
    let mut carry = 0;
    for k in 0..5 {
        let ones = u64::MAX.unbounded_shr((64 * (k as u32 + 1)).saturating_sub(5 * digits));
        let (scalar, order) = if k < 4 { (scalar[k], ORDER[k] & even) } else { (0, 0) };
        let sum = u128::from(scalar) + u128::from(order) + u128::from(ones) + carry;
        words[k] = sum as u64;
        carry = sum >> 64;
    }
    for k in 0..5 {
        let above = if k < 4 { words[k + 1] } else { 0 };
        words[k] = words[k] >> 1 | above << 63;
    }
    words
}
