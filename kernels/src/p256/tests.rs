//! The table of the base point, bounds of limbs, arithmetic against another implementation, and
//! what the public interface cannot reach.
#![expect(clippy::cast_possible_truncation, reason = "places of limbs are small")]

mod interval;

use num_bigint::BigUint;

use self::interval::Interval;
use super::constants::{Field, G, N, Order, P};
use super::group::{Affine, Point, Sum};
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

fn minus_1([low, rest @ ..]: [u64; 4]) -> [u64; 4] {
    let [a, b, c] = rest;
    [low - 1, a, b, c]
}

/// Numbers that follow from a seed, and the least and greatest of 256 bits.
fn numbers() -> impl Iterator<Item = [u64; 4]> {
    let edges = [[0; 4], [1, 0, 0, 0], [u64::MAX; 4], P, N, minus_1(P), minus_1(N)];
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 29
    };
    edges.into_iter().chain((0..200).map(move |_| core::array::from_fn(|_| next())))
}

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
        let inverse = inverse::of::<F, Field>(&lane(number).enter()).leave();
        assert_eq!(plain(&inverse), a.modpow(&(&p - 2_u32), &p));
        let inverse = inverse::of::<F, Order>(&lane(number).enter_order()).leave_order();
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
                let sum =
                    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 52) + limb[entry]);
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
            for (wide, short) in wide.into_iter().zip(short) {
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
    let any = Interval::ANY;
    // Those that the module of points documents.
    let (x, y, z, entry) = (below::<F>(9), below(23), below(16), below(39));
    let point = Point { x, y, z };
    let assert_closed = |sum: &Point<F>| {
        assert_within(&sum.x, &x);
        assert_within(&sum.y, &y);
        assert_within(&sum.z, &z);
    };
    let mut sum = Sum { point, negative: any };
    sum.add(&Affine { x: entry, y: entry }, any);
    assert_closed(&sum.point);
    let mut sum = Sum { point, negative: any };
    let [x_of_it, y_of_it] = table::entry(0, Interval::new(0, 15));
    sum.add(&Affine { x: x_of_it, y: y_of_it }, any);
    assert_closed(&sum.point);
    let finished = Point { y: below(24), ..point };
    assert_within(&Sum { point, negative: any }.finish(any).y, &finished.y);
    for times in 1..6 {
        let mut twice = point;
        twice.double(times, &z);
        assert_closed(&twice);
    }

    // Coordinates and scalars are less than 2^256.
    let number = below::<F>(8);
    let entered = Affine { x: number.enter(), y: number.enter() };
    let (table, common) = group::odd_multiples::<F, F>(&entered);
    assert_within(&common, &z);
    for multiple in &table {
        assert_within(&multiple.x, &entry);
        assert_within(&multiple.y, &entry);
    }
    let multiple = group::look_up(&table, Interval::new(0, 15));
    assert_within(&multiple.x, &entry);
    let sum = finished.add_any(&finished);
    assert_within(&sum.x, &x);
    let _ = operations::has_x(&sum, &number);
    let _ = operations::curve_difference(&number, &number).is_zero();

    // Powers, and inverses.
    let less_than_two = below::<F>(15);
    for step in [F::reduce_by::<Field>, F::reduce_by::<Order>] {
        let word = Interval::new(0, 2 << F::STEPS);
        let sum = F::offset::<Field, 5, 2>().subtract(&less_than_two).subtract(&less_than_two);
        let columns = F::scale(F::zero().plus(), &sum.carry(), Interval::splat(1 << F::STEPS));
        let columns = F::scale(columns, &less_than_two, word);
        assert_within(&step(F::scale(columns, &less_than_two, word)), &less_than_two);
    }
    for product in [F::multiply, F::multiply_order] {
        assert_within(&product(&less_than_two, &less_than_two), &less_than_two);
    }
    assert_within(&less_than_two.square(), &less_than_two);
    for entered in [number.enter(), number.enter_order(), z.square()] {
        assert_within(&entered, &less_than_two);
    }
    // Remainders are made of less than twice the modulus.
    for step in [F::reduce_by::<Field>, F::reduce_by::<Order>] {
        assert_within(&step(less_than_two.below()), &less_than_two);
    }
    let sum = less_than_two.add(&number).carry();
    assert_within(&sum.enter_order(), &less_than_two);
}

#[test]
fn nothing_overflows() {
    bounds::<Wide<Interval>>();
    bounds::<Short<Interval>>();
}

/// A signature with s = 0 is not given: the next nonce is used.
#[test]
fn signatures_of_zero_are_passed_over() {
    let key = SecretKey([5, 6, 7, 8]);
    let nonce = [9, 10, 11, 12];
    let mut point = [PublicKey::BASE];
    public_keys(Isa::PORTABLE, &[&SecretKey(nonce)], &mut point);
    // The digest is -r d.
    let (n, r) = (big(&N), big(&point[0].0[0]));
    let digest = to_bytes(&words(&(&n - r * big(&key.0) % &n)));
    for &level in Level::built() {
        let isa = Isa::of_processor().at_most(level);
        for place in 0..lanes(isa) {
            let mut jobs = [SignJob { key: &key, digest: &[3; 32], entropy: None }; 8];
            jobs[place].digest = &digest;
            let jobs = &jobs[..lanes(isa)];
            let mut calls = Vec::new();
            let mut out = [[0; 64]; 8];
            sign_with(isa, jobs, &mut out[..jobs.len()], |which, nonces| {
                *nonces = [if calls.is_empty() { nonce } else { [1, 2, 3, 4] }; 8];
                calls.push(which);
            });
            assert_eq!(calls, [u8::MAX >> (8 - jobs.len()), 1 << place]);
            let mut keys = [PublicKey::BASE];
            public_keys(isa, &[&key], &mut keys);
            for (job, signature) in jobs.iter().zip(&out) {
                let job = VerifyJob { key: &keys[0], digest: job.digest, signature };
                let mut verdicts = [false];
                verify(isa, &[job], &mut verdicts);
                assert!(verdicts[0]);
            }
        }
    }
}

#[test]
fn best_kernels_are_reached() {
    let key = SecretKey([1, 0, 0, 0]);
    crate::isa::reached::assert_best(KERNELS, |isa| {
        public_keys(isa, &[&key], &mut [PublicKey::BASE]);
    });
}
