//! The table of the base point, bounds of limbs, arithmetic against another implementation, and
//! what the public interface cannot reach.

mod interval;

use num_bigint::BigUint;

use self::interval::Interval;
use super::constants::{self, B, G, N, P};
use super::group::Affine;
use super::number::Number;
use super::short::Short;
use super::wide::Wide;
use super::*;
use crate::words::Words;

fn big(number: &[u64; 4]) -> BigUint {
    number.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << 64) + word)
}

fn words(number: &BigUint) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, digit) in words.iter_mut().zip(number.iter_u64_digits()) {
        *word = digit;
    }
    words
}

/// Numbers that follow from a seed, and the least and greatest of 256 bits.
fn numbers() -> impl Iterator<Item = [u64; 4]> {
    let edges = [[0; 4], [1, 0, 0, 0], [u64::MAX; 4], P, N, less(P, 1), less(N, 1)];
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 29
    };
    edges.into_iter().chain((0..200).map(move |_| core::array::from_fn(|_| next())))
}

use super::constants::less;

/// Products, squares, inverses and forms of numbers modulo both primes, in one lane.
fn arithmetic<F: Number<Word = u64>>() {
    let [p, n] = [big(&P), big(&N)];
    let lane = |number: &[u64; 4]| F::load(&[*number; 8]);
    let plain = |number: &F| big(&number.store()[0]);
    let all: Vec<_> = numbers().collect();
    for (one, other) in all.iter().zip(all.iter().skip(1).chain(&all)) {
        let (a, b) = (big(one), big(other));
        let [x, y] = [one, other].map(|number| lane(number).enter());
        assert_eq!(plain(&x.leave()), &a % &p);
        assert_eq!(plain(&x.multiply(&y).leave()), &a * &b % &p);
        assert_eq!(plain(&x.square().leave()), &a * &a % &p);
        let sum = F::product(F::product(x.plus(), &x, &y), &y, &y);
        assert_eq!(plain(&F::reduce(sum).leave()), (&a * &b + &b * &b + &a) % &p);
        let sum = F::square_of(F::offset::<Field, 5, 4>().add(&y).plus(), &x);
        let good = F::reduce_well(sum);
        assert_eq!(plain(&good.leave()), (&a * &a + &b) % &p);
        let top = *good.limbs().last().expect("limbs");
        assert!(top <= 1 << (256 - F::WIDTH * (F::LIMBS as u32 - 1)), "{top:x}");
        let half = plain(&x.half().leave());
        assert_eq!(half * 2_u32 % &p, &a % &p);
        let [x, y] = [one, other].map(|number| lane(number).enter_order());
        assert_eq!(plain(&x.leave_order()), &a % &n);
        assert_eq!(plain(&x.multiply_order(&y).leave_order()), &a * &b % &n);
    }
    for number in all.iter().step_by(20) {
        let a = big(number);
        let inverse = inverse::of_field(&lane(number).enter()).leave();
        assert_eq!(plain(&inverse), a.modpow(&(&p - 2_u32), &p));
        let inverse = inverse::of_order(&lane(number).enter_order()).leave_order();
        assert_eq!(plain(&inverse), a.modpow(&(&n - 2_u32), &n));
    }
}

#[test]
fn arithmetic_is_right() {
    arithmetic::<Wide<u64>>();
    arithmetic::<Short<u64>>();
}

/// The sum of two points that are neither the same nor opposite, or twice a point.
fn add(one: &[BigUint; 2], other: &[BigUint; 2]) -> [BigUint; 2] {
    let p = big(&P);
    let [x1, y1] = one;
    let [x2, y2] = other;
    let (over, under) = if one == other {
        (x1 * x1 * 3_u32 + &p - 3_u32, y1 * 2_u32)
    } else {
        (y2 + &p - y1, x2 + &p - x1)
    };
    let slope = over * under.modinv(&p).expect("not zero") % &p;
    let x = (&slope * &slope + &p * 2_u32 - x1 - x2) % &p;
    let y = (slope * (x1 + &p - &x) + &p - y1) % &p;
    [x, y]
}

#[test]
fn table_has_the_multiples() {
    let p = big(&P);
    let mut base = G.map(|coordinate| big(&coordinate));
    for row in table::rows() {
        let (twice, mut point) = (add(&base, &base), base.clone());
        for entry in 0..16 {
            for (coordinate, limbs) in point.iter().zip(row.0.as_chunks::<5>().0) {
                let sum = limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 52) + limb[entry]);
                assert_eq!(sum, (coordinate << 260) % &p);
            }
            point = add(&point, &twice);
        }
        for _ in 0..10 {
            base = add(&base, &base);
        }
    }
}

/// A coordinate of a table is less than the prime, and of the table in short limbs twice that.
#[test]
fn entries_of_the_table_are_as_in_the_bounds() {
    for row in 0..table::ROWS {
        for index in 0..16 {
            let wide = table::entry::<Wide<u64>>(row, index);
            let short = table::entry::<Short<u64>>(row, index);
            for (wide, short) in [(wide.x, short.x), (wide.y, short.y)] {
                assert_eq!(wide.leave().store()[0], short.leave().store()[0]);
                assert!(subtract(&wide.store()[0], &P).1);
            }
        }
    }
}

/// A tight number below so many eighths of the prime.
fn below<F: Number<Word = Interval>>(eighths: u64) -> F {
    let mut number = F::zero();
    let last = F::LIMBS - 1;
    for limb in number.limbs_mut() {
        *limb = Interval::new(0, (1 << F::WIDTH) - 1);
    }
    let top = 256 - F::WIDTH * last as u32;
    number.limbs_mut()[last] = Interval::new(0, (eighths << top) / 8);
    number
}

#[track_caller]
fn assert_within<F: Number<Word = Interval>>(number: &F, bound: &F) {
    for (limb, bound) in number.limbs().iter().zip(bound.limbs()) {
        assert!(limb.high <= bound.high, "{limb:x?} {bound:x?}");
    }
}

fn bounds<F: Number<Word = Interval>>() {
    let any = Interval::new(0, 15);
    let mask = Interval::new(0, u64::MAX);
    // Those that the module of points gives.
    let (x, y, z, entry) = (below::<F>(9), below(24), below(16), below(40));
    let point = Point { x, y, z };
    let assert_closed = |sum: &Point<F>| {
        assert_within(&sum.x, &x);
        assert_within(&sum.y, &y);
        assert_within(&sum.z, &z);
    };
    let mut sum = group::sum_of(point, mask);
    sum.add(&Affine { x: entry, y: entry }, mask);
    assert_closed(&sum.point());
    sum.add(&table::entry(0, any), mask);
    assert_closed(&sum.finish(mask));
    for times in 1..6 {
        let mut twice = point;
        twice.double(times, &z);
        assert_closed(&twice);
    }
    let entered = Affine { x: F::load_any().enter(), y: F::load_any().enter() };
    let (table, common) = group::odd_multiples(&entered);
    assert_within(&common, &z);
    for multiple in &table {
        assert_within(&multiple.x, &entry);
        assert_within(&multiple.y, &entry);
    }
    assert_closed(&point.add_any(&point));
}
