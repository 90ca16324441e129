//! Without a table: one screen, the rows that matter most, ours beside the best peers.
//!
//! Its points are those of the tables `random`, `calls` and `packets`.

use crate::contender::Contender;
use crate::depth::Depth;
use crate::ours::DEFAULT;
use crate::results::Point;
use crate::row::Row;
use crate::tables::{MARK, calls, is_held, is_safe, name, packets, random};
use crate::text;

/// A line of the screen: which of our points it shows, and in which unit.
struct Line {
    what: &'static str,
    api: &'static str,
    size: u64,
    threads: u32,
    subjects: &'static [&'static str],
}

/// Whichever core the default is.
const ANY: &[&str] = &["aes-256-ctr", "chacha20"];
const CHACHA: &[&str] = &["chacha20", "chacha12", "chacha8"];
const CHACHA20: &[&str] = &["chacha20"];
const LARGE: u64 = 4 << 20;

/// A line of the generator that programs get who name no core, and one of those they may name.
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
            let row = random::row(contender, size, line.threads);
            let point = &row.point;
            let wanted = if contender.is_ours() {
                point.api == line.api && line.subjects.contains(&point.subject.as_str())
            } else {
                depth != Depth::Quick || line.threads == 1 || point.source != "libgcrypt"
            };
            if wanted && !rows.iter().any(|known| known.point.id == point.id) {
                rows.push(row);
            }
        }
    }
    rows
}

/// The screen.
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
    let mut out = String::new();
    if !costs.is_empty() {
        out += "Cycles per request, one thread\n";
        let header = ["request", "cipher", "ours", "best peer", "", "", "best safe peer", "", ""];
        out += &text::table(&header.map(str::to_owned), "llrlrrlrr", costs);
        out.push('\n');
    }
    if !scalings.is_empty() {
        out += "Throughput of two threads against twice that of one\n";
        let header = ["request", "cipher", "ours", "best peer", "", "worst peer", ""];
        out += &text::table(&header.map(str::to_owned), "llrlrlr", scalings);
        out.push('\n');
    }
    out += &calls::headline::text(points);
    out += &packets::headline::text(points);
    out += "To read: time-stamp-counter cycles, medians; less is faster. \"1.50x\" is how many \
            times as long the\npeer takes; ~ means that the two cannot be told apart, ? that ours \
            is not verified.\n";
    out += MARK;
    out += "Whole tables: lanecrypt speed random, or urandom, calls, packets.\n";
    out
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

/// A peer's name, its figure and how many times ours it is.
fn beside(ours: &Point, peer: &Point) -> [String; 3] {
    [name(peer), figure(peer), ratio(ours, peer)]
}

/// How many times as long `peer` takes; a tilde where the intervals overlap.
pub(crate) fn ratio(ours: &Point, peer: &Point) -> String {
    let (Some(a), Some(b)) = (ours.estimate(), peer.estimate()) else { return String::new() };
    if !ours.verified || !peer.verified {
        return "?".to_owned();
    }
    let apart = a.is_below(&b) || b.is_below(&a);
    format!("{}{}", if apart { "" } else { "~" }, text::times(b.median / a.median))
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

/// The one with the least median; a rank among peers is not claimed by it.
pub(crate) fn quickest<'a>(points: impl Iterator<Item = &'a Point>) -> Option<&'a Point> {
    let cycles = |p: &Point| p.cycles.unwrap_or(f64::INFINITY);
    points.min_by(|a, b| cycles(a).total_cmp(&cycles(b)))
}

/// Our scaling beside the best and the worst of the peers.
fn scaled(line: &Line, ours: &Point, points: &[Point]) -> Option<Vec<String>> {
    let factor = random::scaling(points, ours)?;
    let mut rivals: Vec<(f64, &Point)> = peers(points, ours)
        .into_iter()
        .filter_map(|p| Some((random::scaling(points, p)?, p)))
        .collect();
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
