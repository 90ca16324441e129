//! How much points change between runs of the same code.

use super::Change;

/// The least change that counts, where the peers are quiet or few.
const LEAST: f64 = 0.03;

/// The share of the peers' points whose changes count as noise.
const SHARE: f64 = 0.995;

/// The fewest peers' points that tell what noise is.
const FEWEST: usize = 50;

/// What counts where there are fewer of them: so many times the median change.
const TIMES: f64 = 8.0;

/// The noise between two runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// The median ratio of all points: a machine that runs at another clock moves all of them.
    pub(super) drift: f64,
    /// By how much the ratio may differ from `drift`, as a share of it.
    pub(super) most: f64,
    /// The points that told it; all of them were the peers', or there were too few of those.
    pub(super) points: usize,
}

impl Noise {
    pub(super) fn of(changes: &[Change]) -> Self {
        let peers: Vec<&Change> = changes.iter().filter(|change| !change.is_ours).collect();
        let all: Vec<&Change> = changes.iter().collect();
        let are_enough = peers.len() >= FEWEST;
        let control = if are_enough { peers } else { all };
        let ratios = control.iter().map(|change| change.ratio.median.ln());
        let drift = at(ratios.clone().collect(), 0.5).unwrap_or(0.0);
        let distances = ratios.map(|ratio| (ratio - drift).abs()).collect::<Vec<_>>();
        let most = match are_enough {
            true => at(distances, SHARE),
            false => at(distances, 0.5).map(|median| median * TIMES),
        };
        let most = most.unwrap_or(0.0).exp() - 1.0;
        Self { drift: drift.exp(), most: most.max(LEAST), points: control.len() }
    }

    /// Whether a change is larger, and its interval excludes that nothing changed.
    pub(super) fn is_exceeded_by(&self, change: &Change) -> bool {
        let ratio = change.ratio.median / self.drift;
        let is_larger = ratio > 1.0 + self.most || ratio < 1.0 / (1.0 + self.most);
        let is_certain = change.ratio.low > self.drift || change.ratio.high < self.drift;
        is_larger && is_certain
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
