//! The table `random`: the cost of a request by its size, on one thread and on two.

use crate::candidate::{Candidate, Op};
use crate::depth::Depth;
use crate::drawing::{Drawing, Measure, Side, is_kept, is_of_one_thread};
use crate::figure::{self, is_held, is_safe, is_same_line, name, number};
use crate::own_generators::{self, DEFAULT};
use crate::peer_set::PeerSet;
use crate::results::Point;
use crate::row::Row;
use crate::scope::Scope;
use crate::table::{self, Table};
use crate::view::{BEST, Grid, Line, Screen};

/// The table's name.
pub(crate) const NAME: &str = "random";

/// The table's part by size.
pub(crate) const TABLE: Table = Table {
    rows: |peers, depth| rows(&candidates(peers), depth),
    blocks: |scope| [BY_SIZE.blocks(scope), SCALING.blocks(scope)].concat(),
    legend: LEGEND,
    screen: &SCREEN,
    drawings: &[
        Drawing::new("Random bytes: cost of a request", Side::Size, Measure::Cycles)
            .of(|point| point.op == "fill" && is_of_one_thread(point) && is_kept(point)),
        Drawing::new("Random numbers of 32 bits by threads", Side::Threads, Measure::PerSecond)
            .of(|point| point.op == "u32" && is_kept(point)),
    ],
    ..Table::new(NAME)
};

/// Ours and the peers'.
fn candidates(peers: &PeerSet<'_>) -> Vec<Candidate> {
    [&own_generators::by_size(), peers.generators()].concat()
}

/// The size of a 32-bit word.
const WORD: usize = 4;
/// Every size.
const ALL: [usize; 9] = [4, 8, 16, 32, 256, 1 << 10, 4 << 10, 64 << 10, 4 << 20];

/// The rows at a depth.
pub(crate) fn rows(candidates: &[Candidate], depth: Depth) -> Vec<Row> {
    let (one, two): (&[usize], &[usize]) = match depth {
        Depth::Quick => (&[4, 32, 256, 4096, 4 << 20], &[4, 256, 4 << 20]),
        Depth::Normal => (&ALL, &[4, 32, 256, 4 << 10, 4 << 20]),
        Depth::Full => (&ALL, &ALL),
    };
    let single = candidates.iter().flat_map(|c| one.iter().map(|&size| row(c, size, 1)));
    let double = candidates.iter().flat_map(|c| two.iter().map(|&size| row(c, size, 2)));
    single.chain(double).collect()
}

/// One row of the table.
fn row(candidate: &Candidate, size: usize, threads: u32) -> Row {
    let op = if size == WORD { Op::Word } else { Op::Fill };
    let mut row = candidate.row(NAME, op, size, threads);
    row.point.id = format!("{}/{}/{size}/t{threads}", table::id(&row.point), row.point.op);
    row
}

const LEGEND: &str = "\
To read: cycles, medians; less is faster. *: certainly the fastest.
?: not verified and not ranked. °: keeps its output in its state, or repeats itself after a fork.
";

/// Whether it is of this part of the table.
fn is_of_part(point: &Point) -> bool {
    let is_of_message = point.whole.is_some() || point.repeats.is_some();
    !is_of_message && point.source != "machine" && point.source != "document"
}

/// A line for each generator.
const BY_SIZE: Grid = Grid {
    of: is_of_part,
    title: |point, unit| {
        let threads = match point.threads {
            Some(1) => "one thread",
            _ => "two threads, each on its own processor",
        };
        format!("{unit} by size in bytes (4: one 32-bit word), {threads}")
    },
    names: (&["", ""], |scope, point| vec![name(scope, point), point.subject.clone()]),
    units: &[("Cycles per request", |_, point| number(point.cycles))],
    is_ranked: true,
    ..Grid::USUAL
};

const SCALING: Grid = Grid {
    title: |_, unit| {
        format!("{unit} of two threads against twice that of one (1.00: no interference)")
    },
    units: &[("Throughput", scaled)],
    is_ranked: false,
    ..BY_SIZE
};

/// The throughput of two threads together, divided by twice that of a single thread.
fn scaling(scope: &Scope<'_>, point: &Point) -> Option<f64> {
    let is_it = |p: &Point| is_of_part(p) && p.size == point.size && is_same_line(p, point);
    let of = |threads| scope.find(|p| p.threads == Some(threads) && is_it(p));
    Some(of(1)?.cycles? / of(2)?.cycles?)
}

fn scaled(scope: &Scope<'_>, point: &Point) -> Option<String> {
    scaling(scope, point).map(|factor| format!("{factor:.2}"))
}

const LARGE: u64 = 4 << 20;

/// The first screen: the generator of programs that name no core, and those with a named core.
const SCREEN: [Screen; 2] = [
    Screen {
        title: "Cycles per request, one thread",
        lines: &[
            Line::new("u32", |p| is_line(p, 4, 1, DEFAULT, "")),
            Line::new("u32", |p| is_line(p, 4, 1, OWN, "chacha20")),
            Line::new("u32, held", |p| is_line(p, 4, 1, HELD, "aes-256-ctr")),
            Line::new("u32, held", |p| is_line(p, 4, 1, HELD, "chacha20")),
            Line::new("32 bytes", |p| is_line(p, 32, 1, DEFAULT, "")),
            Line::new("32 bytes", |p| is_line(p, 32, 1, OWN, "chacha20")),
            Line::new("256 bytes", |p| is_line(p, 256, 1, DEFAULT, "")),
            Line::new("256 bytes", |p| is_line(p, 256, 1, OWN, "chacha20")),
            per_byte(|p| is_line(p, LARGE, 1, DEFAULT, "")),
            per_byte(|p| is_line(p, LARGE, 1, OWN, "chacha20")),
            per_byte(|p| is_line(p, LARGE, 1, OWN, "chacha12")),
            per_byte(|p| is_line(p, LARGE, 1, OWN, "chacha8")),
        ],
        peers: &[("best peer", |_| true, BEST), ("best safe peer", is_safe, BEST)],
        ..Screen::USUAL
    },
    Screen {
        title: "Throughput of two threads against twice that of one",
        lines: &[
            by_two("u32, 2 threads", |p| is_line(p, 4, 2, DEFAULT, "")),
            by_two("u32, 2 threads", |p| is_line(p, 4, 2, OWN, "chacha20")),
            by_two("256 B, 2 threads", |p| is_line(p, 256, 2, DEFAULT, "")),
            by_two("256 B, 2 threads", |p| is_line(p, 256, 2, OWN, "chacha20")),
            by_two("4 MiB, 2 threads", |p| is_line(p, LARGE, 2, DEFAULT, "")),
            by_two("4 MiB, 2 threads", |p| is_line(p, LARGE, 2, OWN, "chacha20")),
        ],
        peers: &[
            ("best peer", |_| true, |scope, points| by_scaling(scope, points).pop()),
            ("worst peer", |_| true, |scope, points| by_scaling(scope, points).into_iter().next()),
        ],
        also: |p| p.threads == Some(1) && matches!(p.size, Some(4 | 256 | LARGE)) && !p.is_ours(),
        ..Screen::USUAL
    },
];

const HELD: &str = "held";
const OWN: &str = "per-thread";

const fn per_byte(of: fn(&Point) -> bool) -> Line {
    Line { figure: figure::per_byte, ..Line::new("4 MiB, per byte", of) }
}

const fn by_two(what: &'static str, of: fn(&Point) -> bool) -> Line {
    Line { figure: scaled, is_compared: false, ..Line::new(what, of) }
}

/// Whether it is ours of this API and cipher (any, if it has no name), or a peer beside it: held
/// generators are compared with held ones, except for large requests.
fn is_line(point: &Point, size: u64, threads: u32, api: &str, subject: &str) -> bool {
    let is_beside = match point.is_ours() {
        true => point.api == api && (subject.is_empty() || point.subject == subject),
        false => threads > 1 || api == HELD || size == LARGE || !is_held(point),
    };
    is_of_part(point) && (point.size, point.threads) == (Some(size), Some(threads)) && is_beside
}

/// The points by their scaling, the worst first.
fn by_scaling<'a>(scope: &Scope<'_>, points: Vec<&'a Point>) -> Vec<&'a Point> {
    let scaled = points.into_iter().filter_map(|point| Some((scaling(scope, point)?, point)));
    let mut scaled: Vec<(f64, &Point)> = scaled.collect();
    scaled.sort_by(|a, b| a.0.total_cmp(&b.0));
    scaled.into_iter().map(|(_, point)| point).collect()
}
