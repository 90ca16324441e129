//! The table as text.

use super::observations::observations;
use super::rows::{ALL, OWN, Operation, PROCESS, SINGLE, USUAL, is_of};
use super::{NAME, bits, subject};
use crate::results::{Point, fastest};
use crate::table::{quickest, ratio};
use crate::tables::grid::mark;
use crate::text;

/// The table as text.
pub(super) fn text(points: &[Point]) -> String {
    let all: Vec<&Point> = points.iter().filter(|p| p.table == NAME).collect();
    let mut out = String::new();
    for operation in Operation::ALL {
        let of: Vec<&Point> = all.iter().copied().filter(|p| is_of(p, operation)).collect();
        out += &sizes(&of, operation);
    }
    for operation in Operation::ALL {
        let of: Vec<&Point> = all.iter().copied().filter(|p| is_of(p, operation)).collect();
        out += &batches(&of, operation);
    }
    out += &all_processors(&all);
    out += &observations(&all);
    if !out.is_empty() {
        out += LEGEND;
    }
    out
}

const LEGEND: &str = "\
To read: medians. cycles: of the time-stamp counter, for one signature. *: certainly the fastest of
its column. ~: cannot be told apart. ?: not verified. PKCS#1 v1.5 with SHA-256, of digests; ring
hashes the message, too. Two keys of each size take turns, and every message is another. single: one
call for each, which AWS-LC serves where that costs less; own: without AWS-LC, for those sizes.
process: a slice of so many requests, built and passed on. Ours is blinded and its results are
checked. Peers have one call for each; those that refuse a key have no figure.
";

/// What people call an operation.
pub(super) const fn title(operation: Operation) -> &'static str {
    match operation.crt {
        Some(true) => "sign, with CRT",
        Some(false) => "sign, without CRT",
        None => "verify",
    }
}

/// The name of the line of a point of one thread.
fn line(point: &Point) -> Option<String> {
    let Point { source, api, .. } = point;
    if point.id.ends_with(ALL) {
        return None;
    }
    Some(match point.batch {
        Some(batch) if api == PROCESS => format!("{source} {api} {batch}"),
        _ => format!("{source} {api}"),
    })
}

/// The batches that all sizes are measured with; others are of the table of batches.
fn is_usual(point: &Point) -> bool {
    point.api != PROCESS || matches!(point.batch, Some(4 | 8 | 64))
}

/// One operation: signatures in a second and cycles by size.
fn sizes(points: &[&Point], operation: Operation) -> String {
    let of: Vec<&Point> = points.iter().copied().filter(|p| is_usual(p)).collect();
    let mut columns: Vec<usize> = of.iter().filter_map(|p| bits(p)).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut lines: Vec<String> = Vec::new();
    for point in &of {
        lines.extend(line(point).filter(|name| !lines.contains(name)));
    }
    if lines.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    for unit in ["in a second", "cycles"] {
        let value = |p: &Point| if unit == "cycles" { p.cycles } else { p.per_second };
        let mut rows = Vec::new();
        for name in &lines {
            let mut row = vec![name.clone()];
            row.extend(columns.iter().map(|&at| {
                let here = || of.iter().copied().filter(move |p| bits(p) == Some(at));
                let best = fastest(here().filter(|p| line(p).is_some()));
                let mut found = here().filter(|p| line(p).as_ref() == Some(name));
                let cell = found.next().and_then(|p| Some(text::number(value(p)?) + mark(p, best)));
                cell.unwrap_or_else(|| "-".to_owned())
            }));
            rows.push(row);
        }
        if unit == "cycles" {
            rows.extend(ratios(&of, &columns));
        }
        let table = text::numbers(columns.iter().map(usize::to_string), rows);
        out += &format!("RSA {}: {unit}, by bits of the key\n{table}\n", title(operation));
    }
    out
}

/// The time of the best peer divided by ours, alone and in flight.
fn ratios(points: &[&Point], columns: &[usize]) -> Vec<Vec<String>> {
    let peer = |at: usize| {
        quickest(points.iter().copied().filter(|p| bits(p) == Some(at) && !p.is_ours()))
    };
    let ours = |at, api: &str, batch| {
        points.iter().copied().find(|p| {
            p.is_ours()
                && line(p).is_some()
                && (bits(p), &*p.api, p.batch) == (Some(at), api, Some(batch))
        })
    };
    let lines = [(SINGLE, 1), (OWN, 1), (PROCESS, 4), (PROCESS, 8), (PROCESS, 64)];
    let row = |(api, batch): (&str, u32)| {
        let cells = columns.iter().map(|&at| Some(ratio(ours(at, api, batch)?, peer(at)?)));
        let cells: Vec<Option<String>> = cells.collect();
        let name = if api == PROCESS { format!("{api} {batch}") } else { String::from(api) };
        cells.iter().any(Option::is_some).then(|| {
            let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
            [format!("best peer : {name}")].into_iter().chain(cells).collect()
        })
    };
    lines.into_iter().filter_map(row).collect()
}

/// Batches of one size: the latency of the whole, and what a signature of it costs.
fn batches(points: &[&Point], operation: Operation) -> String {
    let of_size = |p: &&Point| bits(p) == Some(USUAL) && p.is_ours() && line(p).is_some();
    let mut of: Vec<&Point> = points.iter().copied().filter(of_size).collect();
    let single = of.iter().copied().find(|p| p.api == SINGLE);
    of.retain(|p| p.api == PROCESS);
    of.sort_by_key(|p| p.batch);
    if !of.iter().any(|p| !is_usual(p)) {
        return String::new();
    }
    let rows = of.iter().map(|p| {
        let batch = p.batch.unwrap_or(1);
        let latency = p.ns.map(|ns| ns * f64::from(batch) / 1e3);
        vec![
            batch.to_string(),
            text::optional(latency),
            text::optional(p.cycles) + mark(p, None),
            text::optional(p.per_second),
            single.map_or_else(|| "-".to_owned(), |single| ratio(p, single)),
        ]
    });
    let header = ["batch", "all done, µs", "cycles each", "in a second", "single : process"];
    let title = format!("{} {}: batches", subject(USUAL), title(operation));
    text::titled(&title, &header, "rrrrr", rows)
}

/// One thread and one for each processor.
fn all_processors(points: &[&Point]) -> String {
    let of = points.iter().copied().filter(|p| p.id.ends_with(ALL));
    let rows = of.filter_map(|all| {
        let id = all.id.strip_suffix(ALL)?;
        let one = points.iter().find(|p| p.id == id)?;
        let operation = Operation::ALL.into_iter().find(|&operation| is_of(all, operation))?;
        Some(vec![
            format!("{} {}", all.subject, title(operation)),
            all.threads?.to_string(),
            text::number(one.per_second?) + mark(one, None),
            text::number(all.per_second?) + mark(all, None),
            text::times(all.per_second? / one.per_second?),
        ])
    });
    let header = ["", "processors", "one thread", "all", "ratio"];
    text::titled("All processors, 64 in flight on each: in a second", &header, "lrrrr", rows)
}
