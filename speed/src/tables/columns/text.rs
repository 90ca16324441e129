//! The table as text.

use lanecrypt_peers::Direction;

use super::{ALL, NAME, SUBJECTS};
use crate::results::Point;
use crate::table::{quickest, ratio};
use crate::tables::grid::{Grid, mark, name};
use crate::text;

/// The table as text.
pub(super) fn text(points: &[Point]) -> String {
    let all: Vec<&Point> = points.iter().filter(|p| p.table == NAME).collect();
    let mut out = String::new();
    for subject in SUBJECTS {
        let algorithm = subject.algorithm.to_string();
        for direction in Direction::ALL {
            let is_of = |p: &&Point| p.op == direction.name() && p.subject == algorithm;
            let of: Vec<&Point> = all.iter().copied().filter(is_of).collect();
            out += &block(&of, &format!("{}, {algorithm}, {}", subject.layout, direction.name()));
        }
    }
    if !out.is_empty() {
        out += &all_processors(&all);
        out += LEGEND;
    }
    out
}

const LEGEND: &str = "\
To read: medians, nanoseconds for a value. *: certainly the fastest of its column. ~: cannot be told
apart. ?: not verified. Columns of 4096 values; each gets a random nonce and a tag, in one new buffer
for all; deterministic: a tag only. Others are loops over their values, with our buffer and our nonces,
with AES-SIV always the same one. best peer : lanecrypt is the time of the best of the others divided by
ours.
";

/// One layout in one direction: a line for each contender, a column for each size.
fn block(points: &[&Point], title: &str) -> String {
    let of: Vec<&Point> = points.iter().copied().filter(|p| !p.id.ends_with(ALL)).collect();
    if of.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(&of, true, name, |p| Some(text::number(p.ns?)));
    grid.push("best peer : lanecrypt", |size| {
        let here = || of.iter().copied().filter(move |p| p.size == Some(size));
        let ours = here().find(|p| p.is_ours())?;
        Some(ratio(ours, quickest(here().filter(|p| !p.is_ours()))?))
    });
    format!("{title}: ns for a value, by its bytes\n{}\n", grid.text())
}

/// One thread and one for each processor.
fn all_processors(points: &[&Point]) -> String {
    let of = points.iter().copied().filter(|p| p.id.ends_with(ALL));
    let rows = of.filter_map(|all| {
        let id = all.id.strip_suffix(ALL)?;
        let one = points.iter().find(|p| p.id == id)?;
        let millions = |p: &Point| Some(text::number(p.per_second? / 1e6) + mark(p, None));
        Some(vec![
            format!("{} {}", all.subject, all.op),
            text::size(all.size?),
            all.threads?.to_string(),
            millions(one)?,
            millions(all)?,
            text::times(all.per_second? / one.per_second?),
        ])
    });
    let header = ["", "bytes", "processors", "one thread", "all", "ratio"];
    text::titled("All processors: millions of values in a second", &header, "lrrrrr", rows)
}
