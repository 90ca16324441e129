//! One run: tables, each with its share of the time.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::time::Instant;

use lanecrypt_peers::{Availability, GeneratorPeer, generators_with};

use crate::contender::{self, Contender};
use crate::depth::Depth;
use crate::machine::{Library, Machine};
use crate::options::{Error, Options, Table, share};
use crate::progress::Progress;
use crate::results::{Point, Results};
use crate::row::Row;
use crate::sampler::{self, Limits, Sampled};
use crate::tables::{headline, random, urandom, wide};

/// The part of a table's time that the cost of wide vectors may take.
const WIDE_PART: u32 = 6;

/// How a run went.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// What was measured.
    pub results: Results,
    /// Rows of ours whose answers were wrong.
    pub wrong: usize,
    /// Whether it ended before its time.
    pub interrupted: bool,
}

/// Measures what `options` ask for; text goes to `show` as it becomes known.
///
/// Ends soon after `stop` is set, with what was measured until then.
///
/// # Errors
///
/// [`Error`] when the options ask for a peer or for points that do not exist; nothing has been
/// measured then.
pub fn run(
    options: &Options,
    stop: &AtomicBool,
    show: &mut dyn FnMut(&str),
) -> Result<Report, Error> {
    let start = Instant::now();
    let peers = options.peers.choose(generators_with(&options.libraries))?;
    let plan = plan(options, &peers)?;
    let mut machine = Machine::of_this_process();
    machine.libraries = libraries(&peers);
    show(&(machine.summary() + "\n"));
    for line in missing(&peers) {
        show(&(line + "\n"));
    }
    let mut report =
        Report { results: Results::new(machine, Vec::new()), wrong: 0, interrupted: false };
    let end = start + options.total();
    let tables = plan.len();
    for (i, part) in plan.into_iter().enumerate() {
        let left = end.saturating_duration_since(Instant::now());
        let (sampled, text) = part.measure(options, share(left, tables - i), stop);
        show(&format!("\n{text}"));
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

/// One table's rows; no table is the headline.
struct Part {
    table: Option<Table>,
    rows: Vec<Row>,
    /// Points that need no measurement.
    given: Vec<Point>,
    /// Whether the cost of wide vectors belongs to it.
    wide: bool,
}

impl Part {
    fn measure(self, options: &Options, time: Duration, stop: &AtomicBool) -> (Sampled, String) {
        let start = Instant::now();
        // The document's test as a whole takes as long as it takes, unless the user says how long.
        let endless = options.depth == Depth::Full
            && self.table == Some(Table::Urandom)
            && options.budget.is_none();
        let wide_time = if self.wide { time / WIDE_PART } else { Duration::ZERO };
        let deadline = (!endless).then(|| start + (time - wide_time));
        let name = self.table.map_or("speed", Table::name);
        let progress = Progress::new(name, deadline);
        let mut sampled = sampler::measure(&self.rows, &Limits { deadline, stop }, &progress);
        drop(progress);
        if self.wide {
            let limits = Limits { deadline: None, stop };
            let costs = wide::measure(wide_time, &limits);
            sampled.points.extend(costs.into_iter().filter(|p| fits(options, &p.id)));
        }
        let mut points = self.given;
        points.append(&mut sampled.points);
        sampled.points = points;
        let text = match self.table {
            None => headline::text(&sampled.points),
            Some(Table::Random) => random::text(&sampled.points),
            Some(Table::Urandom) => {
                urandom::text(&sampled.points) + &wide::text(&sampled.points) + FOOTPRINT
            }
        };
        (sampled, text)
    }
}

/// Where the message's third figure is compared.
const FOOTPRINT: &str = "\nThe message's \"extra 20k\" of code for the crypto layer: \
    `make footprint` measures what a minimal\nprogram gains by our random numbers.\n";

fn fits(options: &Options, id: &str) -> bool {
    options.only.as_ref().is_none_or(|only| only.matches(id))
}

/// Everything that a run measures, in order.
fn plan(options: &Options, peers: &[GeneratorPeer]) -> Result<Vec<Part>, Error> {
    let mut contenders = contender::ours();
    contenders.extend(peers.iter().filter_map(Contender::peer));
    let tables = options.chosen_tables();
    let mut plan = Vec::new();
    if tables.is_empty() {
        let rows = headline::rows(&contenders, options.depth);
        plan.push(Part { table: None, rows, given: Vec::new(), wide: false });
    }
    for table in tables {
        let mut part = match table {
            Table::Random => {
                let rows = random::rows(&contenders, options.depth);
                Part { table: Some(table), rows, given: Vec::new(), wide: false }
            }
            Table::Urandom => {
                let rivals = contenders.iter().filter(|c| !c.is_ours()).cloned();
                let contenders: Vec<Contender> =
                    contender::ours_by_level().into_iter().chain(rivals).collect();
                let rows = urandom::rows(&contenders, options.depth);
                let wide = wide::ids().iter().any(|id| fits(options, id));
                Part { table: Some(table), rows, given: urandom::document(), wide }
            }
        };
        part.rows.retain(|row| fits(options, &row.point.id));
        part.given.retain(|point| fits(options, &point.id));
        if !part.rows.is_empty() || !part.given.is_empty() || part.wide {
            plan.push(part);
        }
    }
    match &options.only {
        Some(only) if plan.is_empty() => Err(Error::NothingMatches(only.clone())),
        _ => Ok(plan),
    }
}

/// Each project that was found, once.
fn libraries(peers: &[GeneratorPeer]) -> Vec<Library> {
    let mut found: Vec<Library> = Vec::new();
    for peer in peers {
        if let Availability::Found(version) = &peer.availability {
            let library = Library::new(peer.source, version);
            if !found.contains(&library) {
                found.push(library);
            }
        }
    }
    found
}

/// A line for each peer that is missing, with the way to get it.
fn missing(peers: &[GeneratorPeer]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for peer in peers {
        if let Availability::Missing(hint) = &peer.availability {
            let line = format!("missing: {}: {hint}", peer.source);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}
