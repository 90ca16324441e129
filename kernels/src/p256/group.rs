//! Points of the curve side by side.
//!
//! Scalars have digits of five bits that are odd and may be negative: d = 2 w - 31, where w is a
//! digit of (2^260 - 1 + k) / 2. So no digit is zero, and an odd k < 2^256 has the digit 1 at the
//! top. An even k is replaced by n - k, which is odd.
//!
//! No addition of these schedules meets the identity, a point twice, or opposites, whatever the
//! scalar in 1..n is; [`multiply_base`] and [`multiply`] say why. So formulas need no special
//! cases. Only the last sum of verification, of two independent points, has them.
//!
//! Bounds are multiples of the field's prime, for tight numbers: coordinates of sums are below
//! x 1.01, y 3, z 2, and those of tables below 5.

use super::constants::{self, Field};
use super::number::Number;
use super::table;
use crate::words::{Step, Words};

/// A point (x / z^2, y / z^3).
#[derive(Clone, Copy)]
pub(super) struct Point<N> {
    pub(super) x: N,
    pub(super) y: N,
    pub(super) z: N,
}

/// A point (x, y).
#[derive(Clone, Copy)]
pub(super) struct Affine<N> {
    pub(super) x: N,
    pub(super) y: N,
}

/// Digits of a scalar.
pub(super) const DIGITS: usize = 52;

/// The digits w of scalars, and which of the scalars were negated because they are even.
pub(super) struct Digits {
    of_lanes: [[u64; 8]; DIGITS],
    /// All bits for a negated one.
    negated: [u64; 8],
}

impl Digits {
    /// The digits of the first `lanes` scalars, which are in 1..n.
    ///
    /// Not inlined into functions with vectors, where the loops would become scatters and gathers.
    #[inline(never)]
    pub(super) fn new(scalars: &[[u64; 4]; 8], lanes: usize) -> Self {
        let mut digits = Self { of_lanes: [[0; 8]; DIGITS], negated: [0; 8] };
        for (lane, scalar) in scalars.iter().enumerate().take(lanes) {
            let even = crate::opaque::word(scalar[0] & 1).wrapping_sub(1);
            digits.negated[lane] = even;
            let (other, _) = constants::subtract(&constants::N, scalar);
            let mut odd = [0; 4];
            for (i, word) in odd.iter_mut().enumerate() {
                *word = u64::select(even, other[i], scalar[i]);
            }
            // Half of it, where the highest bit is then set, too.
            let mut half = [0; 5];
            for i in 0..4 {
                half[i] = odd[i] >> 1 | odd.get(i + 1).map_or(0, |above| above << 63);
            }
            half[4] = 1 << 3;
            for (place, of_lanes) in of_lanes_from_lowest(&mut digits.of_lanes) {
                let (word, bit) = (5 * place / 64, 5 * place % 64);
                let mut digit = half[word] >> bit;
                if bit > 59 {
                    digit |= half[word + 1] << (64 - bit);
                }
                of_lanes[lane] = digit & 31;
            }
        }
        digits
    }

    /// The places in a row of odd multiples, and which multiples are to be subtracted.
    #[inline(always)]
    fn at<W: Words>(&self, place: usize) -> (W, W) {
        let digit = W::load(&self.of_lanes[place]);
        let negative = digit.shr::<4>().sub(W::splat(1));
        (digit.xor(negative).and(W::splat(15)), negative)
    }
}

fn of_lanes_from_lowest(
    digits: &mut [[u64; 8]; DIGITS],
) -> impl Iterator<Item = (usize, &mut [u64; 8])> {
    digits.iter_mut().enumerate()
}

impl Drop for Digits {
    #[inline]
    fn drop(&mut self) {
        crate::wipe::words(self.of_lanes.as_flattened_mut());
    }
}

/// A sum of points in progress, and the sign of the last digit: with it, `point` is the negative of
/// the sum. So a digit's sign costs no negation of its point.
#[derive(Clone, Copy)]
pub(super) struct Sum<N: Number> {
    pub(super) point: Point<N>,
    pub(super) negative: N::Word,
}

impl<N: Number> Sum<N> {
    #[inline(always)]
    fn new(x: N, y: N) -> Self {
        Self { point: Point { x, y, z: N::one() }, negative: N::Word::splat(0) }
    }

    /// Adds a point, or subtracts it. It is neither the sum nor its negative.
    #[inline(always)]
    pub(super) fn add(&mut self, other: &Affine<N>, negative: N::Word) {
        let Point { x, y, z } = self.point;
        let turned = self.negative.xor(negative);
        self.negative = negative;
        let zz = z.square();
        let zzz = z.multiply(&zz);
        let h = minus::<N, 2, 1>(&x).plus_product(&other.x, &zz);
        let minus_y = N::select(turned, &y, &minus::<N, 3, 1>(&y));
        let r = minus_y.plus_product(&other.y, &zzz);
        let minus_y = minus_y.carry();
        let hh = h.square();
        let hhh = h.multiply(&hh);
        let v = x.multiply(&hh);
        self.point.z = z.multiply(&h);
        let rest = N::offset::<Field, 4, 4>().subtract(&hhh).subtract(&v.double());
        self.point.x = rest.plus_square(&r);
        let t = v.add(&minus::<N, 2, 1>(&self.point.x)).carry();
        self.point.y = N::sum_of_products([&r, &t], [&minus_y, &hhh]);
    }

    /// The sum, or its negative where the mask has all bits.
    #[inline(always)]
    pub(super) fn finish(self, negated: N::Word) -> Point<N> {
        let Point { x, y, z } = self.point;
        let y = N::select(self.negative.xor(negated), &minus::<N, 3, 1>(&y), &y).carry();
        Point { x, y, z }
    }
}

/// A multiple of the prime less a tight number.
#[inline(always)]
fn minus<N: Number, const TIMES: u64, const MORE: u64>(number: &N) -> N {
    N::offset::<Field, TIMES, MORE>().subtract(number)
}

impl<N: Number> Point<N> {
    /// Doubles it so many times. `true_z` is its true z where it is on an isomorphic curve.
    ///
    /// Algorithm 3.23 of "Guide to elliptic curve cryptography" (Hankerson, Menezes, Vanstone).
    #[inline(always)]
    pub(super) fn double(&mut self, times: usize, true_z: &N) {
        if N::Word::LANES == 1 || N::IS_RARE {
            *self = self.doubled(times, true_z);
        } else {
            // Of a copy: a place that a function has the address of would not stay in registers.
            let point = *self;
            *self = N::Word::outline_long(Double(&point, times, true_z));
        }
    }

    #[inline(always)]
    fn doubled(self, times: usize, true_z: &N) -> Self {
        let Self { mut x, y, mut z } = self;
        let mut y = y.double().carry();
        let mut w = true_z.square().square();
        for left in (0..times).rev() {
            let yy = y.square();
            let d = minus::<N, 2, 2>(&w).plus_square(&x);
            let a = d.add(&d.double()).carry();
            let b = x.multiply(&yy).double();
            z = z.multiply(&y);
            x = minus::<N, 3, 4>(&b).plus_square(&a);
            let t = b.add(&minus::<N, 3, 2>(&x.double())).carry();
            let yyyy = yy.square();
            y = minus::<N, 2, 1>(&yyyy).plus_product(&a, &t);
            if left > 0 {
                w = w.multiply(&yyyy);
            }
        }
        Self { x, y: y.half(), z }
    }

    /// The sum of any two points, where the identity has z = 0. All cases are computed.
    #[inline(always)]
    pub(super) fn add_any(&self, other: &Self) -> Self {
        let (z1z1, z2z2) = (self.z.square(), other.z.square());
        let u1 = self.x.multiply(&z2z2);
        let s1 = self.y.multiply(&other.z).multiply(&z2z2);
        let h = minus::<N, 3, 1>(&u1).plus_product(&other.x, &z1z1);
        let s2 = other.y.multiply(&self.z);
        let r = minus::<N, 3, 1>(&s1).plus_product(&s2, &z1z1);
        let hh = h.square();
        let hhh = h.multiply(&hh);
        let v = u1.multiply(&hh);
        let rest = N::offset::<Field, 6, 4>().subtract(&hhh).subtract(&v.double());
        let x = rest.plus_square(&r);
        let t = v.add(&minus::<N, 2, 1>(&x)).carry();
        let rest = minus::<N, 3, 1>(&s1.multiply(&hhh));
        let y = rest.plus_product(&r, &t);
        let sum = Self { x, y, z: self.z.multiply(&other.z).multiply(&h) };

        let mut twice = *self;
        twice.double(1, &self.z);
        let same = h.is_zero().and(r.is_zero());
        let sum = Self::select(same, &twice, &sum);
        let sum = Self::select(self.z.is_zero(), other, &sum);
        Self::select(other.z.is_zero(), self, &sum)
    }

    #[inline(always)]
    pub(super) fn select(mask: N::Word, one: &Self, other: &Self) -> Self {
        Self {
            x: N::select(mask, &one.x, &other.x),
            y: N::select(mask, &one.y, &other.y),
            z: N::select(mask, &one.z, &other.z),
        }
    }
}

struct Double<'a, N>(&'a Point<N>, usize, &'a N);

impl<N: Number> Step for Double<'_, N> {
    type Output = Point<N>;

    #[inline(always)]
    fn run(self) -> Point<N> {
        self.0.doubled(self.1, self.2)
    }
}

/// Multiples of the base point, by scalars in 1..n.
///
/// The digits at odd places are added first, from the highest down: the sum is then a multiple of
/// 2^10 times the place, and so greater than what is added. After five doublings it is 32 times an
/// odd number, and all that is added, but the last, is a multiple of 2^10; so sum and difference
/// are 32 times an odd number and, as they are less than 32 n, no multiples of n. The last sum is
/// the odd scalar k. The last difference is k - 2 d, which is odd and not zero; were it n, then
/// d would be 15 by n modulo 64, and k greater than n.
#[inline(always)]
pub(super) fn multiply_base<N: Number>(digits: &Digits) -> Point<N> {
    // The highest digit is 1.
    let [x, y] = table::entry::<N>(DIGITS / 2 - 1, N::Word::splat(0));
    let mut sum = Sum::new(x, y);
    for step in 0..DIGITS - 1 {
        if step == DIGITS / 2 - 1 {
            let z = sum.point.z;
            sum.point.double(5, &z);
        }
        let place =
            if step < DIGITS / 2 - 1 { DIGITS - 3 - 2 * step } else { 2 * DIGITS - 4 - 2 * step };
        let (index, negative) = digits.at(place);
        let [x, y] = table::entry(place / 2, index);
        sum.add(&Affine { x, y }, negative);
    }
    sum.finish(N::Word::load(&digits.negated))
}

/// Multiples of points by scalars in 1..n.
///
/// The sum is first the point. Then it is 32 times as much, to which an odd multiple below 32 is
/// added; neither sum nor difference is zero. It is less than n before the last digit; for that
/// the reason at [`multiply_base`] holds.
#[inline(always)]
pub(super) fn multiply<N: Number, R: Number<Word = N::Word>>(
    digits: &Digits,
    point: &Affine<R>,
) -> Point<N> {
    let (table, z) = odd_multiples::<N, R>(point);
    let mut sum = Sum::new(table[0].x, table[0].y);
    for place in (0..DIGITS - 1).rev() {
        let true_z = sum.point.z.multiply(&z);
        sum.point.double(5, &true_z);
        let (index, negative) = digits.at(place);
        sum.add(&look_up(&table, index), negative);
    }
    let mut point = sum.finish(N::Word::load(&digits.negated));
    point.z = point.z.multiply(&z);
    point
}

/// The multiples 1, 3, ... 31 of points, all with the same z, which comes second: so they are
/// affine points of an isomorphic curve.
///
/// The additions are those of Meloni ("New point addition formulae for ECC applications", 2007),
/// of two points with the same z.
#[inline(always)]
pub(super) fn odd_multiples<N: Number, R: Number<Word = N::Word>>(
    point: &Affine<R>,
) -> ([Affine<N>; 16], N) {
    let Affine { x, y } = *point;
    // Twice the point, and the point, with z = 2 y.
    let mut z = y.double().carry();
    let yy = z.square();
    let s = x.multiply(&yy);
    let d = minus::<R, 2, 2>(&R::one()).plus_square(&x);
    let m = d.add(&d.double()).carry();
    let e = yy.square().half();
    let twice_x = minus::<R, 3, 4>(&s.double()).plus_square(&m);
    let t = s.add(&minus::<R, 2, 1>(&twice_x)).carry();
    let twice_y = minus::<R, 2, 1>(&e).plus_product(&m, &t);
    let mut twice = Affine::<N> { x: twice_x.like(), y: twice_y.like() };
    let mut table = [Affine::<N> { x: s.like(), y: e.like() }; 16];
    let mut steps = [z.like::<N>(); 15];
    for i in 0..15 {
        let last = table[i];
        let h = twice.x.add(&minus::<N, 2, 1>(&last.x)).carry();
        let r = twice.y.add(&minus::<N, 5, 1>(&last.y)).carry();
        let hh = h.square();
        let v = twice.x.multiply(&hh);
        let u = last.x.multiply(&hh);
        let hhh = v.add(&minus::<N, 2, 1>(&u)).carry();
        let w = twice.y.multiply(&hhh);
        let rest = N::offset::<Field, 4, 4>().subtract(&u).subtract(&v);
        let x = rest.plus_square(&r);
        let t = v.add(&minus::<N, 2, 1>(&x)).carry();
        let y = minus::<N, 2, 1>(&w).plus_product(&r, &t);
        twice = Affine { x: v, y: w };
        table[i + 1] = Affine { x, y };
        steps[i] = h;
    }
    let mut factor: R = steps[14].like();
    for i in (0..15).rev() {
        let square = factor.square();
        table[i].x = table[i].x.like::<R>().multiply(&square).like();
        table[i].y = table[i].y.like::<R>().multiply(&square.multiply(&factor)).like();
        let next = if i > 0 { steps[i - 1].like() } else { z };
        factor = factor.multiply(&next);
    }
    z = factor;
    (table, z.like())
}

/// An entry of each lane's table. All are read.
#[inline(always)]
pub(super) fn look_up<N: Number>(table: &[Affine<N>; 16], index: N::Word) -> Affine<N> {
    let mut masks = [index, index.shr::<1>(), index.shr::<2>(), index.shr::<3>()];
    for mask in &mut masks {
        *mask = N::Word::splat(0).sub(mask.and(N::Word::splat(1)));
    }
    let mut entry = Affine { x: N::zero(), y: N::zero() };
    let mut words = [N::Word::splat(0); 16];
    let mut place = 0;
    // The compiler does not know how often the loop runs, so that it stays one.
    while crate::opaque::word(u64::from(place < N::LIMBS)) == 1 {
        let i = place.min(N::LIMBS - 1);
        for (word, entry) in words.iter_mut().zip(table) {
            *word = entry.x.limbs()[i];
        }
        entry.x.limbs_mut()[i] = choose(&masks, &words);
        for (word, entry) in words.iter_mut().zip(table) {
            *word = entry.y.limbs()[i];
        }
        entry.y.limbs_mut()[i] = choose(&masks, &words);
        place += 1;
    }
    entry
}

/// One of 16 words, by the bits of its place as masks.
#[inline(always)]
fn choose<W: Words>(masks: &[W; 4], words: &[W; 16]) -> W {
    let mut words = *words;
    for (level, count) in [(0, 8), (1, 4), (2, 2), (3, 1)] {
        for i in 0..count {
            words[i] = W::select(masks[level], words[2 * i + 1], words[2 * i]);
        }
    }
    words[0]
}
