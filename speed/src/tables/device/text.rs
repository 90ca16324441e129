//! The table as text.

use super::process::RANDOM;
use super::{ALGORITHMS, API, directions, echo, latency, op};
use crate::results::Point;
use crate::tables::engine::document::BAR;
use crate::tables::engine::text::{CARDS, megabits, modelled};
use crate::tables::grid::{mark, sizes};
use crate::text::{self, optional};

/// The table as text.
pub(super) fn text(points: &[Point]) -> String {
    let all: Vec<&Point> = points.iter().filter(|p| p.table == super::NAME).collect();
    let (latencies, rest): (Vec<&Point>, Vec<&Point>) =
        all.into_iter().partition(|p| p.id.ends_with(latency::SUFFIX));
    let (random, rest): (Vec<&Point>, Vec<&Point>) = rest.into_iter().partition(|p| is_random(p));
    let mut out = String::new();
    for algorithm in ALGORITHMS {
        for &direction in directions(algorithm) {
            let (subject, op) = (algorithm.to_string(), op(algorithm, direction));
            let is_it = |p: &&Point| (&*p.subject, &*p.op) == (&*subject, op);
            let of: Vec<&Point> = rest.iter().copied().filter(is_it).collect();
            out += &one_process(&of, &subject, op);
        }
    }
    out += &processes(&rest);
    out += &in_flight(&latencies);
    out += &random_bytes(&random);
    if !out.is_empty() {
        out += LEGEND;
    }
    out
}

const LEGEND: &str = "\
To read: medians. ?: not verified. One request in flight is a blocked call. device same, sleep: the
daemon is on its client's processor, and both sleep at once; other: on another processor; spin: both
look for 200 us before they sleep; auto: as they are without settings. Data are copied in and out.
session, process: the engine in this process. pipe: a write and a read by one thread. unix-socket: a
process returns the bytes. study: /dev/crypto of 2003; its text gives two figures. model: computed
from descriptions of cards, in a host of 2003; nothing was measured. pkcs11: SoftHSM2, called in a
process of its own. Mean latency is the time of one request as its process sees it. GB are 2^30
bytes; ~: projected from less (--full makes all requests).
";

fn is_random(point: &Point) -> bool {
    point.op == "fill"
}

/// The name of a line.
fn label(point: &Point) -> String {
    let setting = match (&point.placement, &point.wait) {
        (Some(placement), Some(wait)) if placement == wait => format!(" {placement}"),
        (Some(placement), Some(wait)) => format!(" {placement}, {wait}"),
        _ => String::new(),
    };
    match (&*point.source, &*point.api) {
        ("document", _) => format!("study: {BAR}"),
        ("lanecrypt", api) => format!("{api}{setting}"),
        ("kernel", api @ (echo::PIPE | echo::SOCKET)) => format!("{api}{setting}"),
        (source, api) => format!("{source} {api}"),
    }
}

/// One process: a line for each way and depth, with megabits and microseconds by size.
fn one_process(points: &[&Point], subject: &str, op: &str) -> String {
    let of: Vec<&Point> = points.iter().copied().filter(|p| p.processes == Some(1)).collect();
    let mut lines: Vec<(bool, u32, String)> = Vec::new();
    for point in &of {
        let line = (point.source != "document", point.depth.unwrap_or(1), label(point));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    // The order of the rows, by requests in flight; the study first.
    lines.sort_by_key(|&(is_measured, depth, _)| (is_measured, depth));
    let sizes = sizes(&of);
    let mut rows: Vec<Vec<String>> = models(subject, op, &sizes);
    for (is_measured, depth, name) in lines {
        let at = |size: u64| {
            of.iter().copied().find(|p| {
                let line = (p.source != "document", p.depth.unwrap_or(1), label(p));
                p.size == Some(size) && line == (is_measured, depth, name.clone())
            })
        };
        let cell = |size: u64, value: fn(&Point) -> Option<f64>| {
            let point = at(size)?;
            Some(text::number(value(point)?) + mark(point, None))
        };
        let values = [megabits, microseconds].into_iter().flat_map(|value| {
            let cells = sizes.iter().map(|&size| cell(size, value));
            cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned())).collect::<Vec<_>>()
        });
        rows.push([name.clone(), depth.to_string()].into_iter().chain(values).collect());
    }
    if rows.is_empty() || of.is_empty() {
        return String::new();
    }
    let mut header = vec![String::new(), "in flight".to_owned()];
    for unit in [" Mbit/s", " us"] {
        header.extend(sizes.iter().map(|&size| text::size(size) + unit));
    }
    let table = text::table(&header, &format!("lr{}", "r".repeat(2 * sizes.len())), rows);
    format!("{subject} {op}, one process: by size in bytes\n{table}\n")
}

/// The study's cards, computed.
fn models(subject: &str, op: &str, sizes: &[u64]) -> Vec<Vec<String>> {
    let cards = CARDS.iter().filter(|(_, algorithm)| algorithm.to_string() == subject);
    let rows = cards.filter(|_| op == "encrypt").map(|&(card, algorithm)| {
        let rates = sizes.iter().map(|&size| modelled(card, algorithm, size));
        let rates = rates.map(|rate| rate.unwrap_or_else(|| "-".to_owned()));
        let rest = sizes.iter().map(|_| "-".to_owned());
        let name = [format!("model: {card}"), "1".to_owned()];
        name.into_iter().chain(rates).chain(rest).collect()
    });
    rows.collect()
}

/// Several processes: the throughput of all, and the mean latency.
fn processes(points: &[&Point]) -> String {
    let is_ours = |p: &&&Point| p.api == API && p.processes.is_some();
    let ours: Vec<&Point> = points.iter().filter(is_ours).copied().collect();
    let several = ours.iter().copied().filter(|p| p.processes > Some(1));
    let rows = several.map(|point| {
        let one = ours.iter().copied().find(|p| {
            p.processes == Some(1)
                && (&p.subject, &p.op, p.size, p.depth, label(p))
                    == (&point.subject, &point.op, point.size, point.depth, label(point))
        });
        let factor = one.and_then(|one| Some(point.per_second? / one.per_second?));
        vec![
            format!("{} {}", point.subject, point.op),
            text::size(point.size.unwrap_or(0)),
            point.depth.unwrap_or(1).to_string(),
            label(point),
            point.processes.unwrap_or(1).to_string(),
            optional(megabits(point)) + mark(point, None),
            factor.map_or_else(|| "-".to_owned(), text::times),
            optional(mean_latency(point)),
            optional(one.and_then(mean_latency)),
        ]
    });
    let header =
        ["", "bytes", "in flight", "", "processes", "Mbit/s", "by one", "mean us", "of one us"];
    let title = "Several processes: throughput of all, and mean latency";
    text::titled(title, &header, "lrrlrrrrr", rows)
}

/// Latency by requests in flight.
fn in_flight(points: &[&Point]) -> String {
    let rows = points.iter().map(|point| {
        let millions = point.per_second.map(|n| n / 1e6);
        let mut row = vec![
            format!("{} {} {}", point.subject, point.op, text::size(point.size.unwrap_or(0))),
            label(point),
            point.depth.unwrap_or(1).to_string(),
        ];
        row.extend([point.p50_ns, point.p99_ns, point.p999_ns, millions].map(optional));
        row
    });
    let header = ["", "", "in flight", "p50 ns", "p99 ns", "p99.9 ns", "M/s"];
    text::titled("Latency by requests in flight, one process", &header, "llrrrrr", rows)
}

/// Random bytes: one process and several.
fn random_bytes(points: &[&Point]) -> String {
    let rows = points.iter().map(|point| {
        let one = points.iter().find(|p| {
            p.processes == Some(1)
                && (p.size, p.depth, label(p)) == (point.size, point.depth, label(point))
        });
        let is_several = point.processes > Some(1);
        let factor = one.filter(|_| is_several);
        let factor = factor.and_then(|one| Some(point.per_second? / one.per_second?));
        vec![
            if point.subject == RANDOM { label(point) } else { label(point) + " (no daemon)" },
            text::size(point.size.unwrap_or(0)),
            point.depth.unwrap_or(1).to_string(),
            point.processes.unwrap_or(1).to_string(),
            optional(point.ns) + mark(point, None),
            optional(point.megabytes_per_second()),
            factor.map_or_else(String::new, text::times),
            seconds(point),
        ]
    });
    let header =
        ["", "bytes", "in flight", "processes", "ns", "MB/s of all", "by one", "4 GB each, s"];
    text::titled("Random bytes", &header, "lrrrrrrr", rows) + &scaling(points)
}

/// Seconds of the whole streams, projected unless they were made.
fn seconds(point: &Point) -> String {
    let projected = if point.whole == Some(false) { "~" } else { "" };
    point.seconds.map_or_else(String::new, |seconds| format!("{projected}{seconds:.1}"))
}

/// The scaling factors of NetBSD's study: the time of its one stream divided by that of its four.
fn scaling(points: &[&Point]) -> String {
    let of = |processes: u32| points.iter().filter(move |p| p.processes == Some(processes));
    let factors = of(4).filter_map(|four| {
        let one = of(1).find(|one| one.whole.is_some() && label(one) == label(four))?;
        Some(format!("{} {:.3}", label(four), one.seconds? / four.seconds?))
    });
    let factors: Vec<String> = factors.collect();
    match factors.is_empty() {
        true => String::new(),
        false => format!(
            "Scaling factor, the time of 4 GB by one process divided by that of 16 GB by four; 1 on \
             four processors\nat best; NetBSD's study of 2012: 0.018 to 0.808:\n{}\n\n",
            factors.join("; ")
        ),
    }
}

fn microseconds(point: &Point) -> Option<f64> {
    Some(point.ns? / 1e3)
}

/// The mean time of a request as its process sees it, in microseconds.
fn mean_latency(point: &Point) -> Option<f64> {
    Some(point.ns? / 1e3 * f64::from(point.depth.unwrap_or(1)))
}
