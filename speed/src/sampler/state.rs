//! What is known of a row while it is sampled.

use super::passes::{PASSES, PLENTY};
use crate::reference::Reference;
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
    /// The batches of the current visit.
    pub(super) visit: Vec<Sample>,
    passes: Vec<Pass>,
    /// Whether there was no pass, but only the look by which the batches were sized.
    is_look: bool,
    /// Whether its work is made anew for each pass.
    pub(super) is_renewed: bool,
    /// Whether one pass is enough.
    pub(super) is_set_aside: bool,
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

/// One batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Cycles per request.
    pub(super) cycles: f64,
    pub(super) kind: Kind,
    /// `None` where the loops of known cost tell nothing.
    pub(super) reference: Option<Reference>,
}

/// What disturbed a batch, or a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Quiet,
    /// Another guest used the core.
    Crowded,
    /// A thread lost its processor.
    Preempted,
}

/// The batches of one visit that count.
#[derive(Clone, Copy, Debug)]
struct Pass {
    /// Cycles per request, with the interval of the batches.
    estimate: Estimate,
    kind: Kind,
    /// The worst of the references beside them.
    reference: Option<Reference>,
}

impl State {
    /// Ends a visit: its best batches become the figure of a pass.
    pub(super) fn close(&mut self, is_look: bool) {
        let samples = core::mem::take(&mut self.visit);
        let Some(kind) = samples.iter().map(|sample| sample.kind).min() else { return };
        let best: Vec<&Sample> = samples.iter().filter(|sample| sample.kind == kind).collect();
        let cycles: Vec<f64> = best.iter().map(|sample| sample.cycles).collect();
        let Some(estimate) = Estimate::of(&cycles) else { return };
        let reference = best.iter().filter_map(|sample| sample.reference).reduce(Reference::worse);
        if self.is_look && !self.is_run {
            self.forget();
        }
        self.is_look = is_look;
        self.passes.push(Pass { estimate, kind, reference });
        if self.passes.len() >= 4 * PLENTY {
            // Whole tests of a document take thousands of visits.
            self.passes = self.passes.chunks(2).map(Pass::mean).collect();
        }
    }

    /// Looks at the passes again, by what is known by now of quiet cores.
    pub(super) fn judge(&mut self, is_quiet: impl Fn(Reference) -> bool) {
        for pass in &mut self.passes {
            if let (Kind::Quiet | Kind::Crowded, Some(reference)) = (pass.kind, pass.reference) {
                pass.kind = if is_quiet(reference) { Kind::Quiet } else { Kind::Crowded };
            }
        }
    }

    /// Forgets all figures.
    pub(super) fn forget(&mut self) {
        self.visit.clear();
        self.passes.clear();
    }

    /// The number of passes so far.
    pub(super) fn passed(&self) -> usize {
        if self.is_look { 0 } else { self.passes.len() }
    }

    /// The least disturbance of any pass; figures of others do not count.
    fn kind(&self) -> Option<Kind> {
        self.passes.iter().map(|pass| pass.kind).min()
    }

    /// Whether another guest used the core, or other programs did, in every pass.
    pub(super) fn is_disturbed(&self) -> bool {
        self.kind().is_some_and(|kind| kind != Kind::Quiet)
    }

    /// The figures of the passes that count.
    pub(super) fn figures(&self) -> Vec<f64> {
        self.counted().map(|pass| pass.estimate.median).collect()
    }

    fn counted(&self) -> impl Iterator<Item = &Pass> {
        let kind = self.kind();
        self.passes.iter().filter(move |pass| Some(pass.kind) == kind)
    }

    pub(super) fn estimate(&self) -> Option<Estimate> {
        let figures = self.figures();
        match figures.len() {
            0 => None,
            1 => self.counted().next().map(|pass| pass.estimate),
            _ => Estimate::between(&figures).or_else(|| Estimate::of(&figures)),
        }
    }

    pub(super) fn done(&self, row: &Row) -> bool {
        if self.defect == Some(Defect::Failed) || self.is_set_aside {
            return true;
        }
        if let Some(runs) = row.batches.test.and_then(|test| test.runs)
            && self.runs >= runs
        {
            return true;
        }
        let whole = row.whole.is_none_or(|whole| self.made >= whole);
        let enough = row.batches.enough.unwrap_or(PASSES);
        let known = self.passed() >= 3 * PLENTY
            || self.figures().len() >= PLENTY && !self.is_disturbed()
            || self.figures().len() >= enough
                && !self.is_disturbed()
                && !self.is_look
                && self.estimate().is_some_and(|estimate| estimate.uncertainty() <= STEADY);
        whole && known
    }
}

impl Pass {
    /// One instead of several, of which there is at least one.
    fn mean(passes: &[Self]) -> Self {
        let mean = |figure: fn(&Estimate) -> f64| {
            let sum: f64 = passes.iter().map(|pass| figure(&pass.estimate)).sum();
            sum / crate::clock::as_f64(passes.len() as u64)
        };
        let estimate = Estimate {
            median: mean(|it| it.median),
            low: mean(|it| it.low),
            high: mean(|it| it.high),
        };
        Self { estimate, ..passes[0] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(state: &mut State, quiet: &[f64], preempted: &[f64], is_look: bool) {
        let of = |kind| move |&cycles: &f64| Sample { cycles, kind, reference: None };
        state.visit.extend(quiet.iter().map(of(Kind::Quiet)));
        state.visit.extend(preempted.iter().map(of(Kind::Preempted)));
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
            assert!(state.passed() <= 4 * PLENTY);
        }
        assert!(state.passed() >= PLENTY);
        let estimate = state.estimate().expect("many passes");
        assert!((estimate.median - 10.5).abs() < 0.01, "{estimate:?}");
    }

    #[test]
    fn disturbed_passes_count_where_there_is_nothing_better() {
        let mut state = State::default();
        visited(&mut state, &[], &[20.0, 22.0], false);
        assert_eq!((state.figures(), state.is_disturbed()), (vec![21.0], true));
        visited(&mut state, &[10.0], &[], false);
        assert_eq!((state.figures(), state.is_disturbed()), (vec![10.0], false));
        visited(&mut state, &[], &[], false);
        assert_eq!(state.passed(), 2, "nothing was measured");
    }

    #[test]
    fn passes_are_judged_again_when_more_is_known() {
        let mut state = State::default();
        for (cycles, ports) in [(15.0, 2.0), (10.0, 1.0), (16.0, 2.1), (10.2, 1.0)] {
            let reference = Some(Reference { ports, chain: 1.0 });
            state.visit.push(Sample { cycles, kind: Kind::Quiet, reference });
            state.close(false);
        }
        state.judge(|reference| reference.ports < 1.5);
        assert_eq!((state.figures(), state.is_disturbed()), (vec![10.0, 10.2], false));
        state.judge(|_| false);
        assert_eq!((state.figures().len(), state.is_disturbed()), (4, true));
    }
}
