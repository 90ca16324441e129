//! What the tables `engine` and `device` share: the figures of the study of the OpenBSD
//! cryptographic framework (USENIX 2003), its cards as they are computed, and latency by requests
//! in flight.

use lanecrypt_accelerators::model::{Card, Host, Work};
use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Direction;

use crate::ciphers::seal_or_open;
use crate::clock::as_f64;
use crate::figure::{bytes, count, megabits, millions, number, subject_and_operation};
use crate::results::Point;
use crate::scope::MODEL;
use crate::view::List;

/// Bytes of a request, and megabits per second: the null algorithm through `/dev/crypto`, by one
/// blocked process. The rest of the study's Figure 1 exists as a picture only.
const NULL: [(u64, f64); 2] = [(1024, 420.0), (8192, 600.0)];

/// The study's figures as points of a table.
pub(super) fn points(table: &str) -> Vec<Point> {
    let point = |(size, megabits): (u64, f64)| {
        let ns = as_f64(size) * 8e3 / megabits;
        Point {
            id: format!("{table}/document/null/process/{size}"),
            table: table.into(),
            source: "document".into(),
            api: "dev-crypto".into(),
            subject: "null".into(),
            op: "process".into(),
            size: Some(size),
            depth: Some(1),
            ns: Some(ns),
            per_second: Some(1e9 / ns),
            ..Point::default()
        }
    };
    NULL.map(point).into()
}

/// Cards of the study that have a description, with their algorithms.
const CARDS: [(&str, Algorithm); 4] = [
    ("broadcom-5820", Algorithm::DES_CBC),
    ("broadcom-5820", Algorithm::TRIPLE_DES_CBC),
    ("hifn-7751", Algorithm::DES_CBC),
    ("hifn-7751", Algorithm::TRIPLE_DES_CBC),
];

/// The cards in a host of 2003, computed from their descriptions for these sizes, because the
/// study's text has no figures of them.
pub(super) fn cards(sizes: &[u64]) -> Vec<Point> {
    let point = |card: &str, algorithm: Algorithm, size: u64| {
        let (of_card, host) = (Card::built_in(card)?, Host::built_in("host-2003")?);
        let work = Work::new(algorithm, usize::try_from(size).ok()?);
        let ns = of_card.nanoseconds(&host, work, 1)?;
        Some(Point {
            source: MODEL.into(),
            api: card.into(),
            subject: algorithm.to_string(),
            op: Direction::Encrypt.name().into(),
            size: Some(size),
            depth: Some(1),
            threads: Some(1),
            processes: Some(1),
            ns: Some(ns),
            per_second: Some(1e9 / ns),
            ..Point::default()
        })
    };
    let cards = CARDS.iter();
    cards
        .flat_map(|&(card, of)| sizes.iter().filter_map(move |&size| point(card, of, size)))
        .collect()
}

/// The operation's name; the null algorithm has one only.
pub(super) fn op(algorithm: Algorithm, direction: Direction) -> &'static str {
    match algorithm {
        Algorithm::NULL => "process",
        _ if algorithm.is_aead() => seal_or_open(direction),
        _ => direction.name(),
    }
}

/// The name of a line: who it is, and where a daemon runs and how both sides wait.
pub(super) fn label(point: &Point) -> String {
    let setting = match (&point.placement, &point.wait) {
        (Some(placement), Some(wait)) if placement == wait => format!(" {placement}"),
        (Some(placement), Some(wait)) => format!(" {placement}, {wait}"),
        _ => String::new(),
    };
    match (&*point.source, &*point.api) {
        ("document", _) => "study: KERNEL-NULL".to_owned(),
        (MODEL, card) => format!("model: {card}"),
        ("lanecrypt", api) | ("kernel", api @ ("pipe" | "unix-socket")) => {
            format!("{api}{setting}")
        }
        (source, api) => format!("{source} {api}"),
    }
}

/// Requests in flight as a cell.
pub(super) fn in_flight(point: &Point) -> String {
    count(point.depth)
}

/// Whether it is of [`LATENCIES`].
pub(super) fn is_latency(point: &Point) -> bool {
    point.p50_ns.is_some()
}

/// Latency and throughput by requests in flight.
pub(super) const LATENCIES: List = List {
    of: is_latency,
    title: |_| "Latency and throughput by requests in flight".to_owned(),
    names: (&["", "bytes", "", "in flight"], |_, point| {
        vec![subject_and_operation(point), bytes(point), label(point), in_flight(point)]
    }),
    columns: &[
        ("p50 ns", |_, line| number(line.points[0].p50_ns)),
        ("p99 ns", |_, line| number(line.points[0].p99_ns)),
        ("p99.9 ns", |_, line| number(line.points[0].p999_ns)),
        ("M/s", |_, line| number(millions(line.points[0]))),
        ("Mbit/s", |_, line| number(megabits(line.points[0]))),
    ],
    ..List::USUAL
};
