//! What is known of a row while it is sampled.

use super::passes::{PASSES, PLENTY};
use crate::row::Row;
use crate::statistics::Estimate;
use crate::verify::Defect;

/// A row is done when half of its interval is this share of the median.
const STEADY: f64 = 0.01;

/// The state of a row.
#[derive(Default)]
pub(super) struct State {
    /// Requests of one batch on one thread; zero before the row is prepared.
    pub(super) requests: usize,
    /// The batches of the visit that goes on.
    pub(super) visit: Visit,
    /// Cycles per request of each pass: with clean batches, and with none.
    passes: Vec<f64>,
    disturbed: Vec<f64>,
    /// The estimate of the batches of the last visit.
    within: Option<Estimate>,
    /// Whether there was no pass, but only the look by which the batches were sized.
    is_look: bool,
    /// Whether a batch is a run of the document's test, and how many runs were completed.
    pub(super) is_run: bool,
    pub(super) runs: usize,
    /// Wall cycles of the last batch.
    pub(super) last: u64,
    /// Cycles spent on this row.
    pub(super) spent: u64,
    /// Requests made in all.
    pub(super) made: u64,
    pub(super) defect: Option<Defect>,
    pub(super) digest: u64,
    /// Batches since the digest changed.
    pub(super) unchanged: u32,
}

/// Cycles per request of the batches of one visit: of clean ones, and of preempted ones.
#[derive(Default)]
pub(super) struct Visit {
    pub(super) clean: Vec<f64>,
    pub(super) preempted: Vec<f64>,
}

impl State {
    /// Ends a visit: its batches become the figure of a pass.
    pub(super) fn close(&mut self, is_look: bool) {
        let Visit { clean, preempted } = core::mem::take(&mut self.visit);
        // On a machine that is never quiet, preempted batches are better than nothing.
        let is_clean = !clean.is_empty();
        let Some(estimate) = Estimate::of(if is_clean { &clean } else { &preempted }) else {
            return;
        };
        if self.is_look && !self.is_run {
            self.forget();
        }
        self.is_look = is_look;
        let figures = if is_clean { &mut self.passes } else { &mut self.disturbed };
        figures.push(estimate.median);
        if figures.len() >= 2 * PLENTY {
            // Whole tests of a document take thousands of visits.
            *figures = figures.chunks(2).map(mean).collect();
        }
        self.within = Some(estimate);
    }

    /// Forgets all figures.
    pub(super) fn forget(&mut self) {
        self.visit = Visit::default();
        self.passes.clear();
        self.disturbed.clear();
        self.within = None;
    }

    /// The number of passes so far.
    pub(super) fn passed(&self) -> usize {
        if self.is_look { 0 } else { self.passes.len() + self.disturbed.len() }
    }

    /// The figures of the passes that count: the clean ones, unless there are too few.
    pub(super) fn figures(&self) -> Vec<f64> {
        match self.passes.len() {
            0 | 1 => [&self.passes[..], &self.disturbed].concat(),
            _ => self.passes.clone(),
        }
    }

    pub(super) fn estimate(&self) -> Option<Estimate> {
        let figures = self.figures();
        match figures.len() {
            0 => None,
            1 => self.within,
            _ => Estimate::between(&figures).or_else(|| Estimate::of(&figures)),
        }
    }

    pub(super) fn done(&self, row: &Row) -> bool {
        if self.defect == Some(Defect::Failed) {
            return true;
        }
        if let Some(runs) = row.batches.test.and_then(|test| test.runs)
            && self.runs >= runs
        {
            return true;
        }
        let whole = row.whole.is_none_or(|whole| self.made >= whole);
        let enough = row.batches.enough.unwrap_or(PASSES);
        let known = self.passed() >= PLENTY
            || self.passes.len() >= enough
                && !self.is_look
                && self.estimate().is_some_and(|estimate| estimate.uncertainty() <= STEADY);
        whole && known
    }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / crate::clock::as_f64(figures.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(state: &mut State, clean: &[f64], preempted: &[f64], is_look: bool) {
        state.visit = Visit { clean: clean.to_vec(), preempted: preempted.to_vec() };
        state.close(is_look);
    }

    #[test]
    fn a_look_counts_until_there_is_a_pass() {
        let mut state = State::default();
        visited(&mut state, &[50.0], &[], true);
        assert_eq!((state.passed(), state.figures()), (0, vec![50.0]));
        assert_eq!(state.estimate().map(|e| e.median), Some(50.0));
        visited(&mut state, &[9.0, 10.0, 11.0], &[90.0], false);
        assert_eq!((state.passed(), state.figures()), (1, vec![10.0]));
        let estimate = state.estimate().expect("a pass");
        assert_eq!((estimate.low, estimate.high), (9.0, 11.0), "the batches of the only pass");
    }

    #[test]
    fn one_pass_that_was_disturbed_moves_the_interval_and_not_the_figure() {
        let mut state = State::default();
        for figure in [10.0, 10.01, 14.0, 10.02, 10.0, 10.01] {
            visited(&mut state, &[figure; 3], &[], false);
        }
        let estimate = state.estimate().expect("six passes");
        assert!((estimate.median - 10.01).abs() < 0.01 && estimate.high >= 14.0, "{estimate:?}");
        for _ in 0..3 {
            visited(&mut state, &[10.0], &[], false);
        }
        let repeated = state.estimate().expect("nine passes");
        assert!(repeated.high < 10.1, "it was repeated: {repeated:?}");
    }

    #[test]
    fn very_many_visits_become_fewer_passes() {
        let mut state = State::default();
        for visit in 0..4000 {
            visited(&mut state, &[f64::from(10 + visit % 2)], &[], false);
            assert!(state.passed() <= 2 * PLENTY);
        }
        assert!(state.passed() >= PLENTY);
        let estimate = state.estimate().expect("many passes");
        assert!((estimate.median - 10.5).abs() < 0.01, "{estimate:?}");
    }

    #[test]
    fn passes_without_a_clean_batch_count_where_there_is_nothing_better() {
        let mut state = State::default();
        visited(&mut state, &[], &[20.0, 22.0], false);
        assert_eq!(state.figures(), [21.0]);
        visited(&mut state, &[10.0], &[], false);
        assert_eq!(state.figures(), [10.0, 21.0]);
        visited(&mut state, &[11.0], &[], false);
        assert_eq!(state.figures(), [10.0, 11.0]);
        visited(&mut state, &[], &[], false);
        assert_eq!(state.passed(), 3, "nothing was measured");
    }
}
