//! What a kernel of a level does with as many jobs as it has lanes, at most eight.
//!
//! Scalars and coordinates are words, lowest first, and checked; lanes without a job hold public
//! constants. No lane has an influence on another one.

use super::constants;
use super::group::{self, Affine, Digits, Point};
use super::inverse;
use super::number::Number;
use crate::words::Words;

/// A number for each lane.
pub(crate) type Eight = [[u64; 4]; 8];

/// Multiples of the base point: their two coordinates.
#[inline(always)]
pub(super) fn multiply_base<N: Number>(scalars: &Eight, out: &mut [Eight; 2]) {
    let point = group::multiply_base::<N>(&Digits::new(scalars, N::Word::LANES));
    let inverse = inverse::of_field(&point.z);
    let square = inverse.square();
    out[0] = point.x.multiply(&square).leave().store();
    out[1] = point.y.multiply(&square.multiply(&inverse)).leave().store();
}

/// Multiples of points: their first coordinates.
#[inline(always)]
pub(super) fn multiply<N: Number>(scalars: &Eight, points: &[Eight; 2], out: &mut Eight) {
    let point = multiple::<N>(scalars, points);
    let square = inverse::of_field(&point.z).square();
    *out = point.x.multiply(&square).leave().store();
}

#[inline(always)]
fn multiple<N: Number>(scalars: &Eight, points: &[Eight; 2]) -> Point<N> {
    let digits = Digits::new(scalars, N::Word::LANES);
    let point = Affine { x: N::load(&points[0]).enter(), y: N::load(&points[1]).enter() };
    group::multiply(&digits, &point)
}

/// The numbers that signatures are made of.
pub(crate) struct Signing {
    pub(super) secrets: Eight,
    pub(super) digests: Eight,
    pub(super) nonces: Eight,
}

/// Signatures: r and s, either of which may be zero.
#[inline(always)]
pub(super) fn sign<N: Number>(jobs: &Signing, out: &mut [Eight; 2]) {
    let point = group::multiply_base::<N>(&Digits::new(&jobs.nonces, N::Word::LANES));
    let square = inverse::of_field(&point.z).square();
    let x = point.x.multiply(&square).leave();
    let r = x.canonical::<constants::Order>();
    let inverse = inverse::of_order(&N::load(&jobs.nonces).enter_order());
    let product = r.multiply_order(&N::load(&jobs.secrets).enter_order());
    let sum = product.add(&N::load(&jobs.digests)).carry();
    let s = sum.enter_order().multiply_order(&inverse).leave_order();
    *out = [r.store(), s.store()];
}

/// The numbers that signatures are verified by.
pub(crate) struct Verifying {
    pub(super) keys: [Eight; 2],
    pub(super) digests: Eight,
    /// r and s, in 1..n.
    pub(super) signatures: [Eight; 2],
}

/// Whether the signatures are valid. All is public.
#[inline(always)]
pub(super) fn verify<N: Number>(jobs: &Verifying, verdicts: &mut [bool; 8]) {
    let [r, s] = &jobs.signatures;
    let inverse = inverse::of_order(&N::load(s).enter_order());
    let quotient = |number: &Eight| {
        N::load(number).enter_order().multiply_order(&inverse).leave_order().store()
    };
    let (mut u1, u2) = (quotient(&jobs.digests), quotient(r));
    // A digest of zero asks for no multiple of the base point.
    let mut none = [0; 8];
    for (none, scalar) in none.iter_mut().zip(&mut u1) {
        if *scalar == [0; 4] {
            (*none, *scalar) = (u64::MAX, [1, 0, 0, 0]);
        }
    }
    let own = multiple::<N>(&u2, &jobs.keys);
    let base = group::multiply_base::<N>(&Digits::new(&u1, N::Word::LANES));
    let sum = own.add_any(&base);
    let sum = Point::select(N::Word::load(&none), &own, &sum);

    // The coordinate may be r or r + n, where that is less than the prime.
    let mut other = *r;
    for number in &mut other {
        let (rest, _) = constants::subtract(&constants::P, &constants::N);
        if constants::subtract(number, &rest).1 {
            let (minus_n, _) = constants::subtract(&[0; 4], &constants::N);
            (*number, _) = constants::subtract(number, &minus_n);
        }
    }
    let same = has_x(&sum, &N::load(r)).or(has_x(&sum, &N::load(&other)));
    let valid = N::Word::select(sum.z.is_zero(), N::Word::splat(0), same).store();
    for (verdict, valid) in verdicts.iter_mut().zip(valid) {
        *verdict = valid != 0;
    }
}

/// All bits where a point has this first coordinate, or is the identity.
#[inline(always)]
pub(super) fn has_x<N: Number>(point: &Point<N>, x: &N) -> N::Word {
    let minus_x = N::offset::<constants::Field, 2, 1>().subtract(&point.x);
    N::reduce(N::product(minus_x.plus(), &x.enter(), &point.z.square())).is_zero()
}

/// y^2 for a point with this x: x^3 - 3 x + b, in Montgomery's form.
#[inline(always)]
fn y_squared<N: Number>(x: &N) -> N {
    let triple = x.double().add(x).carry();
    let rest = N::offset::<constants::Field, 4, 1>().subtract(&triple);
    let rest = rest.add(&N::constant(&constants::B).enter()).carry();
    N::reduce(N::product(rest.plus(), &x.square(), x))
}

/// Whether the curve's equation holds. Only that is revealed.
pub(super) fn is_on_curve<N: Number>(point: &[[u64; 4]; 2]) -> bool {
    let [x, y] = point.map(|coordinate| N::load(&[coordinate; 8]));
    curve_difference(&x, &y).is_zero().store()[0] != 0
}

/// y^2 - x^3 + 3 x - b, in Montgomery's form.
#[inline(always)]
pub(super) fn curve_difference<N: Number>(x: &N, y: &N) -> N {
    let minus = N::offset::<constants::Field, 8, 1>().subtract(&y_squared(&x.enter()));
    N::reduce(N::square_of(minus.plus(), &y.enter()))
}

/// The only candidates for y are this number and its negative.
pub(super) fn square_root_for<N: Number>(x: &[u64; 4]) -> [u64; 4] {
    // (p + 1) / 4, as p is 3 modulo 4.
    const EXPONENT: [u64; 4] = [0, 1 << 30, 1 << 62, (0xffff_ffff_0000_0001 >> 2)];
    let square = y_squared(&N::load(&[*x; 8]).enter());
    inverse::power(&square, &EXPONENT, N::square, N::multiply).leave().store()[0]
}
