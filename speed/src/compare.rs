//! Two runs beside each other: what became faster or slower beyond noise.
//!
//! A change is measured in standard errors, which come from two spreads. The first is that of the
//! point's own passes in both runs. The second is between runs, and a run cannot show it: code and
//! memory lie elsewhere, the machine has other guests. The peers show it. Their code is the same in
//! both runs, so whatever their points changed by is noise: it tells what to add to each point's
//! own error, and how many standard errors 99.5 % of unchanged points stay within.

mod noise;
mod text;
#[cfg(test)]
mod trials;

use std::collections::HashMap;

use self::noise::Noise;
use crate::machine::Machine;
use crate::results::{Point, Results};
use crate::statistics::{Estimate, robust_error, student};

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
    /// New through old, with its 95 % interval: above 1 is slower.
    pub ratio: Estimate,
    /// Whether it differs beyond noise.
    pub is_significant: bool,
    /// Whether several threads or processes worked at a time, which disturb each other.
    is_of_several: bool,
    /// Whether the same version of the same peer was measured, so that any change is noise.
    is_control: bool,
    /// The standard error of the ratio's logarithm, by the passes of both runs.
    error: f64,
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
    /// What makes the figures of the old run doubtful, and of the new one.
    pub warnings: [Vec<String>; 2],
    /// That of points of one thread, and that of points of several.
    noise: [Noise; 2],
    /// The usual number of passes of a point, in the run that has fewer.
    passes: usize,
    /// What was left out in the run that left out more, because others used the cores.
    left_out: f64,
    unit: &'static str,
}

impl Comparison {
    /// Compares two runs.
    #[must_use]
    pub fn new(old: &Results, new: &Results) -> Self {
        let in_cycles = differences(&old.machine, &new.machine).is_empty();
        let found: HashMap<&str, &Point> =
            new.points.iter().map(|point| (point.id.as_str(), point)).collect();
        let changes: Vec<Change> = old
            .points
            .iter()
            .filter_map(|point| changed(point, found.get(point.id.as_str())?, in_cycles))
            .collect();
        let (several, one): (Vec<Change>, Vec<Change>) =
            changes.into_iter().partition(|change| change.is_of_several);
        let noise = [Noise::of(&one), Noise::of(&several)];
        let mut changes = [one, several].concat();
        for change in &mut changes {
            let noise = &noise[usize::from(change.is_of_several)];
            change.is_significant = noise.is_exceeded_by(change);
            change.ratio = noise.interval(change);
        }
        changes.sort_by(|a, b| {
            let size = |change: &Change| change.ratio.median.ln().abs();
            (b.is_significant, size(b))
                .partial_cmp(&(a.is_significant, size(a)))
                .unwrap_or(core::cmp::Ordering::Equal)
        });
        let only = [only_in(old, new), only_in(new, old)];
        let warnings = [old, new]
            .map(|run| run.conditions.as_ref().map_or_else(Vec::new, |it| it.warnings.clone()));
        let usual = |run: &Results| {
            let mut passes: Vec<usize> =
                run.points.iter().map(|point| point.passes.len()).filter(|&it| it > 0).collect();
            passes.sort_unstable();
            passes.get(passes.len() / 2).copied().unwrap_or(0)
        };
        let left_out =
            |run: &Results| run.conditions.as_ref().and_then(|it| it.left_out).unwrap_or(0.0);
        Self {
            changes,
            only,
            warnings,
            noise,
            passes: usual(old).min(usual(new)),
            left_out: left_out(old).max(left_out(new)),
            unit: if in_cycles { "cycles" } else { "ns" },
        }
    }

    /// What would make a smaller change count.
    fn remedy(&self) -> String {
        /// From so many passes on, more would not help.
        const MANY: usize = 15;
        /// The share of batches left out from which a quieter time would help.
        const BUSY: f64 = 0.2;
        let [noise, _] = &self.noise;
        let own: Vec<f64> = self.changes.iter().map(|change| change.error).collect();
        let own = Estimate::of(&own).map_or(0.0, |own| own.median);
        let mut remedies = Vec::new();
        if noise.is_by_passes(own) && self.passes < MANY {
            remedies.push(format!("more passes (--budget), of which points have {}", self.passes));
        }
        if self.left_out > BUSY {
            remedies.push(format!(
                "a machine that others use less: {:.0} % of the batches were left out",
                self.left_out * 100.0
            ));
        }
        if !noise.is_of_peers {
            remedies.push(String::from("peers in both runs, which tell what is noise"));
        }
        if remedies.is_empty() {
            remedies.push(String::from(
                "the median of several runs: these two differ more than passes",
            ));
        }
        remedies.join("; ")
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
    let level =
        |machine: &Machine| machine.hold.as_ref().map_or("none", |hold| &hold.level).to_owned();
    differ("level that peers are held to", &level(old), &level(new));
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
    if !figures.into_iter().all(positive)
        || !estimates.iter().all(|e| positive(e.low) && positive(e.high))
    {
        return None;
    }
    let errors = [own_error(old, &estimates[0]), own_error(new, &estimates[1])];
    let error = errors[0].hypot(errors[1]);
    let median = figures[1] / figures[0];
    if !error.is_finite() || !positive(median) {
        return None;
    }
    let (is_ours, is_control) = (old.is_ours(), !old.is_ours() && old.version == new.version);
    let ratio = Estimate { median, low: median, high: median };
    let id = old.id.clone();
    let is_of_several = old.threads.max(old.processes).unwrap_or(1) > 1;
    let is_significant = false;
    Some(Change { id, is_ours, figures, ratio, is_significant, is_of_several, is_control, error })
}

/// The standard error of the logarithm of a point's figure, by its passes; by its interval if it
/// has none, as in files of schema 1.
fn own_error(point: &Point, estimate: &Estimate) -> f64 {
    /// What the median is less certain than the mean.
    const MEDIAN: f64 = 1.253;
    let passes = point.passes.len();
    match robust_error(&point.passes).filter(|_| passes > 1) {
        // Few passes do not tell their spread well.
        Some(error) => error * MEDIAN * student(passes).max(NORMAL) / NORMAL,
        None => (estimate.high / estimate.low).ln() / (2.0 * NORMAL),
    }
}

/// The two-sided 95 % quantile of the normal distribution.
const NORMAL: f64 = 1.96;

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
    fn a_peer_of_another_version_is_no_control() {
        let (mut old, mut new) = (run(0.0, 1.0), run(0.0, 1.05));
        for (i, point) in new.points.iter_mut().enumerate().filter(|(_, p)| !p.is_ours()) {
            // A newer version is slower at every tenth point.
            if i % 10 == 0 {
                point.version = Some("2".into());
                *point = point.clone().measured(old.points[i].estimate().map(slower).expect("one"));
            }
        }
        let comparison = Comparison::new(&old, &new);
        assert!(comparison.is_slower());
        assert_eq!(comparison.noise[0].points, 180);
        old.points.iter_mut().chain(&mut new.points).for_each(|point| point.version = None);
        assert!(!Comparison::new(&old, &new).is_slower(), "they were taken for noise");
    }

    fn slower(estimate: Estimate) -> Estimate {
        let Estimate { median, low, high } = estimate;
        Estimate { median: median * 1.3, low: low * 1.3, high: high * 1.3 }
    }

    #[test]
    fn warnings_of_both_runs_are_kept() {
        let (mut old, new) = (run(0.0, 1.0), run(0.0, 1.0));
        let warnings = vec![String::from("the machine is busy")];
        old.conditions = Some(crate::Conditions { warnings, ..Default::default() });
        let comparison = Comparison::new(&old, &new);
        assert_eq!(comparison.warnings.map(|of| of.len()), [1, 0]);
        assert!(Comparison::new(&old, &new).text(false).contains("old run: the machine is busy"));
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
        let hold = Some(crate::machine::Hold { level: "avx2".into(), ..Default::default() });
        let held = Machine { hold, ..one.clone() };
        assert_eq!(differences(&one, &held), ["level that peers are held to none and avx2"]);
    }
}
