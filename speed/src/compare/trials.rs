//! Runs of a program that did not change, and of one that did: made up, with the same seeds always.

use super::Comparison;
use crate::machine::Machine;
use crate::results::{Point, Results};
use crate::statistics::Estimate;

/// Scattered numbers.
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        crate::clock::as_f64((z ^ (z >> 31)) >> 11) / crate::clock::as_f64(1 << 53)
    }

    /// Nearly normal, with this standard deviation.
    fn normal(&mut self, deviation: f64) -> f64 {
        ((0..12).map(|_| self.uniform()).sum::<f64>() - 6.0) * deviation
    }
}

/// Half of the points are ours.
const POINTS: u32 = 1600;
const PASSES: usize = 6;

/// What is the same in all runs of a point: its figure, and what its passes and its runs vary by.
struct Truth {
    figure: f64,
    passes: f64,
    runs: f64,
}

/// Points as they are on a machine: most are steady, some are noisy within a run, and some differ
/// between runs although they are steady within each.
fn truths(random: &mut Random) -> Vec<Truth> {
    let truth = |_| Truth {
        figure: 10.0 + 1000.0 * random.uniform(),
        passes: 0.002 + 0.015 * random.uniform().powi(3),
        runs: if random.uniform() < 0.1 { 0.02 } else { 0.004 },
    };
    (0..POINTS).map(truth).collect()
}

/// A run; `factor` says how slow a point of ours is.
fn run(truths: &[Truth], random: &mut Random, factor: impl Fn(usize) -> f64) -> Results {
    let drift = random.normal(0.003);
    let mut points = Vec::new();
    for (i, truth) in truths.iter().enumerate() {
        let is_ours = i % 2 == 0;
        let source = if is_ours { "lanecrypt" } else { "openssl" };
        let here = truth.figure * (drift + random.normal(truth.runs)).exp();
        let here = if is_ours { here * factor(i) } else { here };
        let passes: Vec<f64> = (0..PASSES)
            .map(|_| {
                // One of thirty passes is disturbed.
                let disturbed =
                    if random.uniform() < 1.0 / 30.0 { 1.0 + random.uniform() } else { 1.0 };
                here * random.normal(truth.passes).exp() * disturbed
            })
            .collect();
        let id = format!("t/{source}/{i}");
        let point = Point { id, source: source.into(), verified: true, ..Point::default() };
        let estimate = Estimate::between(&passes).expect("there are passes");
        points.push(point.measured(estimate).with_passes(&passes));
    }
    Results::new(Machine::default(), points)
}

/// The points of ours that a comparison calls changed.
fn called(comparison: &Comparison) -> Vec<usize> {
    let changed =
        comparison.changes.iter().filter(|change| change.is_ours && change.is_significant);
    let number = |id: &str| id.rsplit('/').next().and_then(|number| number.parse().ok());
    changed.filter_map(|change| number(&change.id)).collect()
}

#[test]
fn fewer_than_one_in_a_hundred_unchanged_points_are_called_changed() {
    let mut random = Random(1);
    let truths = truths(&mut random);
    let runs: Vec<Results> = (0..6).map(|_| run(&truths, &mut random, |_| 1.0)).collect();
    let (mut all, mut wrong) = (0, 0);
    for pair in runs.windows(2) {
        let comparison = Comparison::new(&pair[0], &pair[1]);
        all += comparison.changes.iter().filter(|change| change.is_ours).count();
        wrong += called(&comparison).len();
    }
    assert_eq!(all, 5 * truths.len() / 2);
    assert!(wrong * 100 < all, "{wrong} of {all}");
    // The intervals of single runs would have called many more.
    let apart = |pair: &[Results]| {
        let both = pair[0].points.iter().zip(&pair[1].points);
        both.filter(|(old, new)| {
            let [old, new] = [old, new].map(|point| point.estimate().expect("measured"));
            old.is_below(&new) || new.is_below(&old)
        })
        .count()
    };
    let apart: usize = runs.windows(2).map(apart).sum();
    assert!(apart * 100 > 2 * all, "{apart} of {all}");
}

#[test]
fn slowdowns_are_found() {
    let mut random = Random(2);
    let truths = truths(&mut random);
    // Every tenth of ours is slower by a tenth.
    let is_slower = |i: usize| i.is_multiple_of(20);
    let old = run(&truths, &mut random, |_| 1.0);
    let new = run(&truths, &mut random, |i| if is_slower(i) { 1.1 } else { 1.0 });
    let comparison = Comparison::new(&old, &new);
    let called = called(&comparison);
    let steady = |i: &usize| truths[*i].runs < 0.01 && truths[*i].passes < 0.01;
    let slower: Vec<usize> = (0..truths.len()).filter(|&i| is_slower(i)).filter(steady).collect();
    let found = slower.iter().filter(|i| called.contains(i)).count();
    assert!(found * 10 > slower.len() * 8, "{found} of {}", slower.len());
    let wrong = called.iter().filter(|&&i| !is_slower(i)).count();
    assert!(wrong * 100 < truths.len() / 2, "{wrong}");
    assert!(comparison.is_slower());
}

#[test]
fn a_point_that_is_noisy_by_itself_needs_a_larger_change() {
    let mut random = Random(3);
    let truths: Vec<Truth> = (0..POINTS)
        .map(|i| Truth {
            figure: 100.0,
            passes: if i % 4 == 0 { 0.03 } else { 0.002 },
            runs: 0.002,
        })
        .collect();
    let old = run(&truths, &mut random, |_| 1.0);
    let new = run(&truths, &mut random, |_| 1.04);
    let called = called(&Comparison::new(&old, &new));
    let share = |is_noisy: bool| {
        called.iter().filter(|&&i| (truths[i].passes > 0.01) == is_noisy).count() * 4
    };
    assert!(share(false) > 3 * share(true), "{} {}", share(false), share(true));
}
