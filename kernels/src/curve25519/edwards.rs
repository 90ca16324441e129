//! The group of Ed25519: points of -x^2 + y^2 = 1 + d x^2 y^2, one in each lane.
//!
//! The formulas of addition are complete: no point is an exception.

use super::digits::{COUNT, Schedule};
use super::field::{Field, inverse, root_powers};
use super::table::{BASE, D, D2, Multiples};
use crate::words::{Step, Words};

/// A point by x / z and y / z, with t = x y / z. All are products or elements.
#[derive(Clone, Copy)]
pub(super) struct Point<F: Field> {
    pub(super) x: F::Wide,
    pub(super) y: F::Wide,
    pub(super) z: F::Wide,
    t: F::Wide,
}

impl<F: Field> Point<F> {
    /// The neutral point.
    #[inline(always)]
    pub(super) fn neutral() -> Self {
        let (zero, one) = (F::small(0).widen(), F::small(1).widen());
        Self { x: zero, y: one, z: one, t: zero }
    }

    /// Makes it 2^`doublings` times the point; they are at least one.
    #[inline(always)]
    pub(super) fn double(&mut self, doublings: u32) {
        F::Words::outline_long(Double(self, doublings));
    }

    #[inline(always)]
    fn double_inline(&mut self, doublings: u32) {
        let Self { mut x, mut y, mut z, mut t } = *self;
        for left in (0..doublings).rev() {
            let (a, b, c) = (F::settle(x), F::settle(y), F::settle(z));
            let (ab, aa, bb, cc) = (a.multiply(&b), a.square(), b.square(), c.square());
            let e = F::settle(F::sum(ab, ab));
            let g = F::settle(F::difference(bb, aa));
            let h = F::settle(F::sum(aa, bb));
            let f = F::carry(F::difference(F::sum(F::sum(cc, cc), aa), bb));
            (x, y, z) = (e.multiply(&f), g.multiply(&h), f.multiply(&g));
            // Only additions need t.
            if left == 0 {
                t = e.multiply(&h);
            }
        }
        *self = Self { x, y, z, t };
    }

    /// The point of coordinates x and y.
    #[inline(always)]
    fn affine(x: F, y: F) -> Self {
        Self { x: x.widen(), y: y.widen(), z: F::small(1).widen(), t: x.multiply(&y) }
    }

    /// The encoding: y, and the lowest bit of x above it.
    #[inline(always)]
    pub(super) fn encode(self) -> [F::Words; 4] {
        let inverted = inverse(F::settle(self.z));
        let [x, ..] = F::settle(self.x).product(&inverted).to_words();
        let [a, b, c, d] = F::settle(self.y).product(&inverted).to_words();
        [a, b, c, d.or(x.shl::<63>())]
    }

    /// All bits in lanes where the point is that of coordinates x and y.
    #[inline(always)]
    fn is(self, x: F, y: F) -> F::Words {
        let z = F::settle(self.z);
        F::equal(self.x, z.multiply(&x)).and(F::equal(self.y, z.multiply(&y)))
    }

    /// The factors of y - x, y + x and t in a sum.
    #[inline(always)]
    fn factors(self) -> [F; 3] {
        [
            F::settle(F::difference(self.y, self.x)),
            F::settle(F::sum(self.y, self.x)),
            F::settle(self.t),
        ]
    }

    /// The sum with a point, or the difference in lanes where `negative` has all bits. Of the
    /// products of both points' factors it takes the first two; `less` and `more` are twice the
    /// product of both z, minus and plus the third.
    #[inline(always)]
    fn finish([a, b]: [F::Wide; 2], [less, more]: [F; 2], negative: F::Words) -> Self {
        let e = F::settle(F::difference(b, a));
        let h = F::settle(F::sum(b, a));
        let (f, g) = (F::select(negative, more, less), F::select(negative, less, more));
        Self { x: e.multiply(&f), y: g.multiply(&h), z: f.multiply(&g), t: e.multiply(&h) }
    }

    /// Adds a multiple of each table, from every second digit. A digit has five bits, the lowest
    /// ones first, and stands for `2 digit - 31`.
    #[inline(always)]
    fn add_multiples(&mut self, tables: &[Multiples], digits: [F::Words; 5]) {
        F::Words::outline_long(AddMultiples(self, tables, digits));
    }

    #[inline(always)]
    fn plus_multiple(self, table: &Multiples, digit: F::Words) -> Self {
        let negative = digit.shr::<4>().sub(F::Words::splat(1));
        let index = digit.xor(negative).and(F::Words::splat(15));
        let mut limbs = [index; 15];
        for (limb, row) in limbs.iter_mut().zip(table) {
            *limb = index.look_up(row);
        }
        let [a, b, c, d, e, f, g, h, i, j, product @ ..] = limbs;
        let (sum, difference) = ([a, b, c, d, e], [f, g, h, i, j]);
        let (mut one, mut other) = (sum, difference);
        unroll!(i in 0..5 {
            one[i] = F::Words::select(negative, sum[i], difference[i]);
            other[i] = F::Words::select(negative, difference[i], sum[i]);
        });
        let [a, b, c] = self.factors();
        let a = a.multiply(&F::from_limbs51(one));
        let b = b.multiply(&F::from_limbs51(other));
        let c = c.multiply(&F::from_limbs51(product));
        let double_z = F::sum(self.z, self.z);
        let ends = [F::carry(F::difference(double_z, c)), F::carry(F::sum(double_z, c))];
        Self::finish([a, b], ends, negative)
    }
}

struct Double<'a, F: Field>(&'a mut Point<F>, u32);

impl<F: Field> Step for Double<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.double_inline(self.1);
    }
}

struct AddMultiples<'a, F: Field>(&'a mut Point<F>, &'a [Multiples], [F::Words; 5]);

impl<F: Field> Step for AddMultiples<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(point, tables, mut bits) = self;
        let mut sum = *point;
        for table in tables {
            let digit = bits[0].and(F::Words::splat(31));
            bits = down_5(down_5(bits));
            sum = sum.plus_multiple(table, digit);
        }
        *point = sum;
    }
}

struct AddRow<'a, F: Field>(&'a mut Point<F>, &'a [[u64; 8]; 20], F::Words);

impl<F: Field> Step for AddRow<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        *self.0 = self.0.plus_row(self.1, self.2);
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
            point.double(5);
        }
        point.add_multiples(&BASE, bits);
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

/// The points of N encodings in each lane (RFC 8032, section 5.1.3): coordinates x and y, and all
/// bits where the encoding is valid. Others have any coordinates.
#[inline(always)]
fn decode<F: Field, const N: usize>(encodings: [[F::Words; 4]; N]) -> [(F, F, F::Words); N] {
    let one = F::small(1);
    let mut points = [(one, one, F::Words::splat(0)); N];
    let mut bases = [one; N];
    let mut parts = [(one, one, one); N];
    for n in 0..N {
        let y = F::from_words(encodings[n]);
        let yy = y.squared();
        let u = F::carry(F::difference(yy.widen(), one.widen()));
        let v = F::carry(F::sum(yy.multiply(&F::constant(D)), one.widen()));
        let v2 = v.squared();
        let uv3 = u.product(&v).product(&v2);
        parts[n] = (u, v, uv3);
        bases[n] = uv3.product(&v2.squared());
        points[n].1 = y;
    }
    let powers = root_powers(bases);
    for n in 0..N {
        let (u, v, uv3) = parts[n];
        // The square root of u / v, if that is a square; or else of minus it, times a root of -1.
        let root = uv3.product(&powers[n]);
        let check = v.product(&root.squared());
        let is_root = F::equal(check.widen(), u.widen());
        let is_other = F::equal(check.widen(), u.negative().widen());
        let x = F::select(is_root, root, root.product(&F::constant(MINUS_ONE_ROOT)));
        let [a, b, c, d] = x.to_words();
        let x_is_zero = a.or(b).or(c.or(d)).is_zero();
        let zero = F::Words::splat(0);
        let sign = encodings[n][3].shr_signed::<63>();
        let is_odd = zero.sub(a.and(F::Words::splat(1)));
        let x = F::select(sign.xor(is_odd), x.negative(), x);
        // The encoding of y is that of the number less than the modulus.
        let [a, b, c, d] = points[n].1.to_words();
        let [e, f, g, h] = encodings[n];
        let h = h.and(F::Words::splat(u64::MAX >> 1));
        let difference = a.xor(e).or(b.xor(f)).or(c.xor(g).or(d.xor(h)));
        let refused = x_is_zero.and(sign).or(difference.is_zero().xor(F::Words::splat(u64::MAX)));
        let valid = is_root.or(is_other).and(refused.is_zero());
        points[n] = (x, points[n].1, valid);
    }
    points
}

/// A square root of -1.
const MINUS_ONE_ROOT: [u64; 5] = [
    0x6_1b27_4a0e_a0b0,
    0x0_d5a5_fc8f_189d,
    0x7_ef5e_9cbd_0c60,
    0x7_8595_a680_4c9e,
    0x2_b832_4804_fc1d,
];

/// The odd multiples 1 to 31 of a point of each lane, and the neutral point: y + x, y - x, 2 d t
/// and 2 z, five limbs each. They are public.
type KeyMultiples = [[[u64; 8]; 20]; 17];

#[inline(always)]
fn to_row<F: Field>(numbers: [F; 4]) -> [[u64; 8]; 20] {
    let mut row = [[0; 8]; 20];
    for (limbs, number) in row.chunks_exact_mut(5).zip(numbers) {
        let [a, b, c, d, e] = number.to_limbs51();
        limbs.copy_from_slice(&[a.store(), b.store(), c.store(), d.store(), e.store()]);
    }
    row
}

#[inline(always)]
fn from_row<F: Field>(row: &[[u64; 8]; 20]) -> [F; 4] {
    let number = |i: usize| -> [&[u64; 8]; 5] {
        [&row[i], &row[i + 1], &row[i + 2], &row[i + 3], &row[i + 4]]
    };
    let mut numbers = [F::small(0); 4];
    for (k, element) in numbers.iter_mut().enumerate() {
        let [a, b, c, d, e] = number(5 * k);
        let load = F::Words::load;
        *element = F::from_limbs51([load(a), load(b), load(c), load(d), load(e)]);
    }
    numbers
}

impl<F: Field> Point<F> {
    /// The row of a table.
    #[inline(always)]
    fn row(self) -> [[u64; 8]; 20] {
        let d2 = F::constant(D2);
        to_row([
            F::carry(F::sum(self.y, self.x)),
            F::carry(F::difference(self.y, self.x)),
            F::settle(self.t).product(&d2),
            F::carry(F::sum(self.z, self.z)),
        ])
    }

    /// Adds the point of a row, or subtracts it in lanes where `negative` has all bits.
    #[inline(always)]
    fn add_row(&mut self, row: &[[u64; 8]; 20], negative: F::Words) {
        F::Words::outline_long(AddRow(self, row, negative));
    }

    #[inline(always)]
    fn plus_row(self, row: &[[u64; 8]; 20], negative: F::Words) -> Self {
        let [sum, difference, product, double_z] = from_row::<F>(row);
        let [a, b, c] = self.factors();
        let a = a.multiply(&F::select(negative, sum, difference));
        let b = b.multiply(&F::select(negative, difference, sum));
        let c = c.multiply(&product);
        let double_z = F::settle(self.z).multiply(&double_z);
        let ends = [F::settle(F::difference(double_z, c)), F::settle(F::sum(double_z, c))];
        Self::finish([a, b], ends, negative)
    }
}

/// All bits in lanes where the signature's point is the base point times one scalar minus the key
/// times the other, and both encodings are valid. Everything is public.
#[inline(always)]
pub(super) fn verify<F: Field>(
    keys: [F::Words; 4],
    points: [F::Words; 4],
    schedule: &Schedule,
) -> F::Words {
    let [(x, y, key_is_valid), (point_x, point_y, point_is_valid)] = decode::<F, 2>([keys, points]);
    let table = multiples(x.negative(), y);
    let mut sum = Point::<F>::neutral();
    for step in 0..=COUNT {
        if step > 0 && step < COUNT {
            sum.double(5);
        }
        let digits = &schedule.key[step];
        let mut row = [[0; 8]; 20];
        let mut negative = [0; 8];
        for lane in 0..F::Words::LANES {
            let digit = digits[lane];
            let index = if digit < 16 { 15 - digit } else { digit - 16 };
            negative[lane] = if digit < 16 { u64::MAX } else { 0 };
            for (to, from) in row.iter_mut().zip(&table[usize::from(index)]) {
                to[lane] = from[lane];
            }
        }
        sum.add_row(&row, F::Words::load(&negative));
        if step < COUNT {
            let mut digits = [0; 8];
            for (word, &digit) in digits.iter_mut().zip(&schedule.base[step]) {
                *word = u64::from(digit);
            }
            sum.add_multiples(&BASE[..1], [F::Words::load(&digits); 5]);
        }
    }
    key_is_valid.and(point_is_valid).and(sum.is(point_x, point_y))
}

/// The table of points of coordinates x and y.
#[inline(always)]
fn multiples<F: Field>(x: F, y: F) -> KeyMultiples {
    let mut table: KeyMultiples = [[[0; 8]; 20]; 17];
    let [zero, one, two] = [F::small(0), F::small(1), F::small(2)];
    let mut addend = to_row([one, one, zero, two]);
    table[16] = addend;
    let mut multiple = Point::affine(x, y);
    // The point and nothing; the point and itself; then each multiple and twice the point.
    for step in 0..17 {
        let mut sum = multiple;
        sum.add_row(&addend, F::Words::splat(0));
        let row = sum.row();
        if step < 2 {
            addend = row;
        } else {
            multiple = sum;
        }
        if step != 1 {
            table[if step == 0 { 0 } else { step - 1 }] = row;
        }
    }
    table
}
