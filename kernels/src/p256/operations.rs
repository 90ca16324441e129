//! The steps of a kernel, with as many jobs as it has lanes, at most eight.
//!
//! Scalars and coordinates are words, lowest first, and checked; lanes without a job hold public
//! constants. No lane has an influence on another one.

use super::constants::{self, Field, Order};
use super::group::{self, Affine, Digits, Point};
use super::inverse;
use super::number::Number;
use crate::words::Words;

/// A number for each lane.
pub(crate) type Eight = [[u64; 4]; 8];

/// The limbs of points, as a kernel's own.
#[derive(Clone, Copy)]
pub(crate) struct Points([[u64; 8]; 27]);

impl Points {
    pub(super) const fn new() -> Self {
        Self([[0; 8]; 27])
    }

    #[inline(always)]
    fn save<N: Number>(&mut self, point: &Point<N>) {
        let mut places = self.0.iter_mut();
        for coordinate in [&point.x, &point.y, &point.z] {
            for (&limb, place) in coordinate.limbs().iter().zip(&mut places) {
                *place = limb.store();
            }
        }
    }

    #[inline(always)]
    fn restore<N: Number>(&self) -> Point<N> {
        let mut coordinates = [N::zero(); 3];
        for (i, coordinate) in coordinates.iter_mut().enumerate() {
            let places = &self.0[i * N::LIMBS..(i + 1) * N::LIMBS];
            for (limb, words) in coordinate.limbs_mut().iter_mut().zip(places) {
                *limb = N::Word::load(words);
            }
        }
        let [x, y, z] = coordinates;
        Point { x, y, z }
    }
}

/// Multiples of the base point.
#[inline(always)]
pub(super) fn multiply_base<N: Number>(scalars: &Eight, out: &mut Points) {
    out.save(&group::multiply_base::<N>(&Digits::new(scalars, N::Word::LANES)));
}

/// Multiples of points. `R` is `N`, or the same number for what is rare.
#[inline(always)]
pub(super) fn multiply<N: Number, R: Number<Word = N::Word>>(
    scalars: &Eight,
    points: &[Eight; 2],
    out: &mut Points,
) {
    let digits = Digits::new(scalars, N::Word::LANES);
    let point = Affine { x: R::load(&points[0]).enter(), y: R::load(&points[1]).enter() };
    out.save(&group::multiply::<N, R>(&digits, &point));
}

/// The coordinates of points that are not the identity.
#[inline(always)]
pub(super) fn coordinates<N: Number>(points: &Points, out: &mut [Eight; 2]) {
    let point = points.restore::<N>();
    let inverse = inverse::of::<N, Field>(&point.z);
    let square = inverse.square();
    out[0] = point.x.multiply(&square).leave().store();
    out[1] = point.y.multiply(&square.multiply(&inverse)).leave().store();
}

/// The factors of quotients modulo the order. All are less than 2^256.
pub(crate) struct Quotients {
    pub(super) term: Eight,
    pub(super) factors: [Eight; 2],
    pub(super) divisor: Eight,
}

/// (`term` + the product of the `factors`) / `divisor` modulo the order, and the first factor
/// divided by it.
#[inline(always)]
pub(super) fn divide<N: Number>(numbers: &Quotients, out: &mut [Eight; 2]) {
    let inverse = inverse::of::<N, Order>(&N::load(&numbers.divisor).enter_order());
    let factor = N::load(&numbers.factors[0]).enter_order();
    let product = factor.multiply_order(&N::load(&numbers.factors[1]));
    let sum = product.add(&N::load(&numbers.term)).carry().enter_order();
    out[0] = sum.multiply_order(&inverse).leave_order().store();
    out[1] = factor.multiply_order(&inverse).leave_order().store();
}

/// The sums whose first coordinates signatures give modulo the order.
pub(crate) struct Sums {
    pub(super) own: Points,
    pub(super) base: Points,
    /// All bits where the multiple of the base point is none.
    pub(super) without_base: [u64; 8],
    /// The first coordinate is one of these.
    pub(super) coordinates: [Eight; 2],
}

/// Whether the sums of points have their coordinates. All is public.
#[inline(always)]
pub(super) fn compare<N: Number>(sums: &Sums, verdicts: &mut [bool; 8]) {
    let own = sums.own.restore::<N>();
    let sum = own.add_any(&sums.base.restore());
    let sum = Point::select(N::Word::load(&sums.without_base), &own, &sum);
    let [one, other] = &sums.coordinates;
    let same = has_x(&sum, &N::load(one)).or(has_x(&sum, &N::load(other)));
    let valid = N::Word::select(sum.z.is_zero(), N::Word::splat(0), same).store();
    for (verdict, valid) in verdicts.iter_mut().zip(valid) {
        *verdict = valid != 0;
    }
}

/// All bits where a point has this first coordinate, or is the identity.
#[inline(always)]
pub(super) fn has_x<N: Number>(point: &Point<N>, x: &N) -> N::Word {
    let minus_x = N::offset::<Field, 2, 1>().subtract(&point.x);
    minus_x.plus_product(&x.enter(), &point.z.square()).is_zero()
}

/// y^2 for a point with this x: x^3 - 3 x + b, in Montgomery's form.
#[inline(always)]
fn y_squared<N: Number>(x: &N) -> N {
    let triple = x.double().add(x).carry();
    let rest = N::offset::<Field, 4, 1>().subtract(&triple);
    let rest = rest.add(&N::constant(&constants::B).enter()).carry();
    rest.plus_product(&x.square(), x)
}

/// Whether the curve's equation holds. Only that is revealed.
pub(super) fn is_on_curve<N: Number>(point: &[[u64; 4]; 2]) -> bool {
    let [x, y] = point.map(|coordinate| N::load(&[coordinate; 8]));
    curve_difference(&x, &y).is_zero().store()[0] != 0
}

/// y^2 - x^3 + 3 x - b, in Montgomery's form.
#[inline(always)]
pub(super) fn curve_difference<N: Number>(x: &N, y: &N) -> N {
    let minus = N::offset::<Field, 8, 1>().subtract(&y_squared(&x.enter()));
    let y = y.enter();
    minus.plus_product(&y, &y)
}

/// The only candidates for y are this number and its negative.
pub(super) fn square_root_for<N: Number>(x: &[u64; 4]) -> [u64; 4] {
    // (p + 1) / 4, as p is 3 modulo 4.
    const EXPONENT: [u64; 4] = [0, 1 << 30, 1 << 62, (0xffff_ffff_0000_0001 >> 2)];
    let square = y_squared(&N::load(&[*x; 8]).enter());
    inverse::power(&square, &EXPONENT).leave().store()[0]
}
