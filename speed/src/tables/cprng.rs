//! The benchmark of NetBSD's `cprng_fast`, repeated: the message's table, with its rows, columns
//! and units, followed by the further measurements that it asks for. Part of the table `random`.
//!
//! The message timed 1,000,000 calls of 32 bits under each key, 4 GB in requests of 256 bytes, and
//! 16 GB in four parallel streams; GB are 2^30 bytes here. Its scaling factor is the time of the
//! one stream divided by that of the four.

use core::time::Duration;

use crate::candidate::{Before, Candidate, Op};
use crate::depth::Depth;
use crate::own_generators;
use crate::results::Point;
use crate::row::{Batches, Row, Test};
use crate::table::{self, Extra, Table};
use crate::tables::random;

mod bandwidth;
pub(crate) mod extra;
mod repeats;
#[cfg(test)]
#[path = "../../tests/unit/cprng.rs"]
mod tests;
mod view;

/// The message's part of the table.
pub(crate) const TABLE: Table = Table {
    heading: "cprng_fast",
    rows: |peers, depth| rows(peers.generators(), depth),
    given: document,
    extra: Some(Extra {
        ids: extra::ids,
        measure: |how, sampled| extra::measure(how.fits, &how.limits, sampled),
    }),
    finish,
    has_test: true,
    blocks: view::blocks,
    legend: view::LEGEND,
    ..Table::new(random::NAME)
};

/// Calls of 32 bits under one key.
const CALLS: u64 = 1_000_000;
/// Bytes of a request of the streams.
const SIZE: usize = 256;
/// Requests of each stream: 4 GB.
const REQUESTS: u64 = (4 << 30) / SIZE as u64;
/// Parallel streams.
const STREAMS: u32 = 4;

/// Without `--full`, fewer calls are made if they would take longer.
const LONGEST_CALLS: Duration = Duration::from_millis(30);
/// If streams share processors, a batch takes many time slices.
const SHARED_BATCH: Duration = Duration::from_millis(25);

/// The peers that are measured if there is little time, by their entry points.
const QUICK_PEERS: [&str; 6] =
    ["getrandom", "vdso", "rand-bytes", "thread-rng", "hc128-rng", "system-random"];
/// The other ciphers that are measured then.
const QUICK_CIPHERS: [&str; 3] = ["salsa20", "chacha20", "aes-256-ctr"];

/// The rows at a depth; `peers` are the peers' generators.
pub(crate) fn rows(peers: &[Candidate], depth: Depth) -> Vec<Row> {
    let quick = depth == Depth::Quick;
    let mut candidates = own_generators::of_the_message();
    candidates.extend(own_generators::variants_of_the_message());
    let others = own_generators::other_ciphers().into_iter();
    candidates
        .extend(others.filter(|c| !quick || QUICK_CIPHERS.contains(&c.point().subject.as_str())));
    candidates.extend(own_generators::recommended());
    let peers = peers.iter().cloned();
    candidates.extend(peers.filter(|c| !quick || QUICK_PEERS.contains(&c.point().api.as_str())));
    candidates.iter().flat_map(|candidate| cells(candidate, depth)).collect()
}

/// The cells of one line.
fn cells(candidate: &Candidate, depth: Depth) -> Vec<Row> {
    let mut rows = vec![words(candidate, Before::Making, depth)];
    if candidate.rekeys() {
        rows.push(words(candidate, Before::Rekeying, depth));
    }
    rows.push(streams(candidate, 1, depth));
    // A generator for one thread has no parallel streams.
    if candidate.point().api != "single" {
        rows.push(streams(candidate, STREAMS, depth));
    }
    rows
}

/// 1,000,000 calls of 32 bits.
fn words(candidate: &Candidate, before: Before, depth: Depth) -> Row {
    let mut row = candidate.row_after(before, random::NAME, Op::Word, 4, 1);
    let phase = if before == Before::Making { "initial" } else { "rekeyed" };
    row.point.id = format!("{}/u32/4/t1/{phase}", table::id(&row.point));
    row.point.phase = Some(phase.to_owned());
    row.point.whole = Some(false);
    let full = depth == Depth::Full;
    let (longest, runs) =
        if full { (whole_run(candidate), Some(11)) } else { (LONGEST_CALLS, None) };
    row.batches.test = Some(Test { requests: CALLS, longest, runs, parts: 1 });
    row
}

/// 4 GB in each of one or four streams.
fn streams(candidate: &Candidate, threads: u32, depth: Depth) -> Row {
    let mut row = candidate.row(random::NAME, Op::Fill, SIZE, threads);
    let amount = 4 * threads;
    row.point.id = format!("{}/fill/{SIZE}/t{threads}/{amount}gb", table::id(&row.point));
    row.point.whole = Some(false);
    let longest = if depth == Depth::Full { whole_run(candidate) } else { Duration::ZERO };
    // As many runs as the message made: the median of three for one stream, and one run for four.
    let runs = Some(if threads == 1 { 3 } else { 1 });
    let test = Some(Test { requests: REQUESTS, longest, runs, parts: 64 });
    let usual = Batches::default();
    row.batches = match threads {
        1 => Batches { test, ..usual },
        _ => Batches { test, length: SHARED_BATCH, enough: Some(5), ..usual },
    };
    row
}

/// The longest run of the message's literal size: a slow peer must not take hours.
fn whole_run(candidate: &Candidate) -> Duration {
    Duration::from_secs(if candidate.is_ours() { 3600 } else { 60 })
}

/// Enters figures that follow from the measured ones: the seconds of the whole streams.
fn finish(points: &mut [Point]) {
    for point in points.iter_mut().filter(|p| p.whole.is_some() && p.op == "fill") {
        point.seconds = point.ns.map(|ns| ns * crate::clock::as_f64(REQUESTS) / 1e9);
    }
}

/// A line of the message's table.
struct Line {
    name: &'static str,
    api: &'static str,
    subject: &'static str,
    generator: &'static str,
    /// Cycles per byte of 32-bit requests.
    cpb: f64,
    /// Seconds of the one stream and of the four.
    seconds: [f64; 2],
    /// The scaling factor as printed: cut off, not rounded.
    factor: &'static str,
}

/// The message's figures: four dual-core Opteron 880, 2012.
const DOCUMENT: [Line; 5] = [
    Line {
        name: "arc4-mtx",
        api: "shared",
        subject: "arc4",
        generator: "rekeying",
        cpb: 35.0,
        seconds: [42.58, 398.83],
        factor: "0.106",
    },
    Line {
        name: "arc4-nomtx",
        api: "unsynchronised",
        subject: "arc4",
        generator: "rekeying",
        cpb: 24.0,
        seconds: [42.12, 2338.92],
        factor: "0.018",
    },
    Line {
        name: "arc4-percpu",
        api: "per-cpu",
        subject: "arc4",
        generator: "rekeying",
        cpb: 27.0,
        seconds: [33.63, 41.59],
        factor: "0.808",
    },
    Line {
        name: "hc128-percpu",
        api: "per-cpu",
        subject: "hc128",
        generator: "rekeying",
        cpb: 21.0,
        seconds: [23.75, 34.90],
        factor: "0.680",
    },
    Line {
        name: "hc128-inline",
        api: "per-cpu",
        subject: "hc128",
        generator: "rekeying-inline",
        cpb: 19.0,
        seconds: [22.66, 31.75],
        factor: "0.713",
    },
];

/// The message's own figures as points.
pub(crate) fn document() -> Vec<Point> {
    let mut points = Vec::new();
    for line in &DOCUMENT {
        let bare = Point {
            table: random::NAME.into(),
            source: "document".into(),
            api: line.api.into(),
            subject: line.subject.into(),
            generator: Some(line.generator.into()),
            threads: Some(1),
            whole: Some(true),
            ..Point::default()
        };
        let id = table::id(&bare);
        points.push(Point {
            id: format!("{id}/u32/4/t1/{CALLS}"),
            op: "u32".into(),
            size: Some(4),
            cycles: Some(4.0 * line.cpb),
            ..bare.clone()
        });
        for (threads, seconds) in [1, STREAMS].into_iter().zip(line.seconds) {
            let ns = seconds * 1e9 / crate::clock::as_f64(REQUESTS);
            points.push(Point {
                id: format!("{id}/fill/{SIZE}/t{threads}/{}gb", 4 * threads),
                op: "fill".into(),
                size: Some(SIZE as u64),
                threads: Some(threads),
                ns: Some(ns),
                per_second: Some(1e9 / ns * f64::from(threads)),
                seconds: Some(seconds),
                ..bare.clone()
            });
        }
    }
    points.push(bandwidth::document());
    points
}

/// The message's scaling factor: the time of one stream divided by that of four.
fn factor(one: f64, four: f64) -> f64 {
    one / four
}

/// The throughput of the four streams as a share of the most that the existing processors could
/// reach.
fn normalised(one: f64, four: f64, processors: u32) -> f64 {
    let possible = processors.clamp(1, STREAMS);
    factor(one, four) * f64::from(STREAMS) / f64::from(possible)
}
