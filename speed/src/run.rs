//! One run: tables, each with its share of the time.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::time::Instant;

use lanecrypt_peers::{
    Aead, Availability, Cipher, Generator, Peer, aeads, ciphers as all_ciphers, generators,
};

use crate::bandwidth;
use crate::ciphers;
use crate::contender::Contender;
use crate::depth::Depth;
use crate::machine::{Library, Machine};
use crate::options::{Error, Options, Peers, Table, share};
use crate::ours;
use crate::processors;
use crate::progress::Progress;
use crate::results::{Point, Results};
use crate::row::Row;
use crate::sampler::{self, Limits, Sampled};
use crate::tables::cprng::{self, extra};
use crate::tables::{calls, headline, packets, random, urandom, wide};

/// The part of a table's time that what is not sampled in rows may take.
const EXTRA_PART: u32 = 6;

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
/// [`Error`] when the options ask for a peer, a library or points that do not exist; nothing has been
/// measured then.
pub fn run(
    options: &Options,
    stop: &AtomicBool,
    show: &mut dyn FnMut(&str),
) -> Result<Report, Error> {
    let start = Instant::now();
    let peers = Found::by(options)?;
    let plan = plan(options, &peers)?;
    let mut machine = Machine::of_this_process();
    machine.libraries = peers.libraries();
    show(&(machine.summary() + "\n"));
    for line in peers.missing() {
        show(&(line + "\n"));
    }
    let mut report =
        Report { results: Results::new(machine, Vec::new()), wrong: 0, interrupted: false };
    let mut end = start + options.total();
    let shares: Vec<u32> = plan.iter().map(|part| part.kind.share()).collect();
    for (i, part) in plan.into_iter().enumerate() {
        let begun = Instant::now();
        let left = end.saturating_duration_since(begun);
        let endless = part.is_endless(options);
        let (sampled, text) = part.measure(options, share(left, &shares[i..]), stop);
        if endless {
            // What comes after it has the time that it would have had.
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

/// A table, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Headline,
    /// Of `random`: the message's table.
    Cprng,
    /// Of `random`: the tables by size.
    Sizes,
    Urandom,
    Calls,
    Packets,
}

impl Kind {
    /// Its share of the time; those of a table make two.
    const fn share(self) -> u32 {
        match self {
            Self::Headline | Self::Urandom | Self::Calls | Self::Packets => 2,
            Self::Cprng | Self::Sizes => 1,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Headline => "speed",
            Self::Cprng => "cprng_fast",
            Self::Sizes => random::NAME,
            Self::Urandom => urandom::NAME,
            Self::Calls => calls::NAME,
            Self::Packets => packets::NAME,
        }
    }

    /// Whether the document's test as a whole belongs to it.
    const fn has_test(self) -> bool {
        matches!(self, Self::Cprng | Self::Urandom)
    }
}

/// What is measured under one heading.
struct Part {
    kind: Kind,
    rows: Vec<Row>,
    /// Points that need no measurement.
    given: Vec<Point>,
    /// Whether figures belong to it that are not sampled in rows.
    extra: bool,
}

impl Part {
    /// The document's test as a whole takes as long as it takes, unless the user says how long.
    fn is_endless(&self, options: &Options) -> bool {
        options.depth == Depth::Full && self.kind.has_test() && options.budget.is_none()
    }

    fn measure(self, options: &Options, time: Duration, stop: &AtomicBool) -> (Sampled, String) {
        let start = Instant::now();
        let extra_time = if self.extra { time / EXTRA_PART } else { Duration::ZERO };
        let deadline = (!self.is_endless(options)).then(|| start + (time - extra_time));
        let progress = Progress::new(self.kind.name(), deadline);
        let mut sampled = sampler::measure(&self.rows, &Limits { deadline, stop }, &progress);
        drop(progress);
        if self.extra {
            let deadline = Some(Instant::now() + extra_time);
            match self.kind {
                Kind::Cprng => {
                    let fits = |id: &str| fits(options, id);
                    extra::measure(fits, &Limits { deadline, stop }, &mut sampled);
                }
                _ => {
                    let limits = Limits { deadline: None, stop };
                    let costs = wide::measure(extra_time, &limits);
                    sampled.points.extend(costs.into_iter().filter(|p| fits(options, &p.id)));
                }
            }
        }
        let mut points = self.given;
        points.append(&mut sampled.points);
        sampled.points = points;
        let points = &mut sampled.points;
        let text = match self.kind {
            Kind::Headline => {
                calls::finish(points);
                headline::text(points)
            }
            Kind::Cprng => {
                cprng::finish(points);
                let sizes = bandwidth::Sizes::of_this_machine();
                cprng::text(points, processors::allowed().len(), sizes)
            }
            Kind::Sizes => random::text(points),
            Kind::Urandom => urandom::text(points) + &wide::text(points) + FOOTPRINT,
            Kind::Calls => {
                calls::finish(points);
                calls::text(points)
            }
            Kind::Packets => packets::text(points),
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
fn plan(options: &Options, peers: &Found) -> Result<Vec<Part>, Error> {
    let mut contenders = ours::by_size();
    contenders.extend(peers.generators.iter().filter_map(Contender::peer));
    let peer_ciphers: Vec<ciphers::Contender> =
        peers.ciphers.iter().filter_map(ciphers::Contender::peer).collect();
    let peer_aeads: Vec<ciphers::Contender<dyn Aead>> =
        peers.aeads.iter().filter_map(ciphers::Contender::peer).collect();
    let tables = options.chosen_tables();
    let rivals = || contenders.iter().filter(|c| !c.is_ours()).cloned();
    let mut plan = Vec::new();
    if tables.is_empty() {
        let mut rows = headline::rows(&contenders, options.depth);
        rows.extend(calls::headline::rows(&peer_ciphers));
        rows.extend(packets::headline::rows(&peer_aeads, &peer_ciphers));
        // Threads that meet take long on a busy machine: everything else has its turn first.
        rows.sort_by_key(Row::threads);
        plan.push(Part { kind: Kind::Headline, rows, given: Vec::new(), extra: false });
    }
    for table in tables {
        match table {
            Table::Random => {
                let rivals: Vec<Contender> = rivals().collect();
                let rows = cprng::rows(&rivals, options.depth);
                let given = cprng::document();
                let extra = extra::ids().iter().any(|id| fits(options, id));
                plan.push(Part { kind: Kind::Cprng, rows, given, extra });
                let rows = random::rows(&contenders, options.depth);
                plan.push(Part { kind: Kind::Sizes, rows, given: Vec::new(), extra: false });
            }
            Table::Urandom => {
                let contenders: Vec<Contender> =
                    ours::by_level().into_iter().chain(rivals()).collect();
                let rows = urandom::rows(&contenders, options.depth);
                let extra = wide::ids().iter().any(|id| fits(options, id));
                let given = urandom::document();
                plan.push(Part { kind: Kind::Urandom, rows, given, extra });
            }
            Table::Calls => {
                let rows = calls::rows(&peer_ciphers, options.depth);
                let given = calls::document();
                plan.push(Part { kind: Kind::Calls, rows, given, extra: false });
            }
            Table::Packets => {
                // Who names points finds each of the whole grid.
                let named = options.only.is_some() && options.depth == Depth::Normal;
                let depth = if named { Depth::Full } else { options.depth };
                let rows = packets::rows(&peer_aeads, &peer_ciphers, depth);
                plan.push(Part { kind: Kind::Packets, rows, given: Vec::new(), extra: false });
            }
        }
    }
    for part in &mut plan {
        part.rows.retain(|row| fits(options, &row.point.id));
        part.given.retain(|point| fits(options, &point.id));
    }
    plan.retain(|part| !part.rows.is_empty() || !part.given.is_empty() || part.extra);
    match &options.only {
        Some(only) if plan.is_empty() => Err(Error::NothingMatches(only.clone())),
        _ => Ok(plan),
    }
}

/// The peers that a run looks for: chosen by the user, and for the tables that it measures.
struct Found {
    generators: Vec<Peer<dyn Generator>>,
    ciphers: Vec<Peer<dyn Cipher>>,
    aeads: Vec<Peer<dyn Aead>>,
}

impl Found {
    fn by(options: &Options) -> Result<Self, Error> {
        let tables = options.chosen_tables();
        // Names are known or unknown whatever is measured.
        let all = tables.is_empty() || matches!(options.peers, Peers::Only(_));
        let needed_by =
            |those: &[Table]| tables.is_empty() || tables.iter().any(|table| those.contains(table));
        let needs_generators = needed_by(&[Table::Random, Table::Urandom]);
        let needs_ciphers = needed_by(&[Table::Calls, Table::Packets]);
        let needs_aeads = needed_by(&[Table::Packets]);
        let libraries = &options.libraries;
        // Whoever names a library does not want figures without it.
        libraries.check().map_err(Error::Library)?;
        let looked_for = |needed: bool| all || needed;
        let mut found = Self { generators: Vec::new(), ciphers: Vec::new(), aeads: Vec::new() };
        if looked_for(needs_generators) {
            found.generators = generators(libraries);
        }
        if looked_for(needs_ciphers) {
            found.ciphers = all_ciphers(libraries);
        }
        if looked_for(needs_aeads) {
            found.aeads = aeads(libraries);
        }
        let known: Vec<&str> = found.each().map(|(source, _)| source).collect();
        options.peers.check(&known)?;
        let include = |source| options.peers.include(source);
        found.generators.retain(|peer| needs_generators && include(peer.source));
        found.ciphers.retain(|peer| needs_ciphers && include(peer.source));
        found.aeads.retain(|peer| needs_aeads && include(peer.source));
        Ok(found)
    }

    /// Project and availability of each.
    fn each(&self) -> impl Iterator<Item = (&'static str, &Availability)> {
        let generators = self.generators.iter().map(|peer| (peer.source, &peer.availability));
        let ciphers = self.ciphers.iter().map(|peer| (peer.source, &peer.availability));
        let aeads = self.aeads.iter().map(|peer| (peer.source, &peer.availability));
        generators.chain(ciphers).chain(aeads)
    }

    /// Each project that was found, once a version.
    fn libraries(&self) -> Vec<Library> {
        let mut found: Vec<Library> = Vec::new();
        for (source, availability) in self.each() {
            if let Availability::Found(version) = availability {
                let library = Library::new(source, version);
                if !found.contains(&library) {
                    found.push(library);
                }
            }
        }
        found
    }

    /// A line for each peer that is missing, with the way to get it.
    fn missing(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for (source, availability) in self.each() {
            if let Availability::Missing(hint) = availability {
                let line = format!("missing: {source}: {hint}");
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        lines
    }
}
