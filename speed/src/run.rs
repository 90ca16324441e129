//! One run: tables, each with its share of the time.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::time::Instant;

use crate::chosen::share;
use crate::depth::Depth;
use crate::machine::Machine;
use crate::options::{Error, Options};
use crate::progress::Progress;
use crate::results::{Point, Results};
use crate::rivals::Rivals;
use crate::row::Row;
use crate::sampler::{self, Limits, Sampled};
use crate::table::Table;
use crate::tables;
use crate::tables::headline::Headline;

/// The part of a table's time for figures that are not sampled in rows.
const EXTRA_PART: u32 = 6;
/// The divisor of the shares of a table's parts.
const SHARES: u32 = 60;

/// The outcome of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The measured points.
    pub results: Results,
    /// Rows of ours whose answers were wrong.
    pub wrong: usize,
    /// Whether it ended before its time.
    pub interrupted: bool,
}

/// Measures the points that `options` select; passes text to `show` as it becomes known.
///
/// It ends soon after `stop` is set, with the points measured until then.
///
/// # Errors
///
/// [`Error`] if the options name a peer, a library or points that do not exist. Nothing has been
/// measured then.
pub fn run(
    options: &Options,
    stop: &AtomicBool,
    show: &mut dyn FnMut(&str),
) -> Result<Report, Error> {
    let start = Instant::now();
    let rivals = Rivals::new(options)?;
    let plan = plan(options, &rivals)?;
    let mut machine = Machine::of_this_process();
    machine.libraries = rivals.libraries();
    show(&(machine.summary() + "\n"));
    for line in rivals.missing() {
        show(&(line + "\n"));
    }
    let mut report =
        Report { results: Results::new(machine, Vec::new()), wrong: 0, interrupted: false };
    let mut end = start + options.total();
    let shares: Vec<u32> = plan.iter().map(|part| part.share).collect();
    for (i, part) in plan.into_iter().enumerate() {
        let begun = Instant::now();
        let left = end.saturating_duration_since(begun);
        let endless = part.is_endless(options);
        let (sampled, text) = part.measure(options, share(left, &shares[i..]), stop);
        if endless {
            // Later parts keep the time that they would have had.
            end += begun.elapsed();
        }
        if !text.is_empty() {
            show(&format!("\n{text}"));
        }
        for remark in &sampled.remarks {
            show(&format!("{remark}\n"));
        }
        report.wrong += sampled.wrong;
        report.results.points.extend(sampled.points);
    }
    report.interrupted = stop.load(Ordering::Relaxed);
    if report.interrupted {
        show("interrupted: these are the figures until then\n");
    }
    Ok(report)
}

/// The measurements under one heading.
struct Part {
    table: &'static dyn Table,
    /// Its share of the time.
    share: u32,
    rows: Vec<Row>,
    /// Points that need no measurement.
    given: Vec<Point>,
    /// Whether it has figures that are not sampled in rows.
    extra: bool,
}

impl Part {
    fn new(table: &'static dyn Table, share: u32, options: &Options, rivals: &Rivals<'_>) -> Self {
        let mut rows = table.rows(rivals, table.depth(options));
        rows.retain(|row| fits(options, &row.point.id));
        let mut given = table.given();
        given.retain(|point| fits(options, &point.id));
        let extra = table.extra_ids().iter().any(|id| fits(options, id));
        Self { table, share, rows, given, extra }
    }

    /// The document's whole test has no time limit, unless the user sets one.
    fn is_endless(&self, options: &Options) -> bool {
        options.depth == Depth::Full && self.table.has_test() && options.budget.is_none()
    }

    fn measure(self, options: &Options, time: Duration, stop: &AtomicBool) -> (Sampled, String) {
        let start = Instant::now();
        let extra_time = if self.extra { time / EXTRA_PART } else { Duration::ZERO };
        let deadline = (!self.is_endless(options)).then(|| start + (time - extra_time));
        let progress = Progress::new(self.table.heading(), deadline);
        let mut sampled = sampler::measure(&self.rows, &Limits { deadline, stop }, &progress);
        drop(progress);
        if self.extra {
            let limits = Limits { deadline: Some(Instant::now() + extra_time), stop };
            let fits = |id: &str| fits(options, id);
            self.table.extra(&fits, extra_time, &limits, &options.device, &mut sampled);
        }
        sampled.points.splice(..0, self.given);
        self.table.finish(&mut sampled.points);
        let text = self.table.text(&sampled.points);
        (sampled, text)
    }
}

fn fits(options: &Options, id: &str) -> bool {
    options.only.as_ref().is_none_or(|only| only.matches(id))
}

/// All measurements of a run, in order.
fn plan(options: &Options, rivals: &Rivals<'_>) -> Result<Vec<Part>, Error> {
    let tables = options.chosen_tables();
    let part = |table, share| Part::new(table, share, options, rivals);
    let mut plan = Vec::new();
    if tables.is_empty() {
        plan.push(part(&Headline, SHARES));
    }
    for table in tables {
        let parts: Vec<&'static dyn Table> = tables::parts(table.name()).collect();
        let share = SHARES / u32::try_from(parts.len()).unwrap_or(SHARES);
        plan.extend(parts.into_iter().map(|table| part(table, share)));
    }
    plan.retain(|part| !part.rows.is_empty() || !part.given.is_empty() || part.extra);
    match &options.only {
        Some(only) if plan.is_empty() => Err(Error::NothingMatches(only.clone())),
        _ => Ok(plan),
    }
}
