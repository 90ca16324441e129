//! The table as text: a block for each cipher and operation.

use super::{NAME, SECTOR_SUBJECTS, SUBJECTS};
use crate::results::Point;
use crate::tables::grid::{self, Grid};
use crate::tables::headline::{quickest, ratio};
use crate::text;

/// The table as text.
pub(crate) fn text(points: &[Point]) -> String {
    let mut out = String::new();
    let of_table: Vec<&Point> = points.iter().filter(|p| p.table == NAME).collect();
    for (key, title) in [
        ("kept", "cycles of a message of so many bytes, key kept"),
        ("fresh", "cycles of a message of so many bytes, each with a new key"),
    ] {
        for subject in SUBJECTS.map(|algorithm| algorithm.to_string()) {
            for op in ["seal", "open"] {
                out += &block(&of_table, &subject, op, key, title, |p| p.cycles.map(text::number));
            }
        }
    }
    for subject in SECTOR_SUBJECTS.map(|algorithm| algorithm.to_string()) {
        for op in ["encrypt", "decrypt"] {
            let title = "cycles per byte of sectors of so many bytes, key kept";
            out += &block(&of_table, &subject, op, "kept", title, |p| {
                p.cycles_per_byte().map(|cycles| format!("{cycles:.3}"))
            });
        }
    }
    if !out.is_empty() {
        out += LEGEND;
    }
    out
}

const LEGEND: &str = "\
To read: time-stamp-counter cycles, medians; less is faster. * is the fastest beyond doubt, ? is not
verified and not ranked. \"1.50x\" is how many times as long the best peer takes as lanecrypt cipher;
~: the two cannot be told apart. One message at a time, each in one of 64 sessions with a key, a
nonce and a buffer of its own, and 8 bytes of associated data where there is a tag. Messages are
sealed in place, and opened from one buffer to another, because what is opened cannot be opened
again. lanecrypt cipher: checked; a level after it: run with that instruction set. evp-oneshot: a
context made for each message. gcry-nohw: libgcrypt told to use no processor features.
";

/// The contenders at one operation of a cipher.
fn block(
    points: &[&Point],
    subject: &str,
    op: &str,
    key: &str,
    title: &str,
    cell: impl Fn(&Point) -> Option<String>,
) -> String {
    let of: Vec<&Point> = points
        .iter()
        .copied()
        .filter(|p| p.subject == subject && p.op == op && p.key.as_deref() == Some(key))
        .collect();
    if of.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(&of, true, grid::name, cell);
    if of.iter().any(|p| p.is_ours()) && of.iter().any(|p| !p.is_ours()) {
        grid.push("best peer : ours", |size| {
            let points = || of.iter().copied().filter(|p| p.size == Some(size));
            let ours = points().find(|p| p.is_ours() && !p.id.contains('@'))?;
            Some(ratio(ours, quickest(points().filter(|p| !p.is_ours() && p.verified))?))
        });
    }
    format!("{subject} {op}: {title}\n{}\n", grid.text())
}
