//! Sampling: short passes over all rows, in batches of about a millisecond or of the row's own
//! length, until every median is known well enough or the time is over.

mod passes;
mod state;

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::collections::{BTreeSet, HashMap};
use std::thread;
use std::time::Instant;

pub(crate) use self::passes::PASSES;
use self::passes::{batches, order, shuffle};
use self::state::{Kind, Sample, State};
use crate::clock::{self, as_f64};
use crate::processors;
use crate::progress::Progress;
use crate::reference::References;
use crate::results::Point;
use crate::row::Row;
use crate::thread_team::{Batch, Meeting, ThreadTeam};
use crate::verify::Defect;

/// How often a short batch that was disturbed is repeated at once. What disturbs longer is over
/// when the row is visited again.
const RETRIES: usize = 2;
/// A row's work is made anew for each pass if that takes less than this.
const RENEWAL: Duration = Duration::from_millis(4);
/// The part of a batch that is made untimed after that.
const WARMING: usize = 4;
/// What a visit takes, for each cycle of its batches, until that is measured.
const OVERHEAD: f64 = 1.5;
/// Batches of at least this length are long: preemption spoils only a part of them.
const LONG: Duration = Duration::from_millis(8);

/// A peer that takes so many times as long as ours is measured once, until all others are done.
const HOPELESS: f64 = 5.0;

/// Why rows are left out at the end.
pub(crate) const TOO_SHORT: &str = "the time was too short";

/// When sampling ends.
pub(crate) struct Limits<'a> {
    /// At this instant, if rows are not done earlier; without it there is no limit.
    pub(crate) deadline: Option<Instant>,
    /// As soon as this is set.
    pub(crate) stop: &'a AtomicBool,
    /// The number of passes that rows with long requests get as well.
    pub(crate) least: usize,
}

impl Limits<'_> {
    pub(crate) fn over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The outcome of sampling.
#[derive(Debug, Default)]
pub(crate) struct Sampled {
    /// The rows that were measured.
    pub(crate) points: Vec<Point>,
    /// Lines for people: rows that were not measured, or whose answers are wrong.
    pub(crate) remarks: Vec<String>,
    /// Rows of ours that failed verification.
    pub(crate) wrong: usize,
}

/// Measures `rows`, interleaved: those that are `first` in as many passes as every row should get,
/// then all of them as long as there is time. The references tell what was quiet.
pub(crate) fn measure(
    rows: &[Row],
    first: &[bool],
    limits: &Limits<'_>,
    references: &mut References,
    progress: &Progress,
) -> Sampled {
    let processors = processors::allowed();
    let (possible, impossible): (Vec<usize>, Vec<usize>) =
        (0..rows.len()).partition(|&row| rows[row].processors() <= processors.len());
    let mut sampled = Sampled::default();
    let needed: BTreeSet<usize> = impossible.iter().map(|&row| rows[row].processors()).collect();
    for needed in needed {
        let skipped = impossible.iter().filter(|&&row| rows[row].processors() == needed).count();
        sampled.remarks.push(format!(
            "{skipped} rows skipped: they need {needed} processors, {} may be used",
            processors.len()
        ));
    }
    let threads = possible.iter().map(|&row| rows[row].threads()).max().unwrap_or(1);
    let meeting = Meeting::default();
    let states = thread::scope(|scope| {
        let cpus = processors::shared_out(&processors, threads);
        let team = ThreadTeam::assemble(scope, rows, &cpus, &meeting);
        let mut sampler = Sampler {
            rows,
            team,
            states: rows.iter().map(|_| State::default()).collect(),
            references,
            limits,
            pass: 0,
            is_generous: false,
            overhead: OVERHEAD,
            random: clock::now(),
        };
        let first: Vec<usize> = possible.iter().copied().filter(|&row| first[row]).collect();
        if first.len() < possible.len() {
            sampler.sample(first, PASSES, progress);
        }
        sampler.sample(possible.clone(), usize::MAX, progress);
        if limits.deadline.is_some() {
            // There is time left for those who had one pass.
            sampler.states.iter_mut().for_each(|state| state.is_set_aside = false);
            sampler.is_generous = true;
            sampler.sample(possible, usize::MAX, progress);
        }
        sampler.check_again();
        sampler.states
    });
    conclude(rows, states, &impossible, &mut sampled);
    sampled
}

struct Sampler<'rows> {
    rows: &'rows [Row],
    team: ThreadTeam<'rows>,
    states: Vec<State>,
    references: &'rows mut References,
    limits: &'rows Limits<'rows>,
    /// The current pass; zero is the look by which the rows are prepared.
    pass: usize,
    /// Whether peers that lose clearly get as many passes as others.
    is_generous: bool,
    /// What a visit takes, for each cycle of its batches.
    overhead: f64,
    /// The state of the generator for orders and offsets; its numbers only need to be scattered.
    random: u64,
}

impl Sampler<'_> {
    /// Visits these rows, each until it is done, in at most this many passes after the look.
    fn sample(&mut self, mut active: Vec<usize>, most: usize, progress: &Progress) {
        self.pass = 0;
        let all = active.len();
        debug_assert!(active.iter().all(|&row| self.rows[row].threads() <= self.team.size()));
        let mut dealt = active.clone();
        let mut random = self.random;
        shuffle(&mut dealt, || next_random(&mut random));
        active.retain(|&row| {
            self.states[row].requests == 0 || !self.states[row].done(&self.rows[row])
        });
        while !active.is_empty() && self.pass <= most {
            // The first look is in order: if the time is short, the last rows are missing.
            let order = match self.pass {
                0 => active.clone(),
                pass => order(&dealt, pass, || next_random(&mut self.random)),
            };
            let most = self.batches_of_a_visit(&active);
            let begun = Instant::now();
            let before = self.spent(&active);
            let fair = before / active.len() as u64;
            for row in order {
                if self.limits.over() {
                    return self.judge();
                }
                // Rows with long requests skip some of the passes that repeat noisy rows; at least
                // one row is always within the mean.
                let state = &self.states[row];
                if state.passed() < self.limits.least || state.spent <= 4 * fair {
                    self.visit(row, most);
                    progress.show(self.pass, all - active.len(), all);
                }
            }
            if self.pass > 0 {
                let batches = as_f64(self.spent(&active) - before).max(1.0);
                self.overhead = cycles_of(begun.elapsed()) / batches;
            }
            self.pass += 1;
            self.judge();
            if !self.is_generous {
                self.set_slow_peers_aside(&active);
            }
            active.retain(|&row| !self.states[row].done(&self.rows[row]));
            dealt.retain(|row| active.contains(row));
        }
    }

    /// One pass of peers is enough if they lose that clearly to ours in the same work.
    fn set_slow_peers_aside(&mut self, active: &[usize]) {
        let mut best: HashMap<String, f64> = HashMap::new();
        let estimate = |state: &State| state.estimate().map(|estimate| estimate.median);
        for (row, state) in
            self.rows.iter().zip(&self.states).filter(|(row, _)| row.point.is_ours())
        {
            let Some(cycles) = estimate(state) else { continue };
            for work in row.point.work() {
                let least = best.entry(work).or_insert(cycles);
                *least = least.min(cycles);
            }
        }
        for &row in active {
            let (point, state) = (&self.rows[row].point, &mut self.states[row]);
            if point.is_ours() || state.passed() == 0 || state.is_disturbed() {
                continue;
            }
            let ours = point.work().into_iter().find_map(|work| best.get(&work).copied());
            let loses = |cycles| ours.is_some_and(|ours| cycles > HOPELESS * ours);
            state.is_set_aside = estimate(state).is_some_and(loses);
        }
    }

    /// Looks at all passes again, by all references so far.
    fn judge(&mut self) {
        for state in &mut self.states {
            state.judge(|reference| self.references.is_quiet(reference));
        }
    }

    /// Cycles spent on these rows.
    fn spent(&self, rows: &[usize]) -> u64 {
        rows.iter().map(|&row| self.states[row].spent).sum()
    }

    /// The batches of a visit in this pass, so that all passes fit into the time left.
    fn batches_of_a_visit(&self, active: &[usize]) -> usize {
        if self.pass == 0 {
            return 1;
        }
        let left = self.limits.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        // Rows with long batches make one each, whatever others make.
        let (mut short, mut long) = (0.0, 0.0);
        for &row in active {
            let batch = as_f64(self.states[row].last);
            match batch > 2.0 * self.length(row) || batch >= cycles_of(LONG) {
                true => long += batch,
                false => short += batch,
            }
        }
        let time = |cycles: f64| cycles * self.overhead / clock::ghz() / 1e9;
        batches(left, (PASSES + 1).saturating_sub(self.pass), [time(long), time(short)])
    }

    /// Checks the answers of every timed row again.
    fn check_again(&mut self) {
        for row in 0..self.states.len() {
            if self.states[row].made > 0 && self.states[row].defect.is_none() {
                self.states[row].defect = self.team.check_again(row).err();
            }
        }
    }

    /// Some quiet batches of a row, at most `most`, or what there is instead.
    fn visit(&mut self, row: usize, most: usize) {
        let is_look = self.states[row].requests == 0;
        if is_look {
            let begun = Instant::now();
            let prepared = self.team.prepare(row);
            self.states[row].is_renewed = begun.elapsed() < RENEWAL;
            self.states[row].defect = prepared.err();
            self.states[row].requests = self.rows[row].batches.multiple;
            if self.states[row].defect != Some(Defect::Failed) {
                self.size_batch(row);
            }
        } else if self.states[row].is_renewed && self.rows[row].batches.test.is_none() {
            self.renew(row);
        }
        self.begin_runs(row);
        self.sample_batches(row, most);
        self.states[row].close(is_look);
    }

    /// Makes a row's work anew, in other memory: where its keys lie is luck, which a pass may have
    /// and the median of the passes has not.
    fn renew(&mut self, row: usize) {
        let requests = self.states[row].requests;
        let checked = self.team.check_again(row).and_then(|()| self.team.prepare(row));
        if let Err(defect) = checked {
            self.states[row].defect.get_or_insert(defect);
        }
        // Not all of it is in the cache yet.
        let multiple = self.rows[row].batches.multiple;
        let few = (requests / WARMING).next_multiple_of(multiple);
        self.part(row, few);
    }

    fn sample_batches(&mut self, row: usize, most: usize) {
        let length = self.length(row);
        let is_long = length >= cycles_of(LONG) || self.states[row].is_run;
        let (most, retries) = if is_long { (1, 0) } else { (most, RETRIES) };
        let mut resized = false;
        let mut tries = most + retries;
        let end = self.states[row].spent + as_cycles(length * as_f64(most as u64));
        let mut quiet = 0;
        while tries > 0 {
            let Some(sample) = self.batch(row) else { return };
            let state = &mut self.states[row];
            let short = length > 3.0 * sample.cycles * as_f64(state.requests as u64);
            if short && !state.is_run && !resized {
                // The row was slowed down while its batches were sized: the samples so far are of
                // batches too short for the clock and the common start.
                resized = true;
                state.forget();
                self.fit(row, sample.cycles);
                continue;
            }
            tries -= 1;
            quiet += usize::from(sample.kind == Kind::Quiet);
            state.visit.push(sample);
            // A request that is longer than a batch is not repeated as often.
            let is_over = state.spent >= end && (quiet > 0 || state.visit.len() > RETRIES);
            if quiet >= most || is_over {
                return;
            }
        }
    }

    /// Finds the number of requests that fill a batch; that also warms the row up.
    fn size_batch(&mut self, row: usize) {
        let length = self.length(row);
        loop {
            let requests = self.states[row].requests;
            let Some(Sample { cycles, kind, .. }) = self.batch(row) else { return };
            let batch = cycles * as_f64(requests as u64);
            // A preempted batch counts only if it is long in any case.
            let telling = kind != Kind::Preempted || batch >= cycles_of(LONG);
            if telling && batch >= length / 4.0 || requests >= 1 << 24 {
                self.fit(row, cycles);
                return;
            }
            self.states[row].requests = requests * 4;
        }
    }

    /// The intended length of a row's batches, in cycles.
    fn length(&self, row: usize) -> f64 {
        cycles_of(self.rows[row].batches.length)
    }

    /// Sets the number of requests of `cycles` each in a batch of a row: the document's test, if
    /// that does not take too long, otherwise the number that fills a batch.
    fn fit(&mut self, row: usize, cycles: f64) {
        // Long runs come after the first round, which gives every row a figure.
        let test = self.rows[row].batches.test.filter(|test| {
            let short = cycles * as_f64(test.requests) <= cycles_of(test.longest);
            short && (test.parts == 1 || self.pass > 0)
        });
        let whole = test.and_then(|test| usize::try_from(test.requests).ok());
        let length = self.length(row);
        let multiple = self.rows[row].batches.multiple;
        let state = &mut self.states[row];
        state.is_run = whole.is_some();
        state.requests = whole.unwrap_or_else(|| fitting(length, cycles, multiple));
    }

    /// Starts runs of the document's test if they have not started yet. Only they count from then
    /// on.
    fn begin_runs(&mut self, row: usize) {
        let waits = self.rows[row].batches.test.is_some_and(|test| test.parts > 1);
        let state = &self.states[row];
        if let Some(estimate) = state.estimate().filter(|_| waits && !state.is_run) {
            self.fit(row, estimate.median);
            let state = &mut self.states[row];
            if state.is_run {
                state.forget();
            }
        }
    }

    /// Times one batch.
    ///
    /// An interrupted run in parts counts for its completed parts. A run of that length cannot be
    /// repeated after each disturbance, so it always counts. So do batches of several threads,
    /// unless one lost its processor.
    fn batch(&mut self, row: usize) -> Option<Sample> {
        let requests = self.states[row].requests;
        let is_run = self.states[row].is_run;
        let parts = self.rows[row].batches.test.filter(|_| is_run).map_or(1, |test| test.parts);
        let part = requests.div_ceil(parts);
        let (mut wall, mut made, mut preempted) = (0, 0, false);
        let mut reference = None;
        while made < requests && (made == 0 || !self.limits.over()) {
            let now = part.min(requests - made);
            let batch = self.part(row, now)?;
            wall += batch.wall;
            made += now;
            let is_disturbed = batch.preempted && !self.rows[row].batches.shared;
            preempted |= is_disturbed && parts == 1;
            reference = (parts == 1).then_some(batch.reference);
        }
        self.states[row].runs += usize::from(is_run && made == requests);
        // Wall cycles × threads / requests of all threads.
        let cycles = as_f64(wall) / as_f64(made as u64);
        let Row { helpers, batches, .. } = &self.rows[row];
        let scale = reference.map_or(1.0, |reference| self.references.scale(reference));
        // Where several threads work, they take ports from each other.
        let is_alone = self.rows[row].threads() == 1 && *helpers == 0 && !batches.shared;
        let reference = reference.filter(|_| is_alone && !preempted);
        let kind = match reference {
            _ if preempted => Kind::Preempted,
            Some(reference) => {
                self.references.add(reference, wall);
                if self.references.is_quiet(reference) { Kind::Quiet } else { Kind::Crowded }
            }
            None => Kind::Quiet,
        };
        Some(Sample { cycles: cycles * scale, kind, reference })
    }

    /// Times this many requests of each thread of a row.
    fn part(&mut self, row: usize, requests: usize) -> Option<Batch> {
        let random = next_random(&mut self.random);
        let state = &mut self.states[row];
        let batch = match self.team.run(row, requests, random) {
            Ok(batch) => batch,
            Err(defect) => {
                state.defect = Some(defect);
                return None;
            }
        };
        let threads = self.rows[row].threads() as u64;
        state.spent += batch.wall;
        state.last = batch.wall;
        state.made += requests as u64 * threads;
        state.unchanged = if batch.digest == state.digest { state.unchanged + 1 } else { 0 };
        state.digest = batch.digest;
        // Two random words may be equal now and then; three in a row are not.
        if state.unchanged >= 2 && state.defect.is_none() {
            state.defect = Some(Defect::Stuck);
        }
        Some(batch)
    }
}

/// SplitMix64.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, and cycles are positive"
)]
const fn as_cycles(cycles: f64) -> u64 {
    cycles as u64
}

fn cycles_of(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9 * clock::ghz()
}

/// The number of requests of `cycles` each that fill `target` cycles: a multiple of `multiple`, at
/// least once.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, and both are positive"
)]
fn fitting(target: f64, cycles: f64, multiple: usize) -> usize {
    let fitting = ((target / cycles.max(0.01)) as usize).clamp(1, 1 << 26);
    (fitting - fitting % multiple).max(multiple)
}

/// Makes points and remarks of the rows' states; there is a remark on the impossible rows already.
fn conclude(rows: &[Row], states: Vec<State>, impossible: &[usize], sampled: &mut Sampled) {
    let mut unmeasured = 0;
    for (number, (row, state)) in rows.iter().zip(states).enumerate() {
        let Some(estimate) = state.estimate() else {
            let is_due = state.defect.is_none() && !impossible.contains(&number);
            unmeasured += usize::from(is_due && state.requests == 0);
            if let Some(defect) = state.defect {
                sampled.remarks.push(format!("not measured: {}: {defect}", row.point.id));
                sampled.wrong += usize::from(row.point.is_ours());
            }
            continue;
        };
        let mut point = row.point.clone().measured(estimate).with_passes(&state.figures());
        point.verified = state.defect.is_none() && !row.faulty;
        point.disturbed = state.is_disturbed();
        if let Some(whole) = &mut point.whole {
            *whole = row.whole.is_some_and(|requests| state.made >= requests) || state.runs > 0;
        }
        if let Some(defect) = state.defect.filter(|_| !row.faulty) {
            sampled.remarks.push(format!("not verified: {}: {defect}", point.id));
            sampled.wrong += usize::from(point.is_ours());
        }
        sampled.points.push(point);
    }
    if unmeasured > 0 {
        sampled.remarks.push(format!("{unmeasured} rows not measured: {TOO_SHORT}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_whole_multiples() {
        for (cycles, multiple, requests) in
            [(10.0, 1, 100), (10.0, 64, 64), (1.0, 64, 960), (5000.0, 64, 64), (2000.0, 1, 1)]
        {
            assert_eq!(fitting(1000.0, cycles, multiple), requests);
        }
    }
}
