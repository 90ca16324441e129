//! What the machine did during a run: what figures depend on and a reader cannot see in them.

mod idle;
mod usage;

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use self::idle::Idle;
use self::usage::Usage;
use crate::clock;
use crate::processors::{self, Pinned};
use crate::text;

/// The conditions of a run. Shares are from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Conditions {
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The spread of an idle loop before the run: how much longer the 99th of 100 took than the
    /// median.
    pub noise: f64,
    /// The mean number of threads of the whole machine that wanted a processor, in the minute
    /// before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// What of the processors' time other programs took before the run. The processors are those
    /// that the run may use, and those that share a core with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_before: Option<f64>,
    /// The same during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
    /// What of the processors' time the host gave to other guests during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// What of the batches was left out, because another guest used the core beside them, or
    /// because its clock was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<f64>,
    /// Core cycles in a nanosecond at the end; the machine has those at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_ghz_after: Option<f64>,
    /// Whether the run was interrupted, so that points are missing.
    pub interrupted: bool,
    /// What makes the figures doubtful, in words.
    pub warnings: Vec<String>,
}

/// The spread of an idle loop above which a machine is not quiet.
const NOISE: f64 = 0.05;
/// The share of the processors' time above which other programs disturb.
const OTHERS: f64 = 0.05;
/// The share above which the host does.
const STEAL: f64 = 0.01;
/// By how much the core's clock may change during a run.
const DRIFT: f64 = 0.03;

/// Watches the machine during a run.
pub(crate) struct Watch {
    begun: Instant,
    before: Option<Usage>,
    conditions: Conditions,
}

impl Watch {
    /// Looks at the machine for about a third of a second, and begins.
    pub(crate) fn begin() -> Self {
        let cpus = processors::allowed();
        let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let mut conditions = Conditions { started, load: usage::load(), ..Conditions::default() };
        let before = Usage::read();
        {
            let _pinned = cpus.first().map(|&cpu| Pinned::to(cpu));
            conditions.noise = Idle::measure().spread();
        }
        let now = Usage::read();
        if let Some(taken) = now.as_ref().zip(before.as_ref()).map(|(now, old)| now.since(old)) {
            conditions.others_before = Some(taken.others);
        }
        conditions.warn_before();
        Self { begun: Instant::now(), before: now, conditions }
    }

    /// Ends the run: its conditions, and lines about what went on. `core_ghz` is the core's clock
    /// at the start.
    pub(crate) fn end(self, core_ghz: Option<f64>, interrupted: bool) -> (Conditions, String) {
        let Self { begun, before, mut conditions } = self;
        let cpus = processors::allowed();
        conditions.seconds = begun.elapsed().as_secs_f64();
        conditions.interrupted = interrupted;
        if let Some((now, old)) = Usage::read().zip(before) {
            let taken = now.since(&old);
            (conditions.others, conditions.steal) = (Some(taken.others), Some(taken.steal));
        }
        conditions.core_ghz_after = core_ghz.map(|_| {
            let _pinned = cpus.first().map(|&cpu| Pinned::to(cpu));
            clock::core_ratio() * clock::ghz()
        });
        conditions.warn_after(core_ghz);
        let text = conditions.summary(core_ghz) + "\n" + &warned(&conditions.warnings);
        (conditions, text)
    }
}

impl Conditions {
    fn warn_before(&mut self) {
        if self.noise > NOISE {
            self.warnings.push(format!(
                "the machine is not quiet: an idle loop varies by {}",
                per_cent(self.noise)
            ));
        }
        if let Some(others) = self.others_before.filter(|&others| others > OTHERS) {
            self.warnings.push(format!(
                "the machine is busy: other programs take {} of the processors",
                per_cent(others)
            ));
        }
    }

    fn warn_after(&mut self, core_ghz: Option<f64>) {
        if let Some(others) = self.others.filter(|&others| others > OTHERS) {
            self.warnings.push(format!(
                "other programs took {} of the processors during the run",
                per_cent(others)
            ));
        }
        if let Some(steal) = self.steal.filter(|&steal| steal > STEAL) {
            self.warnings.push(format!(
                "the host gave {} of the processors to other guests during the run",
                per_cent(steal)
            ));
        }
        if let Some((before, after)) = core_ghz.zip(self.core_ghz_after)
            && (after / before - 1.0).abs() > DRIFT
        {
            self.warnings.push(format!(
                "the core's clock changed during the run, from {before:.2} to {after:.2} GHz"
            ));
        }
    }

    /// Adds another run on the same machine, such as of another table.
    pub fn add(&mut self, other: &Self) {
        let larger = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        self.started = self.started.min(other.started);
        self.seconds += other.seconds;
        self.noise = self.noise.max(other.noise);
        self.load = larger(self.load, other.load);
        self.others_before = larger(self.others_before, other.others_before);
        self.others = larger(self.others, other.others);
        self.steal = larger(self.steal, other.steal);
        self.left_out = larger(self.left_out, other.left_out);
        self.core_ghz_after = self.core_ghz_after.or(other.core_ghz_after);
        self.interrupted |= other.interrupted;
        for warning in &other.warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
            }
        }
    }

    /// What went on during the run, in a line or two.
    #[must_use]
    pub fn summary(&self, core_ghz: Option<f64>) -> String {
        let mut text = format!("{:.0} s", self.seconds);
        if let Some(others) = self.others {
            text += &format!("; other programs took {} of the processors", per_cent(others));
        }
        if let Some(steal) = self.steal {
            text += &format!(", other guests of the host {}", per_cent(steal));
        }
        if let Some((before, after)) = core_ghz.zip(self.core_ghz_after) {
            text += &format!("\ncore {before:.2} GHz at the start, {after:.2} GHz at the end");
        }
        text
    }
}

fn warned(warnings: &[String]) -> String {
    match warnings {
        [] => String::new(),
        _ => text::wrapped(&format!("WARNING: {}", warnings.join("; "))),
    }
}

fn per_cent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_machine_is_not_warned_about() {
        let mut quiet = Conditions {
            noise: 0.004,
            others_before: Some(0.01),
            others: Some(0.02),
            steal: Some(0.001),
            core_ghz_after: Some(3.65),
            ..Conditions::default()
        };
        quiet.warn_before();
        quiet.warn_after(Some(3.7));
        assert_eq!(quiet.warnings, [""; 0]);
    }

    #[test]
    fn each_disturbance_has_its_warning() {
        let mut busy = Conditions {
            noise: 0.3,
            others_before: Some(0.5),
            others: Some(0.4),
            steal: Some(0.02),
            core_ghz_after: Some(3.0),
            ..Conditions::default()
        };
        busy.warn_before();
        busy.warn_after(Some(3.7));
        let words = ["varies by 30.0 %", "take 50.0 %", "took 40.0 %", "2.0 %", "3.70 to 3.00"];
        assert_eq!(busy.warnings.len(), words.len());
        for (warning, word) in busy.warnings.iter().zip(words) {
            assert!(warning.contains(word), "{warning}");
        }
        assert_eq!(warned(&busy.warnings).matches(';').count(), words.len() - 1);
    }

    #[test]
    fn runs_that_are_added_are_as_doubtful_as_the_worst() {
        let mut one = Conditions { seconds: 1.0, others: Some(0.1), ..Conditions::default() };
        let warnings = vec![String::from("busy")];
        let two = Conditions {
            seconds: 2.0,
            others: Some(0.3),
            interrupted: true,
            warnings,
            ..one.clone()
        };
        one.add(&two);
        one.add(&two);
        assert!((one.seconds - 5.0).abs() < 1e-9 && one.interrupted);
        assert_eq!((one.others, one.warnings.len()), (Some(0.3), 1));
    }

    #[test]
    fn a_watch_ends_with_what_it_saw() {
        let watch = Watch::begin();
        let (conditions, text) = watch.end(Some(1.0), true);
        assert!(conditions.interrupted && conditions.started > 0 && conditions.noise >= 0.0);
        assert!(text.contains("GHz at the start"), "{text}");
    }
}
