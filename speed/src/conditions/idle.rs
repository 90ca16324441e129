//! The noise of a machine: how much a loop varies that always does the same.

use core::hint::black_box;

use crate::clock::{self, as_f64};

/// How often the loop is timed; all together take about a fifth of a second.
const TIMES: usize = 2000;
/// Steps of a loop, each of a few cycles.
const STEPS: u64 = 60_000;

/// The times of the loop, in cycles, ascending.
pub(super) struct Idle(Vec<u64>);

impl Idle {
    pub(super) fn measure() -> Self {
        let mut x = black_box(1_u64);
        let times = (0..TIMES).map(|_| {
            let start = clock::now();
            for step in 0..STEPS {
                x = black_box(x.rotate_left(7).wrapping_add(step));
            }
            clock::now() - start
        });
        Self::of(times.collect())
    }

    fn of(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// How much longer the 99th of 100 takes than the median, as a share of it.
    pub(super) fn spread(&self) -> f64 {
        let at = |hundredths: usize| self.0.get(self.0.len() * hundredths / 100).copied();
        match (at(50), at(99)) {
            (Some(median), Some(high)) if median > 0 => as_f64(high - median) / as_f64(median),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_slowest_hundredth() {
        let mut times = vec![1000; 985];
        assert!(Idle::of(times.clone()).spread().abs() < 1e-9);
        times.extend([1500; 15]);
        assert!((Idle::of(times).spread() - 0.5).abs() < 1e-9);
        assert!(Idle::of(Vec::new()).spread().abs() < 1e-9);
    }
}
