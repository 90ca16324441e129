//! The cost of a call: a fixed part and a part for each byte, fitted to calls of several sizes.

use serde::{Deserialize, Serialize};

/// `cycles = fixed + slope × bytes`, with 95 % intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fit {
    /// Cycles of a call that do not depend on its size.
    pub fixed: f64,
    /// Lower end of the interval of the fixed part.
    pub fixed_low: f64,
    /// Upper end of the interval of the fixed part.
    pub fixed_high: f64,
    /// Cycles of a byte.
    pub slope: f64,
    /// Lower end of the slope's interval.
    pub slope_low: f64,
    /// Upper end of the slope's interval.
    pub slope_high: f64,
    /// Bytes of the smallest call of the fit: smaller ones run another algorithm.
    pub from: u64,
}

/// Two-sided 95 % quantiles of Student's distribution, for one degree of freedom and more.
const STUDENT: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
/// The same for very many degrees of freedom.
const NORMAL: f64 = 1.960;
/// The least number of sizes for a fit: any two lie on a line.
const LEAST: usize = 3;
/// The largest relative difference between two steps from one size to the next that counts as
/// equal.
const STEADY: f64 = 0.25;

impl Fit {
    /// Fits a line to calls of these bytes and cycles, sizes ascending; `None` if fewer than three
    /// lie on one.
    ///
    /// It minimises the squares of the *relative* deviations, because errors of measurement are
    /// relative: without weights the largest size alone would decide the fixed part.
    ///
    /// Modes that process blocks in parallel run other code for small calls. So the line begins at
    /// the first size from which each step to the next costs nearly the same for each byte.
    pub(crate) fn of(calls: &[(u64, f64)]) -> Option<Self> {
        let from = steady_from(calls)?;
        let calls = &calls[from..];
        let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for &(size, y) in calls {
            let (x, weight) = (crate::clock::as_f64(size), 1.0 / (y * y));
            w += weight;
            wx += weight * x;
            wy += weight * y;
            wxx += weight * x * x;
            wxy += weight * x * y;
        }
        let determinant = w * wxx - wx * wx;
        let fixed = (wxx * wy - wx * wxy) / determinant;
        let slope = (w * wxy - wx * wy) / determinant;
        let residue: f64 = calls
            .iter()
            .map(|&(size, y)| (1.0 - (fixed + slope * crate::clock::as_f64(size)) / y).powi(2))
            .sum();
        let freedom = calls.len() - 2;
        let variance = residue / crate::clock::as_f64(freedom as u64);
        let student = STUDENT.get(freedom - 1).copied().unwrap_or(NORMAL);
        let fixed_reach = student * (variance * wxx / determinant).sqrt();
        let slope_reach = student * (variance * w / determinant).sqrt();
        let fit = Self {
            fixed,
            fixed_low: fixed - fixed_reach,
            fixed_high: fixed + fixed_reach,
            slope,
            slope_low: slope - slope_reach,
            slope_high: slope + slope_reach,
            from: calls.first()?.0,
        };
        fixed_reach.is_finite().then_some(fit)
    }
}

/// The position from which the steps between sizes are those of the largest.
fn steady_from(calls: &[(u64, f64)]) -> Option<usize> {
    let steps: Vec<f64> = calls
        .windows(2)
        .map(|pair| {
            let [(small, few), (large, many)] = [pair[0], pair[1]];
            (many - few) / crate::clock::as_f64(large - small)
        })
        .collect();
    let reference = *steps.last()?;
    let is_steady = |step: &f64| (step - reference).abs() <= STEADY * reference.abs();
    let steady = steps.iter().rev().take_while(|step| is_steady(step)).count();
    (steady + 1 >= LEAST).then_some(steps.len() - steady)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u64; 8] = [16, 32, 64, 128, 256, 512, 1024, 2048];

    fn calls(cycles: impl Fn(f64) -> f64) -> Vec<(u64, f64)> {
        SIZES.map(|size| (size, cycles(crate::clock::as_f64(size)))).to_vec()
    }

    #[test]
    fn a_line_is_found_exactly() {
        for (fixed, slope) in [(7.5, 1.76), (40.0, 4.5), (0.0, 28.0), (100.0, 0.11)] {
            let fit = Fit::of(&calls(|x| fixed + slope * x)).expect("eight sizes");
            assert!((fit.fixed - fixed).abs() < 1e-6, "{fit:?}");
            assert!((fit.slope - slope).abs() < 1e-9, "{fit:?}");
            assert!(fit.fixed_high - fit.fixed_low < 1e-3, "{fit:?}");
            assert!(fit.slope_high - fit.slope_low < 1e-6, "{fit:?}");
            assert_eq!(fit.from, 16);
        }
    }

    #[test]
    fn the_line_begins_where_the_algorithm_no_longer_changes() {
        // One block at a time below 128 bytes, eight at a time from there on.
        let fit = Fit::of(&calls(|x| if x < 128.0 { 30.0 + 4.0 * x } else { 80.0 + 0.6 * x }));
        let fit = fit.expect("eight sizes");
        assert_eq!(fit.from, 128);
        assert!((fit.fixed - 80.0).abs() < 1e-6 && (fit.slope - 0.6).abs() < 1e-9, "{fit:?}");
    }

    #[test]
    fn the_interval_covers_what_was_disturbed() {
        let factors = [1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0];
        let mut noisy = calls(|x| 50.0 + 2.0 * x);
        noisy.iter_mut().zip(factors).for_each(|(call, factor)| call.1 *= factor);
        let fit = Fit::of(&noisy).expect("eight sizes");
        assert!(fit.fixed_low < 50.0 && 50.0 < fit.fixed_high, "{fit:?}");
        assert!(fit.slope_low < 2.0 && 2.0 < fit.slope_high, "{fit:?}");
        assert!(fit.fixed_high - fit.fixed_low > 0.5, "{fit:?}");
    }

    #[test]
    fn what_is_no_line_has_no_fit() {
        assert_eq!(Fit::of(&calls(|x| x * x)), None);
    }

    #[test]
    fn two_sizes_make_no_fit() {
        assert_eq!(Fit::of(&[]), None);
        assert_eq!(Fit::of(&[(16, 40.0), (32, 60.0)]), None);
        assert!(Fit::of(&[(16, 40.0), (32, 60.0), (64, 100.0)]).is_some());
    }
}
