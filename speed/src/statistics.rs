//! Medians and their confidence intervals.

/// A median with its 95 % confidence interval, in the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The median of the samples.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// The estimate from `samples`, in any order; `None` without any.
    ///
    /// The interval is the one by order statistics, which assumes nothing about how the samples
    /// are distributed: the median lies between the ranks n/2 ∓ 0.98 √n in 95 % of all cases.
    /// With fewer than six samples that is from the least to the greatest, and covers less.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        if n == 0 {
            return None;
        }
        let median = f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
        let reach = reach(n);
        let low = sorted[(n / 2).saturating_sub(reach)];
        let high = sorted[((n - 1) / 2 + reach).min(n - 1)];
        Some(Self { median, low, high })
    }

    /// The estimate from the figures of a run's passes; `None` without any.
    ///
    /// From six passes on the interval is that by order statistics, as in [`Estimate::of`]. Fewer
    /// take Student's distribution, of the logarithms, because disturbances multiply: that is wide,
    /// as it should be. In both cases it is at least half a per cent wide to each side, because
    /// runs differ by that.
    #[must_use]
    pub fn between(passes: &[f64]) -> Option<Self> {
        let mut estimate = Self::of(passes)?;
        if passes.len() < SIX {
            let reach = (student(passes.len()) * logarithmic_error(passes)?).exp();
            estimate.low = estimate.low.min(estimate.median / reach);
            estimate.high = estimate.high.max(estimate.median * reach);
        }
        estimate.low = estimate.low.min(estimate.median / (1.0 + BETWEEN_RUNS));
        estimate.high = estimate.high.max(estimate.median * (1.0 + BETWEEN_RUNS));
        Some(estimate)
    }

    /// Half the width of the interval as a share of the median.
    #[must_use]
    pub fn uncertainty(&self) -> f64 {
        if self.median > 0.0 { (self.high - self.low) / 2.0 / self.median } else { 0.0 }
    }

    /// Whether this interval lies wholly below `other`'s.
    #[must_use]
    pub fn is_below(&self, other: &Self) -> bool {
        self.high < other.low
    }
}

/// What figures differ by between runs of the same program, however steady they are within one:
/// code and memory lie elsewhere.
pub(crate) const BETWEEN_RUNS: f64 = 0.005;

/// The fewest passes of which the least and the greatest enclose the median in 95 % of all cases.
const SIX: usize = 6;

/// Student's two-sided 95 % quantile for this number of figures, at least two; more than nine are
/// taken for very many.
pub(crate) fn student(figures: usize) -> f64 {
    const QUANTILES: [f64; 8] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306];
    let place = figures.max(2) - 2;
    QUANTILES.get(place).copied().unwrap_or(1.960)
}

/// The standard error of the mean logarithm; `None` for a figure that has no logarithm.
///
/// Zero for a single figure, which does not tell its spread.
pub(crate) fn logarithmic_error(figures: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    if !logarithms.iter().all(|logarithm| logarithm.is_finite()) {
        return None;
    }
    let n = crate::clock::as_f64(logarithms.len() as u64);
    let mean = logarithms.iter().sum::<f64>() / n;
    let squares: f64 = logarithms.iter().map(|logarithm| (logarithm - mean).powi(2)).sum();
    Some((squares / (n * (n - 1.0).max(1.0))).sqrt())
}

/// The same by the median distance from the median, which single passes that were disturbed do not
/// move.
pub(crate) fn robust_error(figures: &[f64]) -> Option<f64> {
    /// The standard deviation of normal values whose median distance is one.
    const NORMAL: f64 = 1.483;
    let logarithms: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    let median = Estimate::of(&logarithms).filter(|it| it.median.is_finite())?.median;
    let distances: Vec<f64> = logarithms.iter().map(|it| (it - median).abs()).collect();
    let distance = Estimate::of(&distances)?.median;
    Some(distance * NORMAL / crate::clock::as_f64(figures.len() as u64).sqrt())
}

/// Ranks from the middle to each end of the interval: 0.98 √n, rounded up.
fn reach(n: usize) -> usize {
    // Whole numbers: r is the least with r² ≥ 0.9604 n.
    (0..=n).find(|r| r * r * 10_000 >= 9_604 * n).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_medians_and_intervals() {
        assert_eq!(Estimate::of(&[]), None);
        let one = Estimate::of(&[3.0]).expect("there is a sample");
        assert_eq!((one.low, one.median, one.high), (3.0, 3.0, 3.0));
        let four = Estimate::of(&[4.0, 1.0, 3.0, 2.0]).expect("there are samples");
        assert_eq!((four.low, four.median, four.high), (1.0, 2.5, 4.0));
        // For 25 samples the tables give the 8th and the 18th; rounding up is one wider at most.
        let samples: Vec<f64> = (1..=25).map(f64::from).collect();
        let many = Estimate::of(&samples).expect("there are samples");
        assert_eq!((many.low, many.median, many.high), (8.0, 13.0, 18.0));
        let samples: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let many = Estimate::of(&samples).expect("there are samples");
        assert_eq!((many.low, many.median, many.high), (41.0, 50.5, 60.0));
    }

    #[test]
    fn one_outlier_moves_nothing() {
        let mut samples = vec![10.0; 20];
        samples.push(1e9);
        let estimate = Estimate::of(&samples).expect("there are samples");
        assert_eq!((estimate.low, estimate.median, estimate.high), (10.0, 10.0, 10.0));
        assert_eq!(estimate.uncertainty(), 0.0);
    }

    #[test]
    fn the_interval_covers_the_true_median_about_as_often_as_it_says() {
        let mut state = 7_u64;
        let mut uniform = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            crate::clock::as_f64(state >> 11) / crate::clock::as_f64(1 << 53)
        };
        let covered = (0..2000)
            .filter(|_| {
                let samples: Vec<f64> = (0..31).map(|_| uniform()).collect();
                let estimate = Estimate::of(&samples).expect("there are samples");
                estimate.low <= 0.5 && 0.5 <= estimate.high
            })
            .count();
        assert!((1880..=1995).contains(&covered), "{covered} of 2000");
    }

    /// Figures around 100 that vary by about a per cent, seeded.
    fn passes(state: &mut u64, n: usize) -> Vec<f64> {
        let mut uniform = || {
            *state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            crate::clock::as_f64(*state >> 11) / crate::clock::as_f64(1 << 53)
        };
        // Twelve uniform numbers make one that is nearly normal.
        (0..n).map(|_| 94.0 + (0..12).map(|_| uniform()).sum::<f64>()).collect()
    }

    #[test]
    fn passes_cover_the_truth_however_few_they_are() {
        let mut state = 11;
        for n in [2, 3, 4, 5, 6, 9, 15] {
            let covered = (0..2000)
                .filter(|_| {
                    let estimate = Estimate::between(&passes(&mut state, n)).expect("figures");
                    estimate.low <= 100.0 && 100.0 <= estimate.high
                })
                .count();
            assert!(covered >= 1880, "{covered} of 2000 with {n} passes");
        }
    }

    #[test]
    fn one_disturbed_pass_does_not_move_the_robust_error() {
        let quiet = [99.0, 99.5, 100.0, 100.5, 101.0, 101.5];
        let disturbed = [99.0, 99.5, 100.0, 100.5, 101.0, 200.0];
        let error = |figures: &[f64]| robust_error(figures).expect("figures");
        assert!(error(&disturbed) < 1.5 * error(&quiet) && error(&quiet) > 0.001);
        let plain = |figures: &[f64]| logarithmic_error(figures).expect("figures");
        assert!(plain(&disturbed) > 10.0 * plain(&quiet));
        assert_eq!(robust_error(&[]), None);
    }

    #[test]
    fn fewer_passes_have_wider_intervals() {
        let mut state = 5;
        let mut width = |n| {
            let widths = (0..500)
                .map(|_| Estimate::between(&passes(&mut state, n)).expect("figures").uncertainty());
            widths.sum::<f64>()
        };
        let [three, six, fifteen] = [3, 6, 15].map(&mut width);
        assert!(three > six && six > fifteen, "{three} {six} {fifteen}");
    }

    #[test]
    fn passes_that_agree_are_not_believed_more_than_runs() {
        let estimate = Estimate::between(&[100.0; 8]).expect("figures");
        assert!((estimate.uncertainty() - BETWEEN_RUNS).abs() < 1e-4);
        assert!(Estimate::between(&[0.0, 1.0]).is_none() && Estimate::between(&[]).is_none());
    }

    #[test]
    fn overlapping_intervals_are_not_ordered() {
        let low = Estimate { median: 1.0, low: 0.9, high: 1.1 };
        let near = Estimate { median: 1.15, low: 1.1, high: 1.2 };
        let far = Estimate { median: 2.0, low: 1.9, high: 2.1 };
        assert!(!low.is_below(&near) && !near.is_below(&low));
        assert!(low.is_below(&far) && !far.is_below(&low));
    }
}
