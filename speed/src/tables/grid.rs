//! A block of text: a line for each contender, a column for each size, or for another number.

use crate::results::{Point, fastest};
use crate::text;

/// The lines and columns of a block.
pub(crate) struct Grid {
    /// The numbers of the columns: sizes, unless stated otherwise.
    columns: Vec<u64>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// The text of `cell` for each point, by size, under the names that `label` gives.
    ///
    /// With `ranked` the fastest of each column is marked.
    pub(crate) fn new(
        points: &[&Point],
        ranked: bool,
        label: impl Fn(&Point) -> String,
        cell: impl Fn(&Point) -> Option<String>,
    ) -> Self {
        Self::by(points, ranked, label, |point| point.size, cell)
    }

    /// The same with a column for each number that `column` finds.
    pub(crate) fn by(
        points: &[&Point],
        ranked: bool,
        label: impl Fn(&Point) -> String,
        column: impl Fn(&Point) -> Option<u64>,
        cell: impl Fn(&Point) -> Option<String>,
    ) -> Self {
        Self::made(points, ranked.then_some(&[]), label, column, cell)
    }

    /// The same; the fastest of a column must also be faster than all of `others`.
    pub(crate) fn among(
        points: &[&Point],
        others: &[&Point],
        label: impl Fn(&Point) -> String,
        column: impl Fn(&Point) -> Option<u64>,
        cell: impl Fn(&Point) -> Option<String>,
    ) -> Self {
        Self::made(points, Some(others), label, column, cell)
    }

    fn made(
        points: &[&Point],
        others: Option<&[&Point]>,
        label: impl Fn(&Point) -> String,
        column: impl Fn(&Point) -> Option<u64>,
        cell: impl Fn(&Point) -> Option<String>,
    ) -> Self {
        let measured = points.iter().copied().filter(|p| p.source != "document");
        let mut columns: Vec<u64> = measured.filter_map(&column).collect();
        columns.sort_unstable();
        columns.dedup();
        let best = columns.iter().map(|&at| {
            let of = points.iter().copied().filter(|p| column(p) == Some(at));
            fastest(of.chain(others?.iter().copied()))
        });
        let best: Vec<Option<&Point>> = best.collect();
        let rows = lines(points).into_iter().map(|line| {
            let mut row = vec![label(line)];
            row.extend(columns.iter().zip(&best).map(|(&at, &best)| {
                let is_here = |p: &&Point| column(p) == Some(at) && same_line(p, line);
                let Some(point) = points.iter().copied().find(is_here) else {
                    return "-".to_owned();
                };
                cell(point).map_or_else(|| "-".to_owned(), |cell| cell + mark(point, best))
            }));
            row
        });
        let rows = rows.collect();
        Self { columns, rows }
    }

    /// Adds a line, with the text of `cell` for each column.
    pub(crate) fn push(&mut self, label: &str, cell: impl Fn(u64) -> Option<String>) {
        let cells = self.columns.iter().map(|&at| cell(at).unwrap_or_else(|| "-".to_owned()));
        self.rows.push([label.to_owned()].into_iter().chain(cells).collect());
    }

    pub(crate) fn text(self) -> String {
        text::numbers(self.columns.iter().map(|&at| text::size(at)), self.rows)
    }
}

/// The mark after a figure: whether it is verified, and whether it is the `best`.
pub(crate) fn mark(point: &Point, best: Option<&Point>) -> &'static str {
    match best {
        _ if point.source == "document" => "",
        _ if !point.verified => "?",
        Some(best) if core::ptr::eq(best, point) => "*",
        _ => "",
    }
}

/// The name that tells the lines of a block apart; with the instruction set level if it is not this
/// processor's.
pub(crate) fn name(point: &Point) -> String {
    let level = point.id.split('/').nth(3).and_then(|subject| subject.split_once('@'));
    let level = level.map_or_else(String::new, |(_, level)| format!(" {level}"));
    format!("{} {}{level}", point.source, point.api)
}

/// Whether two points are in the same line of a block.
pub(crate) fn same_line(a: &Point, b: &Point) -> bool {
    (&a.source, &a.api, &a.subject, &a.isa, &a.op) == (&b.source, &b.api, &b.subject, &b.isa, &b.op)
}

/// One point of each line, in the order of the points; the document's first, then ours.
pub(crate) fn lines<'a>(points: &[&'a Point]) -> Vec<&'a Point> {
    let mut lines: Vec<&Point> = Vec::new();
    let (first, rest): (Vec<&Point>, Vec<&Point>) =
        points.iter().copied().partition(|p| p.source == "document");
    let (ours, peers): (Vec<&Point>, Vec<&Point>) = rest.into_iter().partition(|p| p.is_ours());
    for point in first.into_iter().chain(ours).chain(peers) {
        if !lines.iter().any(|line| same_line(line, point)) {
            lines.push(point);
        }
    }
    lines
}

/// The sizes of the points, smallest first.
pub(crate) fn sizes(points: &[&Point]) -> Vec<u64> {
    let mut sizes: Vec<u64> = points.iter().filter_map(|p| p.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
