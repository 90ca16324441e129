//! What the table shows: the message's table, its figures beside ours, and what it asks for.

use super::bandwidth::{self, Sizes};
use super::{DOCUMENT, Line, factor, normalised, repeats};
use crate::block::Block;
use crate::figure::{self, mark, number, projected};
use crate::results::Point;
use crate::scope::Scope;
use crate::view::List;

pub(super) const LEGEND: &str = "\
To read: cpb: cycles per byte, for 1,000,000 calls of 32 bits after the
first key, and after each new one. Seconds: requests of 256 bytes; GB are 2^30 bytes. ~: projected
from less (--full makes all requests). ?: not verified. Scaling factor, as in the message: the time
of one stream divided by that of four; at best 1 on four processors. Last column: the throughput of
the four streams as a share of what the existing processors could reach.
°: keeps its output in its state, or repeats itself after a fork.
";

/// The blocks of these points.
pub(super) fn blocks(scope: &Scope<'_>) -> Vec<Block> {
    let mut blocks = BENCHMARK.blocks(scope);
    blocks.extend(MESSAGE.blocks(scope));
    blocks.extend(repeated(scope));
    blocks.extend(bandwidth::block(scope, Sizes::of_this_machine()));
    blocks
}

/// The message's table.
const BENCHMARK: List = List {
    of: |point| point.whole.is_some() && point.source != "document",
    title: |_| "NetBSD's benchmark of cprng_fast: cycles per byte, and seconds".to_owned(),
    names: (&["kernel"], |scope, point| vec![name(scope, point)]),
    columns: &[
        ("cpb (32 bit)", |_, line| per_byte(initial(line)?)),
        ("rekeyed", |_, line| per_byte(words(line, true)?)),
        ("4GB (1 way)", |_, line| seconds(streams(line, true)?)),
        ("16GB (4 ways)", |_, line| seconds(streams(line, false)?)),
        ("Scaling Factor", |_, line| scaling(line)),
        ("of proc.", |all, line| {
            let [one, four] = both(line)?;
            Some(format!("{:.3}", normalised(one, four, all.machine.processors)))
        }),
    ],
    ..List::USUAL
};

/// The message's lines beside the same ones of ours.
const MESSAGE: List = List {
    of: |point| point.whole.is_some() && (point.is_ours() || point.source == "document"),
    title: |_| {
        "The message's figures (2012: four dual-core Opteron 880) and those above".to_owned()
    },
    columns: &[
        ("cpb", |_, line| Some(format!("{:.0}", printed(line)?.cpb))),
        ("now", |_, line| per_byte(initial(&ours(line))?)),
        ("4GB", |_, line| Some(format!("{:.2}", printed(line)?.seconds[0]))),
        ("now", |_, line| seconds(streams(&ours(line), true)?)),
        ("16GB", |_, line| Some(format!("{:.2}", printed(line)?.seconds[1]))),
        ("now", |_, line| seconds(streams(&ours(line), false)?)),
        ("scaling", |_, line| Some(printed(line)?.factor.to_owned())),
        ("now", |_, line| scaling(&ours(line))),
    ],
    is_shown: |line| {
        printed(line).is_some() && line.find(|point| point.source == "document").is_some()
    },
    ..BENCHMARK
};

fn ours<'a>(line: &Scope<'a>) -> Scope<'a> {
    line.only(Point::is_ours)
}

/// The message's line of a point.
fn line_of(point: &Point) -> Option<&'static Line> {
    let generator = point.generator.as_deref()?;
    DOCUMENT.iter().find(|line| {
        (line.api, line.subject, line.generator) == (&point.api, &point.subject, generator)
    })
}

fn printed(line: &Scope<'_>) -> Option<&'static Line> {
    line_of(line.find(Point::is_ours)?)
}

/// The name of a line: the message's own, or one made in the same way.
fn name(scope: &Scope<'_>, point: &Point) -> String {
    if let Some(line) = line_of(point) {
        return line.name.to_owned();
    }
    if !point.is_ours() {
        return figure::name(scope, point);
    }
    let place = point.api.replace("per-", "per");
    match point.generator.as_deref().unwrap_or_default() {
        "rekeying" => format!("{}-{place}", point.subject),
        "rekeying-inline" => format!("{}-inline-{place}", point.subject),
        other => format!("{}-{place}-{}", point.subject, other.trim_start_matches("rekeying-")),
    }
}

fn words<'a>(line: &Scope<'a>, is_rekeyed: bool) -> Option<&'a Point> {
    let is_it = |p: &Point| (p.phase.as_deref() == Some("rekeyed")) == is_rekeyed;
    line.find(|point| point.op == "u32" && is_it(point))
}

fn initial<'a>(line: &Scope<'a>) -> Option<&'a Point> {
    words(line, false)
}

fn streams<'a>(line: &Scope<'a>, is_one: bool) -> Option<&'a Point> {
    line.find(|point| point.op != "u32" && (point.threads == Some(1)) == is_one)
}

/// Seconds of both streams.
fn both(line: &Scope<'_>) -> Option<[f64; 2]> {
    Some([streams(line, true)?.seconds?, streams(line, false)?.seconds?])
}

fn scaling(line: &Scope<'_>) -> Option<String> {
    both(line).map(|[one, four]| format!("{:.3}", factor(one, four)))
}

fn per_byte(point: &Point) -> Option<String> {
    cell(point, number(point.cycles_per_byte())?)
}

fn seconds(point: &Point) -> Option<String> {
    cell(point, format!("{:.2}", point.seconds?))
}

/// A figure with its marks.
fn cell(point: &Point, figure: String) -> Option<String> {
    Some(format!("{}{figure}{}", projected(point), mark(point, None)))
}

/// The number of repeated words.
fn repeated(scope: &Scope<'_>) -> Option<Block> {
    let counts = scope.only(|point| point.repeats.is_some());
    let threads = counts.points.first()?.threads.unwrap_or(1);
    let words = u64::from(threads) * repeats::WORDS as u64;
    let list =
        counts.points.iter().map(|p| format!("{} {}", name(scope, p), p.repeats.unwrap_or(0)));
    let title = format!(
        "Pairs of words that occurred twice among {words} words of {threads} threads (by chance: {:.0e})",
        repeats::by_chance(words)
    );
    Block::of_words(&title, list.collect::<Vec<_>>().join(", ") + ".\n")
}
