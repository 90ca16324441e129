//! The table as text.

use super::{NAME, Operation, SUBJECTS};
use crate::results::{Point, fastest};
use crate::table::{quickest, ratio};
use crate::tables::grid::mark;
use crate::text;

/// The table as text.
pub(super) fn text(points: &[Point]) -> String {
    let all: Vec<&Point> = points.iter().filter(|p| p.table == NAME).collect();
    let mut out = String::new();
    for operation in Operation::ALL {
        for algorithm in SUBJECTS {
            let subject = algorithm.to_string();
            let is_of = |p: &&Point| p.op == operation.name() && p.subject == subject;
            let of: Vec<&Point> = all.iter().copied().filter(is_of).collect();
            out += &block(&of, operation, &subject);
        }
    }
    if !out.is_empty() {
        out += LEGEND;
    }
    out
}

const LEGEND: &str = "\
To read: medians, cycles of the time-stamp counter. *: certainly the fastest of its column. ~: cannot
be told apart. ?: not verified. All through rustls 0.23, whose own work is in every figure. record: a
record of TLS 1.3 from one connection in memory to another, sealed, written, read, opened and taken.
packet: sealed, its header hidden, shown, and opened, in place. best peer : lanecrypt is the time of
the better of the others divided by ours.
";

/// The columns of a block: sizes, then ranges of sizes.
fn columns(points: &[&Point]) -> Vec<(Option<u64>, Option<String>)> {
    let mut columns: Vec<_> = points.iter().map(|p| (p.size, p.sizes.clone())).collect();
    columns.sort_by_key(|(size, sizes)| (size.is_none(), *size, sizes.clone()));
    columns.dedup();
    columns
}

/// One cipher: a line for each provider.
fn block(points: &[&Point], operation: Operation, subject: &str) -> String {
    let columns = columns(points);
    if columns.is_empty() {
        return String::new();
    }
    let here = |(size, sizes): &(Option<u64>, Option<String>)| {
        let (size, sizes) = (*size, sizes.clone());
        points.iter().copied().filter(move |p| p.size == size && p.sizes == sizes)
    };
    let mut sources: Vec<&str> = Vec::new();
    for point in points {
        if !sources.contains(&point.source.as_str()) {
            sources.push(&point.source);
        }
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for source in sources {
        let cells = columns.iter().map(|at| {
            let point = here(at).find(|p| p.source == source);
            let cell = |p: &Point| Some(text::number(p.cycles?) + mark(p, fastest(here(at))));
            point.and_then(cell).unwrap_or_else(|| "-".to_owned())
        });
        rows.push([source.to_owned()].into_iter().chain(cells).collect());
    }
    let ratios = columns.iter().map(|at| {
        let ours = here(at).find(|p| p.is_ours());
        let peer = quickest(here(at).filter(|p| !p.is_ours()));
        ours.zip(peer).map_or_else(|| "-".to_owned(), |(ours, peer)| ratio(ours, peer))
    });
    rows.push(["best peer : lanecrypt".to_owned()].into_iter().chain(ratios).collect());
    let names = columns.iter().map(|(size, sizes)| match (size, sizes) {
        (Some(size), _) => text::size(*size),
        (None, sizes) => sizes.clone().unwrap_or_default(),
    });
    let table = text::numbers(names, rows);
    let what = match operation {
        Operation::Record => "TLS 1.3",
        Operation::Packet => "QUIC",
    };
    let name = operation.name();
    format!("{what}, {subject}: cycles of a {name}, by bytes of its content\n{table}\n")
}
