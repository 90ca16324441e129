//! What the table shows.

use super::API;
use super::process::RANDOM;
use crate::block::Block;
use crate::figure::{
    bytes, count, marked, megabits, microseconds, number, projected, scaling, subject_and_operation,
};
use crate::results::Point;
use crate::scope::Scope;
use crate::tables::study::{self, in_flight, is_latency, label};
use crate::view::{Grid, List};

pub(super) const LEGEND: &str = "\
To read: medians. ?: not verified. One request in flight is a blocked call. device same, sleep: the
daemon is on its client's processor, and both sleep at once; other: on another processor; spin: both
look for 200 us before they sleep; auto: as they are without settings. Data are copied in and out.
session, process: the engine in this process. pipe: a write and a read by one thread. unix-socket: a
process returns the bytes. study: /dev/crypto of 2003; its text gives two figures. model: computed
from descriptions of cards, in a host of 2003; nothing was measured. pkcs11: SoftHSM2, called in a
process of its own. Mean latency is the time of one request as its process sees it. GB are 2^30
bytes; ~: projected from less (--full makes all requests).
";

/// The blocks of these points.
pub(super) fn blocks(scope: &Scope<'_>) -> Vec<Block> {
    let (cards, mut with_cards) = (study::cards(&[64, 256, 1024, 4096, 8192]), scope.clone());
    with_cards.points.extend(&cards);
    let mut blocks = ONE_PROCESS.blocks(&with_cards);
    blocks.extend(PROCESSES.blocks(scope));
    blocks.extend(study::LATENCIES.blocks(scope));
    blocks.extend(RANDOM_BYTES.blocks(scope));
    blocks.extend(scaling_factors(scope));
    blocks
}

fn is_fill(point: &Point) -> bool {
    point.op == "fill"
}

fn is_of_one(point: &Point) -> bool {
    point.processes == Some(1)
}

/// One process: a line for each way and depth.
const ONE_PROCESS: Grid = Grid {
    of: |point| is_of_one(point) && !is_latency(point) && !is_fill(point),
    title: |point, unit| {
        format!("{}, one process: {unit}, by size in bytes", subject_and_operation(point))
    },
    names: (&["", "in flight"], |_, point| vec![label(point), in_flight(point)]),
    units: &[
        ("Mbit/s", |_, point| number(megabits(point))),
        ("us of a request", |_, point| number(microseconds(point))),
    ],
    ..Grid::USUAL
};

/// Several processes: the throughput of all, and the mean latency.
const PROCESSES: List = List {
    of: |point| point.api == API && !is_latency(point) && !is_fill(point),
    title: |_| "Several processes: throughput of all, and mean latency".to_owned(),
    names: (&["", "bytes", "in flight", "", "processes"], |_, point| {
        let what = subject_and_operation(point);
        vec![what, bytes(point), in_flight(point), label(point), processes(point)]
    }),
    columns: &[
        ("Mbit/s", |_, line| marked(line.points[0], megabits(line.points[0]))),
        ("by one", by_one),
        ("mean us", |_, line| number(mean_latency(line.points[0]))),
        ("of one us", |all, line| number(mean_latency(by_one_process(all, line)?))),
    ],
    is_shown: |line| line.points[0].processes > Some(1),
    ..List::USUAL
};

/// Random bytes: one process and several.
const RANDOM_BYTES: List = List {
    of: is_fill,
    title: |_| "Random bytes".to_owned(),
    names: (&["", "bytes", "in flight", "processes"], |_, point| {
        let whose = if point.subject == RANDOM { "" } else { " (no daemon)" };
        vec![label(point) + whose, bytes(point), in_flight(point), processes(point)]
    }),
    columns: &[
        ("ns", |_, line| marked(line.points[0], line.points[0].ns)),
        ("MB/s of all", |_, line| number(line.points[0].megabytes_per_second())),
        ("by one", by_one),
        ("4 GB each, s", |_, line| {
            let point = line.points[0];
            Some(format!("{}{:.1}", projected(point), point.seconds?))
        }),
    ],
    ..List::USUAL
};

fn processes(point: &Point) -> String {
    count(point.processes)
}

/// The same requests of one process.
fn by_one_process<'a>(all: &Scope<'a>, line: &Scope<'_>) -> Option<&'a Point> {
    let key = |p: &Point| (p.subject.clone(), p.op.clone(), p.size, p.depth, label(p));
    let several = line.points.iter().find(|point| point.processes > Some(1))?;
    all.find(|point| is_of_one(point) && key(point) == key(several))
}

/// The throughput of several processes divided by that of one.
fn by_one(all: &Scope<'_>, line: &Scope<'_>) -> Option<String> {
    scaling(by_one_process(all, line), line.points.first().copied())
}

/// The scaling factors of NetBSD's study: the time of its one stream divided by that of its four.
fn scaling_factors(scope: &Scope<'_>) -> Option<Block> {
    let whole = scope.only(|point| is_fill(point) && point.whole.is_some());
    let factors =
        whole.points.iter().filter(|point| point.processes == Some(4)).filter_map(|four| {
            let one = whole.find(|point| is_of_one(point) && label(point) == label(four))?;
            Some(format!("{} {:.3}", label(four), one.seconds? / four.seconds?))
        });
    let factors = factors.collect::<Vec<_>>().join("; ");
    let note = format!(
        "1 on four processors at best; NetBSD's study of 2012: 0.018 to 0.808. Here:\n{factors}.\n"
    );
    let title = "Scaling factor: the time of 4 GB by one process, divided by that of 16 GB by four";
    Block::of_words(title, note).filter(|_| !factors.is_empty())
}

/// The mean time of a request as its process sees it, in microseconds.
fn mean_latency(point: &Point) -> Option<f64> {
    Some(microseconds(point)? * f64::from(point.depth.unwrap_or(1)))
}
