//! The rows of the table on the first screen.

use super::{row, scaling};
use crate::contender::Contender;
use crate::depth::Depth;
use crate::ours::DEFAULT;
use crate::results::Point;
use crate::row::Row;
use crate::table::{add_once, is_held, is_safe, name, quickest, ratio};
use crate::text;

/// A line of the screen: the points of ours that it shows, and their unit.
struct Line {
    what: &'static str,
    api: &'static str,
    size: u64,
    threads: u32,
    subjects: &'static [&'static str],
}

/// The possible default cores.
const ANY: &[&str] = &["aes-256-ctr", "chacha20"];
const CHACHA: &[&str] = &["chacha20", "chacha12", "chacha8"];
const CHACHA20: &[&str] = &["chacha20"];
const LARGE: u64 = 4 << 20;

/// Two lines: the generator of programs that name no core, and one with a named core.
const fn both(
    what: &'static str,
    size: u64,
    threads: u32,
    named: &'static [&'static str],
) -> [Line; 2] {
    [
        Line { what, api: DEFAULT, size, threads, subjects: ANY },
        Line { what, api: "per-thread", size, threads, subjects: named },
    ]
}

const LINES: [[Line; 2]; 8] = [
    both("u32", 4, 1, CHACHA20),
    [
        Line { what: "u32, held", api: "held", size: 4, threads: 1, subjects: &["aes-256-ctr"] },
        Line { what: "u32, held", api: "held", size: 4, threads: 1, subjects: CHACHA20 },
    ],
    both("32 bytes", 32, 1, CHACHA20),
    both("256 bytes", 256, 1, CHACHA20),
    both("4 MiB, per byte", LARGE, 1, CHACHA),
    both("u32, 2 threads", 4, 2, CHACHA20),
    both("256 B, 2 threads", 256, 2, CHACHA20),
    both("4 MiB, 2 threads", LARGE, 2, CHACHA20),
];

/// The rows: each of ours that a line shows, and every peer beside it.
pub(crate) fn rows(contenders: &[Contender], depth: Depth) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in LINES.as_flattened() {
        let size = usize::try_from(line.size).unwrap_or(0);
        for contender in contenders {
            let row = row(contender, size, line.threads);
            let point = &row.point;
            let wanted = if contender.is_ours() {
                point.api == line.api && line.subjects.contains(&point.subject.as_str())
            } else {
                depth != Depth::Quick || line.threads == 1 || point.source != "libgcrypt"
            };
            add_once(&mut rows, wanted.then_some(row));
        }
    }
    rows
}

/// The cost of a request, and the scaling to two threads.
pub(crate) fn text(points: &[Point]) -> String {
    let mut costs = Vec::new();
    let mut scalings = Vec::new();
    for line in LINES.as_flattened() {
        for subject in line.subjects {
            let ours = points.iter().find(|p| {
                p.is_ours()
                    && p.api == line.api
                    && p.subject == *subject
                    && p.size == Some(line.size)
                    && p.threads == Some(line.threads)
            });
            let Some(ours) = ours else { continue };
            if line.threads == 1 {
                costs.push(cost(line, ours, points));
            } else {
                scalings.extend(scaled(line, ours, points));
            }
        }
    }
    let header = ["request", "cipher", "ours", "best peer", "", "", "best safe peer", "", ""];
    let costs = text::titled("Cycles per request, one thread", &header, "llrlrrlrr", costs);
    let header = ["request", "cipher", "ours", "best peer", "", "worst peer", ""];
    let title = "Throughput of two threads against twice that of one";
    costs + &text::titled(title, &header, "llrlrlr", scalings)
}

/// Ours, the best peer, and the best that is also safe.
fn cost(line: &Line, ours: &Point, points: &[Point]) -> Vec<String> {
    let comparable = |p: &&Point| is_held(ours) || !is_held(p) || line.size == LARGE;
    let rivals: Vec<&Point> = peers(points, ours).into_iter().filter(comparable).collect();
    let best = quickest(rivals.iter().copied());
    let safe = quickest(rivals.iter().copied().filter(|p| is_safe(p)));
    let mark = if ours.verified { "" } else { "?" };
    let mut row = vec![line.what.to_owned(), ours.subject.clone(), figure(ours) + mark];
    for peer in [best, safe] {
        row.extend(peer.map_or_else(none, |peer| beside(ours, peer)));
    }
    row
}

fn none() -> [String; 3] {
    ["-", "", ""].map(str::to_owned)
}

/// A peer's name, its figure, and that figure divided by ours.
fn beside(ours: &Point, peer: &Point) -> [String; 3] {
    [name(peer), figure(peer), ratio(ours, peer)]
}

/// Cycles of a request, or of a byte for large ones.
fn figure(point: &Point) -> String {
    if point.size == Some(LARGE) {
        point.cycles_per_byte().map_or_else(String::new, |cycles| format!("{cycles:.3}"))
    } else {
        point.cycles.map_or_else(String::new, text::number)
    }
}

/// Verified peers' points for the same request.
fn peers<'a>(points: &'a [Point], ours: &Point) -> Vec<&'a Point> {
    let alike = |p: &&Point| p.size == ours.size && p.op == ours.op && p.threads == ours.threads;
    points.iter().filter(|p| !p.is_ours() && p.verified).filter(alike).collect()
}

/// Our scaling beside the best and the worst of the peers.
fn scaled(line: &Line, ours: &Point, points: &[Point]) -> Option<Vec<String>> {
    let factor = scaling(points, ours)?;
    let mut rivals: Vec<(f64, &Point)> =
        peers(points, ours).into_iter().filter_map(|p| Some((scaling(points, p)?, p))).collect();
    rivals.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mark = if ours.verified { "" } else { "?" };
    let factor = format!("{factor:.2}{mark}");
    let mut row = vec![line.what.to_owned(), ours.subject.clone(), factor];
    for rival in [rivals.first(), rivals.last()] {
        row.push(rival.map_or_else(|| "-".to_owned(), |(_, p)| name(p)));
        row.push(rival.map_or_else(String::new, |(factor, _)| format!("{factor:.2}")));
    }
    Some(row)
}
