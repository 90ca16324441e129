//! How much points change between runs of the same code.

use super::{Change, NORMAL};
use crate::statistics::Estimate;

/// The least change that counts, however steady the points are.
const LEAST: f64 = 0.03;

/// The share of unchanged points that must stay within the noise.
const SHARE: f64 = 0.995;
/// The same by the normal distribution, in standard errors.
const NORMAL_SHARE: f64 = 2.81;

/// Limits in standard errors. The least is more than by the normal distribution, because a point's
/// own error is known from few passes.
const LIMITS: [f64; 6] = [3.3, 4.5, 6.0, 9.0, 12.0, 18.0];

/// The fewest peers' points that tell what noise is.
const FEWEST: usize = 30;

/// The limit where there are fewer of them, and changes of ours are among what tells the noise.
const CAREFUL: f64 = 5.0;

/// Half of all normal values lie within so many standard errors.
const HALF: f64 = 0.6745;

/// The least error between runs: passes can agree by chance.
const BETWEEN: f64 = 0.000_5;

/// The noise between two runs, of the logarithms of ratios.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// The median of all points: a machine that runs at another clock moves all of them.
    pub(super) drift: f64,
    /// The standard error between runs, beside that of a point's passes.
    between: f64,
    /// A change of more standard errors is none of noise.
    limit: f64,
    /// The points that showed it.
    pub(super) points: usize,
    /// Whether all of them were the peers'; otherwise there were too few of those.
    pub(super) is_of_peers: bool,
}

impl Noise {
    pub(super) fn of(changes: &[Change]) -> Self {
        let peers: Vec<&Change> = changes.iter().filter(|change| change.is_control).collect();
        let is_of_peers = peers.len() >= FEWEST;
        let control = if is_of_peers { peers } else { changes.iter().collect() };
        let ratios = control.iter().map(|change| change.ratio.median.ln());
        let drift = at(ratios.collect(), 0.5).unwrap_or(0.0);
        let points = control.len();
        let noise = Self { drift, between: BETWEEN, limit: CAREFUL, points, is_of_peers };
        if !is_of_peers {
            let half = Self { limit: HALF, ..noise };
            return Self { between: half.between_runs(&control, 0.5), ..noise };
        }
        // Where runs differ alike at all points, the error between runs tells most; where noisy
        // points differ more, a high limit does. What lets the usual point show the smallest change
        // is best.
        let fitted = LIMITS.map(|limit| {
            let noise = Self { limit, ..noise };
            Self { between: noise.between_runs(&control, SHARE), ..noise }
        });
        let usual = |noise: &Self| noise.counts_from(changes, 0.5);
        let best = fitted.into_iter().min_by(|a, b| usual(a).total_cmp(&usual(b)));
        best.unwrap_or(noise)
    }

    /// What must be added to the errors by passes, so that this share of the control is within the
    /// limit.
    fn between_runs(self, control: &[&Change], share: f64) -> f64 {
        let is_enough = |between: f64| {
            let noise = Self { between, ..self };
            let distances = control.iter().map(|change| noise.distance(change)).collect();
            at(distances, share).is_none_or(|distance| distance <= self.limit)
        };
        if is_enough(BETWEEN) {
            return BETWEEN;
        }
        // More than a factor of e between two runs is no noise any more.
        let (mut low, mut high) = (BETWEEN, 1.0);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if is_enough(middle) { high = middle } else { low = middle }
        }
        high
    }

    /// By how many standard errors a change differs from what all changed by.
    fn distance(&self, change: &Change) -> f64 {
        (change.ratio.median.ln() - self.drift).abs() / self.error(change)
    }

    fn error(&self, change: &Change) -> f64 {
        change.error.hypot(self.between)
    }

    /// Whether passes differ more than runs, for a point whose own error is this.
    pub(super) fn is_by_passes(&self, own: f64) -> bool {
        own > self.between
    }

    /// Whether a change is more than noise.
    pub(super) fn is_exceeded_by(&self, change: &Change) -> bool {
        let size = (change.ratio.median.ln() - self.drift).abs();
        size > LEAST.ln_1p() && self.distance(change) > self.limit
    }

    /// The ratio with its interval.
    pub(super) fn interval(&self, change: &Change) -> Estimate {
        let errors = NORMAL * (self.limit / NORMAL_SHARE).max(1.0);
        let reach = (errors * self.error(change)).exp();
        let median = change.ratio.median;
        Estimate { median, low: median / reach, high: median * reach }
    }

    /// The change that counts at this share of the points, as a share of their figures.
    pub(super) fn counts_from<'c>(
        &self,
        changes: impl IntoIterator<Item = &'c Change>,
        share: f64,
    ) -> f64 {
        let limits = changes.into_iter().map(|change| (self.limit * self.error(change)).exp_m1());
        at(limits.collect(), share).unwrap_or(0.0).max(LEAST)
    }
}

/// The value below which a share of all lies.
fn at(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "there are few points")]
    let place = (values.len() as f64 * share).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from zero to the number of values"
    )]
    let place = (place as usize).clamp(1, values.len().max(1));
    values.get(place - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(at(values.clone(), 0.5), Some(100.0));
        assert_eq!(at(values.clone(), 0.995), Some(199.0));
        assert_eq!(at(values, 1.0), Some(200.0));
        assert_eq!(at(vec![], 0.5), None);
        assert_eq!(at(vec![4.0], 0.0), Some(4.0));
    }
}
