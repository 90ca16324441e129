//! The table `random`: the cost of a request by its size, on one thread and on two.

use crate::contender::{Contender, Op};
use crate::depth::Depth;
use crate::ours;
use crate::results::{Point, fastest};
use crate::rivals::Rivals;
use crate::row::Row;
use crate::table::{self, MARK, Table, name};
use crate::text;

pub(crate) mod headline;

/// The table's name.
pub(crate) const NAME: &str = "random";

/// The table's part by size.
pub(crate) struct Random;

impl Table for Random {
    fn name(&self) -> &'static str {
        NAME
    }

    fn rows(&self, rivals: &Rivals<'_>, depth: Depth) -> Vec<Row> {
        rows(&contenders(rivals), depth)
    }

    fn text(&self, points: &[Point]) -> String {
        text(points)
    }

    fn headline_rows(&self, rivals: &Rivals<'_>, depth: Depth) -> Vec<Row> {
        headline::rows(&contenders(rivals), depth)
    }

    fn headline(&self, points: &[Point]) -> String {
        headline::text(points)
    }
}

/// Ours and the peers'.
fn contenders(rivals: &Rivals<'_>) -> Vec<Contender> {
    [&ours::by_size(), rivals.generators()].concat()
}

/// The size of a 32-bit word.
const WORD: usize = 4;
/// Every size.
const ALL: [usize; 9] = [4, 8, 16, 32, 256, 1 << 10, 4 << 10, 64 << 10, 4 << 20];

/// The rows at a depth.
pub(crate) fn rows(contenders: &[Contender], depth: Depth) -> Vec<Row> {
    let (one, two): (&[usize], &[usize]) = match depth {
        Depth::Quick => (&[4, 32, 256, 4096, 4 << 20], &[4, 256, 4 << 20]),
        Depth::Normal => (&ALL, &[4, 32, 256, 4 << 10, 4 << 20]),
        Depth::Full => (&ALL, &ALL),
    };
    let single = contenders.iter().flat_map(|c| one.iter().map(|&size| row(c, size, 1)));
    let double = contenders.iter().flat_map(|c| two.iter().map(|&size| row(c, size, 2)));
    single.chain(double).collect()
}

/// One row of the table.
fn row(contender: &Contender, size: usize, threads: u32) -> Row {
    let op = if size == WORD { Op::Word } else { Op::Fill };
    let mut row = contender.row(NAME, op, size, threads);
    row.point.id = format!("{}/{}/{size}/t{threads}", table::id(&row.point), row.point.op);
    row
}

/// The throughput of two threads together, divided by twice that of a single thread.
fn scaling(points: &[Point], double: &Point) -> Option<f64> {
    let single = points.iter().find(|p| p.threads == Some(1) && same(p, double))?;
    Some(single.cycles? / double.cycles?)
}

/// Whether two points differ in nothing but the number of threads.
fn same(a: &Point, b: &Point) -> bool {
    let key = |p: &Point| {
        let Point { source, api, subject, op, size, isa, .. } = p.clone();
        (source, api, subject, op, size, isa)
    };
    key(a) == key(b)
}

/// The table as text.
fn text(points: &[Point]) -> String {
    let mut out = String::new();
    for (threads, title) in [(1, "one thread"), (2, "two threads, each on its own processor")] {
        let of: Vec<&Point> = points.iter().filter(|p| p.threads == Some(threads)).collect();
        if of.is_empty() {
            continue;
        }
        out += &format!("Cycles per request by size in bytes (4: one 32-bit word), {title}\n");
        out += &grid(&of, |point, best| {
            let mark = match (point.verified, best) {
                (false, _) => "?",
                (true, true) => "*",
                (true, false) => "",
            };
            Some(text::number(point.cycles?) + mark)
        });
        out.push('\n');
    }
    let double: Vec<&Point> =
        points.iter().filter(|p| p.threads == Some(2) && scaling(points, p).is_some()).collect();
    if !double.is_empty() {
        out += "Throughput of two threads against twice that of one (1.00: no interference)\n";
        out += &grid(&double, |point, _| {
            let mark = if point.verified { "" } else { "?" };
            Some(format!("{:.2}{mark}", scaling(points, point)?))
        });
        out.push('\n');
    }
    out += "To read: cycles of the time-stamp counter, medians; less is faster. *: certainly the \
            fastest.\n?: not verified and not ranked.\n";
    out += MARK;
    out
}

/// A line for each generator, a column for each size.
fn grid(points: &[&Point], cell: impl Fn(&Point, bool) -> Option<String>) -> String {
    let mut sizes: Vec<u64> = points.iter().filter_map(|p| p.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut lines: Vec<(&str, &str, &str)> = Vec::new();
    for p in points {
        let line = (p.source.as_str(), p.api.as_str(), p.subject.as_str());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let best: Vec<Option<&Point>> = sizes
        .iter()
        .map(|&size| fastest(points.iter().copied().filter(|p| p.size == Some(size))))
        .collect();
    let mut header = vec![String::new(), String::new()];
    header.extend(sizes.iter().map(|&size| text::size(size)));
    let rows = lines.into_iter().map(|line| {
        let of = |size| {
            points.iter().copied().find(|p| {
                p.size == Some(size)
                    && (p.source.as_str(), p.api.as_str(), p.subject.as_str()) == line
            })
        };
        let first = sizes.iter().find_map(|&size| of(size));
        let mut row = vec![first.map(name).unwrap_or_default(), line.2.to_owned()];
        row.extend(sizes.iter().zip(&best).map(|(&size, best)| {
            let Some(point) = of(size) else { return "-".to_owned() };
            let is_best = best.is_some_and(|best| core::ptr::eq(best, point));
            cell(point, is_best).unwrap_or_else(|| "-".to_owned())
        }));
        row
    });
    text::table(&header, &format!("ll{}", "r".repeat(sizes.len())), rows.collect())
}
