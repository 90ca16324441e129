//! One run: tables, each with its share of the time.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::time::Instant;

use crate::conditions::Watch;
use crate::machine::{Hold, Machine};
use crate::options::{Error, Options, Shown};
use crate::peer_set::PeerSet;
use crate::plan::{Part, fits, is_summary, plan};
use crate::progress::Progress;
use crate::reference::{References, Sharing};
use crate::results::{Point, Results};
use crate::sampler::{self, Limits, Sampled};
use crate::scope::Scope;
use crate::selection::share;
use crate::table::{How, READING, Table};
use crate::tables;
use crate::text;
use crate::verdict::Verdict;
use crate::worker;

/// The part of a table's time for figures that are not sampled in rows.
const EXTRA_PART: u32 = 6;

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

/// Measures the points that `options` select, then passes the text of the results to `show`: a
/// verdict, the machine, the tables, and what makes figures doubtful.
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
    let peers = PeerSet::new(options)?;
    let plan = plan(options, &peers)?;
    let mut machine = Machine::of_this_process();
    machine.libraries = peers.libraries();
    machine.hold = options.libraries.level().map(|level| Hold::new(level, &peers.found_sources()));
    let looking = Instant::now();
    let watch = Watch::begin();
    let looked = looking.elapsed();
    let core_ghz = machine.core_ghz;
    let mut report =
        Report { results: Results::new(machine, Vec::new()), wrong: 0, interrupted: false };
    // The look at the machine takes nothing of the time for the rows.
    let mut end = start + options.total() + looked;
    let (mut sharing, mut of_all) = (Sharing::default(), Sharing::default());
    let (mut verdict, mut figures, mut remarks) =
        (Verdict::default(), String::new(), String::new());
    let shares: Vec<u32> = plan.iter().map(|part| part.share).collect();
    for (i, part) in plan.into_iter().enumerate() {
        let (begun, name) = (Instant::now(), part.heading());
        let left = end.saturating_duration_since(begun);
        let endless = part.is_endless(options);
        let time = Time { part: share(left, &shares[i..]), end };
        let table = part.table;
        let (sampled, text) =
            part.measure(i, &peers, time, &report.results.machine, &mut sharing, stop);
        verdict.add(table.screen, &Scope::of(&report.results.machine, &sampled.points, table.name));
        if endless {
            // Later parts keep the time that they would have had.
            end += begun.elapsed();
        }
        if !text.is_empty() {
            figures += &format!("\n{text}");
        }
        sampled.remarks.iter().for_each(|remark| remarks += &format!("{name}: {remark}\n"));
        let shared = sharing.text();
        if !shared.is_empty() {
            remarks += &format!("{name}: {shared}\n");
        }
        of_all.add(&core::mem::take(&mut sharing));
        report.wrong += sampled.wrong;
        report.results.points.extend(sampled.points);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if options.chosen_tables().is_empty() {
        figures += &tables::closing();
    }
    report.interrupted = stop.load(Ordering::Relaxed);
    let (mut conditions, text) = watch.end(core_ghz, report.interrupted);
    conditions.left_out = Some(of_all.left_out());
    let machine = report.results.machine.summary();
    let verdict = match verdict.text() {
        none if none.is_empty() => none,
        sentence => text::wrapped(&sentence) + "\n",
    };
    show(&format!("{verdict}{machine}\n{figures}\n"));
    show(&format!("{remarks}{}{}{text}", passes(&report.results.points), peers.missing()));
    report.results.conditions = Some(conditions);
    if report.interrupted {
        show("interrupted: these are the figures until then\n");
    }
    Ok(report)
}

/// How many passes there were, if there was no time for all of them.
fn passes(points: &[Point]) -> String {
    let counts = points.iter().map(|point| point.passes.len()).filter(|&count| count > 0);
    let mut counts: Vec<usize> = counts.collect();
    counts.sort_unstable();
    match counts.get(counts.len() / 2) {
        Some(&usual) if usual < sampler::PASSES => format!(
            "There was time for {usual} of {} passes: intervals are wider (--budget gives more).\n",
            sampler::PASSES
        ),
        _ => String::new(),
    }
}

/// The time of a part.
#[derive(Clone, Copy)]
struct Time {
    /// What it may take.
    part: Duration,
    /// When the whole run ends.
    end: Instant,
}

impl Part {
    /// Measures this part, which is number `place` of the plan.
    fn measure(
        self,
        place: usize,
        peers: &PeerSet<'_>,
        time: Time,
        machine: &Machine,
        sharing: &mut Sharing,
        stop: &AtomicBool,
    ) -> (Sampled, String) {
        let (start, core_ghz, options) = (Instant::now(), machine.core_ghz, peers.options());
        let Time { part: time, end } = time;
        let extra_time = if self.extra { time / EXTRA_PART } else { Duration::ZERO };
        let deadline = (!self.is_endless(options)).then(|| start + (time - extra_time));
        let workers = deadline.filter(|_| !options.worker.is_empty() && !self.rows.is_empty());
        let measured = workers.and_then(|_| {
            worker::measure(&options.worker, place, time - extra_time, core_ghz, stop)
        });
        let (mut sampled, shared) = measured.unwrap_or_else(|| {
            let progress = Progress::new(self.heading(), deadline, deadline.map(|_| end));
            let mut references = References::at(core_ghz);
            let limits = Limits { deadline, stop, least: sampler::PASSES };
            let sampled =
                sampler::measure(&self.rows, &self.first, &limits, &mut references, &progress);
            (sampled, references.sharing())
        });
        *sharing = shared;
        if let Some(extra) = self.table.extra.as_ref().filter(|_| self.extra) {
            let how = How {
                fits: &|id: &str| fits(options, id),
                time: extra_time,
                limits: Limits {
                    deadline: Some(Instant::now() + extra_time),
                    stop,
                    least: sampler::PASSES,
                },
                device: &options.device,
                #[cfg(all(target_os = "linux", any(feature = "aws-lc", feature = "ring")))]
                peers,
            };
            (extra.measure)(&how, &mut sampled);
        }
        sampled.points.splice(..0, self.given);
        (self.table.finish)(&mut sampled.points);
        let scope = Scope::of(machine, &sampled.points, self.table.name);
        let text = match self.is_screen {
            true => self.table.summary(&scope).text(),
            false => shown(self.table, options, &scope),
        };
        // What follows begins with an empty line.
        let text =
            text.strip_suffix("\n\n").map_or_else(|| text.clone(), |text| format!("{text}\n"));
        (sampled, text)
    }
}

/// What is shown of a table.
pub(crate) fn shown(table: &Table, options: &Options, scope: &Scope<'_>) -> String {
    let whole = table.sheet(scope);
    match &options.shown {
        Shown::Titled(title) if !whole.blocks.is_empty() => whole.titled(title),
        Shown::Usual if is_summary(table, options) => match table.summary(scope).text() {
            summary if summary.is_empty() => summary,
            summary => summary + READING + MORE,
        },
        _ => whole.text(),
    }
}

/// How to see what a summary leaves out.
const MORE: &str = "More: --all measures and shows the whole table, --table TITLE shows its parts of that title, and \
     --only PATTERN\nmeasures what has such an id.\n";
