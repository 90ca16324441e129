//! Two runs beside each other: what became faster or slower beyond noise.
//!
//! The interval of a point says how its batches differ within a run. Runs differ by more: memory
//! lies elsewhere, the machine has other guests. The peers show by how much. Their code is the same
//! in both runs, so what their points changed by is noise, and only a change that is larger than 99.5 %
//! of theirs counts.

mod noise;
mod text;

use std::collections::HashMap;

use self::noise::Noise;
use crate::machine::Machine;
use crate::results::{Point, Results};
use crate::statistics::Estimate;

/// One point in both runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change {
    /// The point's id.
    pub id: String,
    /// Whether it is ours.
    pub is_ours: bool,
    /// The old and the new figure, in cycles, or in nanoseconds where the machines differ.
    pub figures: [f64; 2],
    /// New through old, with the interval that both intervals allow: above 1 is slower.
    pub ratio: Estimate,
    /// Whether it differs beyond noise.
    pub is_significant: bool,
}

impl Change {
    /// Whether it became slower, beyond noise.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.is_significant && self.ratio.median > 1.0
    }
}

/// Two runs beside each other.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// Points of both runs, the significant ones first, the largest change first.
    pub changes: Vec<Change>,
    /// Ids of points that only the old run has, and only the new one.
    pub only: [Vec<String>; 2],
    noise: Noise,
    unit: &'static str,
}

impl Comparison {
    /// Compares two runs.
    #[must_use]
    pub fn new(old: &Results, new: &Results) -> Self {
        let in_cycles = differences(&old.machine, &new.machine).is_empty();
        let found: HashMap<&str, &Point> =
            new.points.iter().map(|point| (point.id.as_str(), point)).collect();
        let mut changes: Vec<Change> = old
            .points
            .iter()
            .filter_map(|point| changed(point, found.get(point.id.as_str())?, in_cycles))
            .collect();
        let noise = Noise::of(&changes);
        for change in &mut changes {
            change.is_significant = noise.is_exceeded_by(change);
        }
        changes.sort_by(|a, b| {
            let size = |change: &Change| change.ratio.median.ln().abs();
            (b.is_significant, size(b))
                .partial_cmp(&(a.is_significant, size(a)))
                .unwrap_or(core::cmp::Ordering::Equal)
        });
        let only = [only_in(old, new), only_in(new, old)];
        Self { changes, only, noise, unit: if in_cycles { "cycles" } else { "ns" } }
    }

    /// Whether one of our points became slower, beyond noise.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.changes.iter().any(|change| change.is_ours && change.is_slower())
    }
}

/// Why figures of two machines cannot be compared: what differs between them.
#[must_use]
pub fn differences(old: &Machine, new: &Machine) -> Vec<String> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, old: &dyn core::fmt::Display, new: &dyn core::fmt::Display| {
        let (old, new) = (old.to_string(), new.to_string());
        if old != new {
            differences.push(format!("{what} {old} and {new}"));
        }
    };
    differ("processor", &old.cpu, &new.cpu);
    differ("architecture", &old.arch, &new.arch);
    let name = |machine: &Machine| machine.emulator.clone().unwrap_or_else(|| "none".into());
    differ("emulator", &name(old), &name(new));
    differ("features", &old.flags.join(" "), &new.flags.join(" "));
    differ("instruction set", &old.isa, &new.isa);
    differ("number of processors", &old.processors, &new.processors);
    differ("build", &old.profile, &new.profile);
    // It is measured at each start, so that its last digits differ.
    if (old.tsc_ghz / new.tsc_ghz - 1.0).abs() > 0.01 {
        differ("time-stamp counter in GHz", &old.tsc_ghz, &new.tsc_ghz);
    }
    differences
}

/// A point of both runs, unless one of them was not measured.
fn changed(old: &Point, new: &Point, in_cycles: bool) -> Option<Change> {
    let figures = match in_cycles {
        true => [old.cycles?, new.cycles?],
        false => [old.ns?, new.ns?],
    };
    let positive = |value: f64| value.is_finite() && value > 0.0;
    let estimates = [old.estimate()?, new.estimate()?];
    if !figures.into_iter().all(positive) || !estimates.iter().all(|e| positive(e.low)) {
        return None;
    }
    let share = |estimate: &Estimate| [estimate.low, estimate.high].map(|e| e / estimate.median);
    let [old_share, new_share] = [share(&estimates[0]), share(&estimates[1])];
    let median = figures[1] / figures[0];
    let ratio = Estimate {
        median,
        low: median * new_share[0] / old_share[1],
        high: median * new_share[1] / old_share[0],
    };
    let is_ours = old.is_ours();
    Some(Change { id: old.id.clone(), is_ours, figures, ratio, is_significant: false })
}

/// Ids of measured points of `one` that `other` has not.
fn only_in(one: &Results, other: &Results) -> Vec<String> {
    let there: std::collections::HashSet<&str> =
        other.points.iter().map(|point| point.id.as_str()).collect();
    let points = one.points.iter().filter(|point| point.cycles.is_some());
    points.map(|point| &point.id).filter(|id| !there.contains(id.as_str())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::point;

    /// A run of peers' points that differ by up to `noise`, and ours at `factor`.
    fn run(noise: f64, factor: f64) -> Results {
        let mut points = Vec::new();
        for i in 0_u32..200 {
            // From -1 to 1, in no order.
            let place = f64::from(i * 7919 % 200) / 100.0 - 1.0;
            let mut peer = point(&format!("t/openssl/{i}"), 100.0 * (1.0 + noise * place), true);
            peer.source = "openssl".into();
            points.push(peer);
        }
        let mut ours = point("t/lanecrypt/x", 100.0 * factor, true);
        ours.source = "lanecrypt".into();
        points.push(ours);
        Results::new(Machine::default(), points)
    }

    #[test]
    fn the_peers_tell_what_is_noise() {
        let old = run(0.0, 1.0);
        let quiet = Comparison::new(&old, &run(0.01, 1.05));
        assert!(quiet.is_slower());
        assert_eq!(quiet.changes[0].id, "t/lanecrypt/x");
        assert!(quiet.changes[0].is_slower());
        let noisy = Comparison::new(&old, &run(0.08, 1.05));
        assert!(!noisy.is_slower(), "5 % is less than what the peers differ by");
        assert!(!Comparison::new(&old, &run(0.01, 0.8)).is_slower());
        let faster = &Comparison::new(&old, &run(0.01, 0.8)).changes[0];
        assert!(faster.is_significant && !faster.is_slower());
    }

    #[test]
    fn a_run_is_like_itself() {
        let one = run(0.02, 1.0);
        let comparison = Comparison::new(&one, &one);
        assert!(comparison.changes.iter().all(|change| !change.is_significant));
        assert!(comparison.only.iter().all(Vec::is_empty));
    }

    #[test]
    fn points_of_one_run_are_named() {
        let (mut old, mut new) = (run(0.0, 1.0), run(0.0, 1.0));
        old.points.remove(0);
        new.points.pop();
        let comparison = Comparison::new(&old, &new);
        assert_eq!(comparison.only[0], ["t/lanecrypt/x"]);
        assert_eq!(comparison.only[1], ["t/openssl/0"]);
    }

    #[test]
    fn figures_that_are_none_are_left_out() {
        let (old, mut new) = (run(0.0, 1.0), run(0.0, 1.0));
        new.points[0].cycles = Some(f64::NAN);
        new.points[1].cycles_low = Some(0.0);
        new.points[2].cycles = None;
        assert_eq!(Comparison::new(&old, &new).changes.len(), old.points.len() - 3);
    }

    #[test]
    fn other_machines() {
        let one = Machine { cpu: "a".into(), tsc_ghz: 2.6, ..Machine::default() };
        let same = Machine { tsc_ghz: 2.6001, kernel: "x".into(), ..one.clone() };
        assert!(differences(&one, &same).is_empty());
        let other = Machine { cpu: "b".into(), tsc_ghz: 3.0, ..one.clone() };
        assert_eq!(differences(&one, &other).len(), 2);
    }
}
