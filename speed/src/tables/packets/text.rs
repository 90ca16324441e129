//! The table as text: blocks for each cipher and operation.

use super::{AEADS, MIXES, NAME, RAW, SECTOR_SUBJECTS, USUAL};
use crate::ciphers::{BATCH, CHECKED, PROCESS};
use crate::results::Point;
use crate::table::{quickest, ratio};
use crate::tables::grid::{self, Grid, same_line};
use crate::text;

/// The table as text.
pub(crate) fn text(points: &[Point]) -> String {
    let mut out = String::new();
    let of_table: Vec<&Point> = points.iter().filter(|p| p.table == NAME).collect();
    for (key, how) in [("kept", "key kept"), ("fresh", "each with a new key")] {
        for subject in AEADS.iter().chain(&RAW).map(|subject| subject.algorithm.to_string()) {
            for op in ["seal", "open", "encrypt", "decrypt"] {
                let of = of_table.iter().copied().filter(|p| is_of(p, &subject, op, key));
                let (of, of_mixes): (Vec<&Point>, Vec<&Point>) =
                    of.partition(|p| p.sizes.is_none());
                let name = format!("{subject} {op}");
                out += &blocks(&of, &name, how);
                out += &mixes(&of_mixes, &name);
            }
        }
    }
    out += &null(&of_table);
    for subject in SECTOR_SUBJECTS.map(|algorithm| algorithm.to_string()) {
        for op in ["encrypt", "decrypt"] {
            let of = of_table.iter().copied().filter(|p| is_of(p, &subject, op, "kept"));
            out += &sectors(&of.collect::<Vec<_>>(), &format!("{subject} {op}"));
        }
    }
    if !out.is_empty() {
        out += LEGEND;
    }
    out
}

const LEGEND: &str = "\
To read: cycles of the time-stamp counter, medians; less is faster. *: certainly the fastest. ?: not
verified and not ranked. ~: the two figures cannot be told apart.
best peer : cipher  the best peer's time divided by that of lanecrypt cipher, both in a loop
best peer : batch   the best peer's time, called in any way, divided by that of lanecrypt batch
our loop : batch    the time of lanecrypt cipher divided by that of lanecrypt batch
Each message has a session with its own key, nonce and buffer. There are 64 sessions, or as many as
a batch has messages; 256 for mixed lengths, which are spread evenly over their range. Messages with
authentication have 8 bytes of associated data. CBC takes whole blocks: 1504 bytes instead of 1500.
Messages are encrypted and sealed in place. They are opened from one buffer to another, because an
opened message cannot be opened again. A loop costs the same for every batch and is measured once.
lanecrypt cipher: a loop over checked ciphers. session: a loop over sessions of the engine. batch: a
batch of the engine, filled and finished. process: a slice of requests, built and passed to the
engine. With new keys, the last three open a session for each message. A level after the name: run
with that instruction set. ipsec-mb job: messages are submitted one by one; burst: many at a time.
evp-oneshot: each message makes a context. gcry-nohw: libgcrypt without processor features.
";

fn is_of(point: &Point, subject: &str, op: &str, key: &str) -> bool {
    point.subject == subject && point.op == op && point.key.as_deref() == Some(key)
}

/// The contenders at one operation of a cipher, by size, then at some sizes by batch.
fn blocks(of: &[&Point], name: &str, how: &str) -> String {
    if of.is_empty() {
        return String::new();
    }
    let together: Vec<&Point> = of.iter().copied().filter(|p| is_together(p, of)).collect();
    let usual = usual(&together);
    let shown: Vec<&Point> =
        of.iter().copied().filter(|p| p.batch == usual || !is_together(p, of)).collect();
    let title = match usual {
        Some(batch) => {
            format!("cycles per message by size in bytes, in batches of {batch}, {how}")
        }
        None => format!("cycles per message by size in bytes, {how}"),
    };
    let mut out = format!("{name}: {title}\n");
    out += &block(of, &shown, usual);
    let mut sizes: Vec<u64> = together.iter().filter_map(|p| p.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        let of: Vec<&Point> = of.iter().copied().filter(|p| p.size == Some(size)).collect();
        if is_told(&of) {
            out +=
                &format!("\n{name}: cycles per message of {size} bytes by messages in a batch\n");
            out += &by_batch(&of);
        }
    }
    out + "\n"
}

/// The contenders at mixed lengths, by batch.
fn mixes(of: &[&Point], name: &str) -> String {
    let mut out = String::new();
    for sizes in MIXES.map(|sizes| sizes.range()) {
        let of: Vec<&Point> = of.iter().copied().filter(|p| p.sizes == sizes).collect();
        let Some(sizes) = sizes.filter(|_| !of.is_empty()) else { continue };
        out += &format!(
            "{name}: cycles per message of {sizes} bytes, mixed, by messages in a batch\n{}\n",
            by_batch(&of)
        );
    }
    out
}

/// Whether several batches of one size were measured; only ours count, if there are any.
fn is_told(of: &[&Point]) -> bool {
    let ours = |p: &&Point| is_it(p, BATCH);
    let told: Vec<&Point> = match of.iter().any(&ours) {
        true => of.iter().copied().filter(ours).collect(),
        false => of.iter().copied().filter(|p| is_together(p, of)).collect(),
    };
    told.iter().any(|p| p.batch != told[0].batch)
}

/// Whether its API takes messages together, judged by the measured points.
fn is_together(point: &Point, of: &[&Point]) -> bool {
    let in_batch = |p: &&&Point| p.batch > Some(1) && same_line(p, point);
    of.iter().find(in_batch).is_some()
}

/// The batch in which sizes are compared: the usual one, or the largest measured one.
fn usual(together: &[&Point]) -> Option<u32> {
    let batches = || together.iter().filter_map(|p| p.batch).filter(|&batch| batch > 1);
    let usual = u32::try_from(USUAL).ok();
    batches().find(|&batch| Some(batch) == usual).or_else(|| batches().max())
}

/// A line for each of the `shown` contenders, a column for each size, and the comparison with ours.
fn block(of: &[&Point], shown: &[&Point], usual: Option<u32>) -> String {
    let mut grid = Grid::new(shown, true, grid::name, |p| p.cycles.map(text::number));
    if of.iter().any(|p| p.is_ours()) && of.iter().any(|p| !p.is_ours()) {
        let line = |api: &str, points: &[&Point], batch: Option<u32>, size: u64| {
            let points = || points.iter().copied().filter(|p| p.size == Some(size));
            let ours = points().filter(|p| is_it(p, api)).find(|p| p.batch == batch)?;
            Some(ratio(ours, quickest(points().filter(|p| !p.is_ours() && p.verified))?))
        };
        let single: Vec<&Point> = of.iter().copied().filter(|p| p.batch == Some(1)).collect();
        if single.iter().any(|p| p.is_ours() && p.api == CHECKED) {
            grid.push("best peer : cipher", |size| line(CHECKED, &single, Some(1), size));
        }
        if shown.iter().any(|p| p.is_ours() && p.api == BATCH) {
            let batch = usual.or(Some(1));
            grid.push("best peer : batch", |size| line(BATCH, shown, batch, size));
        }
    }
    for api in [BATCH, PROCESS] {
        if shown.iter().any(|p| is_it(p, api)) && of.iter().any(|p| is_it(p, CHECKED)) {
            grid.push(&format!("our loop : {api}"), |size| {
                let ours = shown.iter().find(|p| p.size == Some(size) && is_it(p, api))?;
                let alone = of.iter().find(|p| p.size == Some(size) && is_it(p, CHECKED))?;
                Some(ratio(ours, alone))
            });
        }
    }
    grid.text()
}

/// The contenders at one size: a column for each batch. Loops are measured once, and are ranked in
/// all columns.
fn by_batch(of: &[&Point]) -> String {
    let loops = of.iter().copied().filter(|p| !is_together(p, of) && !p.id.contains('@'));
    let loops: Vec<&Point> = loops.collect();
    let rows: Vec<&Point> = of.iter().copied().filter(|p| is_together(p, of)).collect();
    let rows: Vec<&Point> = rows.into_iter().filter(|p| !p.id.contains('@')).collect();
    let batch = |point: &Point| point.batch.map(u64::from);
    let cell = |p: &Point| p.cycles.map(text::number);
    if rows.is_empty() {
        return Grid::by(&loops, true, grid::name, batch, cell).text();
    }
    let mut grid = Grid::among(&rows, &loops, grid::name, batch, cell);
    let name = |best: Option<&Point>| best.map(grid::name);
    for (what, is_ours) in [("our best loop", true), ("best peer loop", false)] {
        let best = quickest(loops.iter().copied().filter(|p| p.is_ours() == is_ours && p.verified));
        if let (Some(name), Some(cycles)) = (name(best), best.and_then(|p| p.cycles)) {
            let label = format!("{what}: {name}");
            grid.push(&label, |_| Some(text::number(cycles)));
        }
    }
    if let Some(alone) = loops.iter().find(|p| is_it(p, CHECKED)) {
        for api in [BATCH, PROCESS] {
            let ours = |size| rows.iter().find(|p| is_it(p, api) && batch(p) == Some(size));
            if rows.iter().any(|p| is_it(p, api)) {
                grid.push(&format!("our loop : {api}"), |size| Some(ratio(ours(size)?, alone)));
            }
        }
    }
    grid.text()
}

/// Whether it is this entry point of ours, at this processor's level.
fn is_it(point: &Point, api: &str) -> bool {
    point.is_ours() && point.api == api && !point.id.contains('@')
}

/// Requests to the null cipher.
fn null(points: &[&Point]) -> String {
    let of: Vec<&Point> = points.iter().copied().filter(|p| p.subject == "null").collect();
    if of.is_empty() {
        return String::new();
    }
    let batch = |point: &Point| point.batch.map(u64::from);
    let grid = Grid::by(&of, false, grid::name, batch, |p| p.cycles.map(text::number));
    format!(
        "null encrypt: cycles per request without work by requests in a batch\n{}\n",
        grid.text()
    )
}

fn sectors(of: &[&Point], name: &str) -> String {
    if of.is_empty() {
        return String::new();
    }
    let cell = |p: &Point| p.cycles_per_byte().map(|cycles| format!("{cycles:.3}"));
    let mut grid = Grid::new(of, true, grid::name, cell);
    if of.iter().any(|p| p.is_ours()) && of.iter().any(|p| !p.is_ours()) {
        grid.push("best peer : cipher", |size| {
            let points = || of.iter().copied().filter(|p| p.size == Some(size));
            let ours = points().find(|p| p.is_ours() && !p.id.contains('@'))?;
            Some(ratio(ours, quickest(points().filter(|p| !p.is_ours() && p.verified))?))
        });
    }
    format!("{name}: cycles per byte by size of the sector in bytes, key kept\n{}\n", grid.text())
}
