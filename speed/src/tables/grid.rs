//! A block of text: a line for each contender, a column for each size.

use crate::results::{Point, fastest};
use crate::text;

/// The lines and columns of a block.
pub(crate) struct Grid {
    sizes: Vec<u64>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// What `cell` makes of each point, under the names that `label` gives.
    ///
    /// With `ranked` the fastest of each column is marked.
    pub(crate) fn new(
        points: &[&Point],
        ranked: bool,
        label: impl Fn(&Point) -> String,
        cell: impl Fn(&Point) -> Option<String>,
    ) -> Self {
        let measured: Vec<&Point> =
            points.iter().copied().filter(|p| p.source != "document").collect();
        let sizes = sizes(&measured);
        let best: Vec<Option<&Point>> = sizes
            .iter()
            .map(|&size| fastest(points.iter().copied().filter(|p| p.size == Some(size))))
            .collect();
        let rows = lines(points).into_iter().map(|line| {
            let mut row = vec![label(line)];
            row.extend(sizes.iter().zip(&best).map(|(&size, best)| {
                let point =
                    points.iter().copied().find(|p| p.size == Some(size) && same_line(p, line));
                let Some(point) = point else { return "-".to_owned() };
                let best = best.filter(|_| ranked);
                cell(point).map_or_else(|| "-".to_owned(), |cell| cell + mark(point, best))
            }));
            row
        });
        let rows = rows.collect();
        Self { sizes, rows }
    }

    /// One more line, with what `cell` makes of each size.
    pub(crate) fn push(&mut self, label: &str, cell: impl Fn(u64) -> Option<String>) {
        let cells = self.sizes.iter().map(|&size| cell(size).unwrap_or_else(|| "-".to_owned()));
        self.rows.push([label.to_owned()].into_iter().chain(cells).collect());
    }

    pub(crate) fn text(self) -> String {
        let mut header = vec![String::new()];
        header.extend(self.sizes.iter().map(|&size| text::size(size)));
        text::table(&header, &format!("l{}", "r".repeat(self.sizes.len())), self.rows)
    }
}

/// What stands behind a figure: whether it is verified, and whether it is that of the `best`.
pub(crate) fn mark(point: &Point, best: Option<&Point>) -> &'static str {
    match best {
        _ if point.source == "document" => "",
        _ if !point.verified => "?",
        Some(best) if core::ptr::eq(best, point) => "*",
        _ => "",
    }
}

/// What tells the lines of a block apart; a level of instruction set where it is not this
/// processor's.
pub(crate) fn name(point: &Point) -> String {
    let level = point.id.split('/').nth(3).and_then(|subject| subject.split_once('@'));
    let level = level.map_or_else(String::new, |(_, level)| format!(" {level}"));
    format!("{} {}{level}", point.source, point.api)
}

/// Whether two points are of one line of a block of the table.
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
