//! The table `urandom`: the test of the message that replaced the kernel's non-blocking pool with
//! ChaCha20, repeated.
//!
//! The message read 128 MiB from /dev/urandom with `dd`, in blocks of 4 MiB and of 32 bytes, and
//! concluded that at 32 bytes "the other overheads of providing the anti-backtracking
//! protection, system call overhead, etc., completely dominate the speed of the core crypto
//! primitive". The table has its rows and units, its figures beside ours, and an answer.

use lanecrypt_kernels::Level;

use crate::block::Block;
use crate::candidate::{Candidate, Op};
use crate::depth::Depth;
use crate::drawing::{Drawing, Measure, Side, is_of_one_thread};
use crate::figure::{mark, name, projected};
use crate::own_generators;
use crate::results::Point;
use crate::row::Row;
use crate::scope::Scope;
use crate::table::{Extra, Table};
use crate::text;
use crate::view::List;

pub(crate) mod wide;

/// The table's name.
pub(crate) const NAME: &str = "urandom";

/// The table.
pub(crate) const TABLE: Table = Table {
    rows: |peers, depth| rows(&[&own_generators::by_level(), peers.generators()].concat(), depth),
    given: document,
    extra: Some(Extra {
        ids: wide::ids,
        measure: |how, sampled| {
            let costs = wide::measure(how.time, &how.limits);
            sampled.points.extend(costs.into_iter().filter(|point| (how.fits)(&point.id)));
        },
    }),
    has_test: true,
    blocks,
    legend: LEGEND,
    drawings: &[Drawing::new("A device of random bytes", Side::Size, Measure::Megabytes)
        .of(|point| point.op == "read" && is_of_one_thread(point))],
    ..Table::new(NAME)
};

/// How to read it; the message's third figure, and the place of its comparison.
const LEGEND: &str = "\
To read: MB are 10^6 bytes. ~: projected from less than 128 MiB (--full reads all). ?: not verified.
Ratio: MB/s of large reads divided by those of small ones. dd also writes each block to /dev/null;
here only the read is timed.
°: keeps its output in its state, or repeats itself after a fork.
The message's \"extra 20k\" of code for the crypto layer: `make footprint` measures what a minimal
program gains by our random numbers.
";

/// Bytes that the test reads in all.
const WHOLE: u64 = 128 << 20;
/// The two block sizes.
const SIZES: [usize; 2] = [4 << 20, 32];
/// The message's figures: block size, and seconds for the whole.
const DOCUMENT: [(u64, f64); 2] = [(4 << 20, 1.186_47), (32, 7.082_94)];

/// The rows at a depth.
pub(crate) fn rows(candidates: &[Candidate], depth: Depth) -> Vec<Row> {
    let mut rows = Vec::new();
    for candidate in candidates {
        for size in SIZES {
            let mut row = candidate.row(NAME, Op::Read, size, 1);
            let Point { source, api, subject, isa, .. } = &row.point;
            let level = isa.as_ref().map_or_else(String::new, |isa| format!("@{isa}"));
            row.point.id = format!("{NAME}/{source}/{api}/{subject}{level}/read/{size}");
            row.point.whole = Some(false);
            row.whole = (depth == Depth::Full).then_some(WHOLE / size as u64);
            rows.push(row);
        }
    }
    rows
}

/// The message's own figures as points.
pub(crate) fn document() -> Vec<Point> {
    let points = DOCUMENT.map(|(size, seconds)| {
        let ns = seconds * 1e9 * crate::clock::as_f64(size) / crate::clock::as_f64(WHOLE);
        Point {
            id: format!("{NAME}/document/read/chacha20/read/{size}"),
            table: NAME.into(),
            source: "document".into(),
            api: "read".into(),
            subject: "chacha20".into(),
            op: "read".into(),
            size: Some(size),
            threads: Some(1),
            ns: Some(ns),
            per_second: Some(1e9 / ns),
            whole: Some(true),
            ..Point::default()
        }
    });
    points.to_vec()
}

/// The blocks of these points.
fn blocks(scope: &Scope<'_>) -> Vec<Block> {
    let mut blocks = READS.blocks(scope);
    blocks.extend(Block::of_words("Does acceleration matter at 32 bytes?", answers(scope)));
    blocks.extend(wide::COSTS.blocks(scope));
    blocks
}

/// The message's test.
const READS: List = List {
    of: |point| point.op == "read",
    title: |_| "128 MiB of random bytes in reads of 4 MiB and of 32 bytes".to_owned(),
    names: (&["", "", "level"], |scope, point| {
        let is_document = point.source == "document";
        let from = if is_document { "the message, 2016".to_owned() } else { name(scope, point) };
        vec![from, point.subject.clone(), point.isa.clone().unwrap_or_default()]
    }),
    columns: &[
        ("4 MiB: MB/s", |_, line| rate(large(line)?)),
        ("us/read", |_, line| microseconds(large(line)?)),
        ("32 B: MB/s", |_, line| rate(small(line)?)),
        ("us/read", |_, line| microseconds(small(line)?)),
        ("ratio", |_, line| {
            let [large, small] = [large(line)?, small(line)?].map(Point::megabytes_per_second);
            Some(format!("{:.1}", large? / small?))
        }),
    ],
    ..List::USUAL
};

fn large<'a>(line: &Scope<'a>) -> Option<&'a Point> {
    line.find(|point| point.size == Some(SIZES[0] as u64))
}

fn small<'a>(line: &Scope<'a>) -> Option<&'a Point> {
    line.find(|point| point.size == Some(SIZES[1] as u64))
}

fn rate(point: &Point) -> Option<String> {
    let rate = point.megabytes_per_second()?;
    let digits = if rate < 99.95 { format!("{rate:.1}") } else { format!("{rate:.0}") };
    Some(format!("{}{digits}{}", projected(point), mark(point, None)))
}

fn microseconds(point: &Point) -> Option<String> {
    let us = point.ns? / 1e3;
    Some(match us {
        us if us < 0.1 => format!("{us:.4}"),
        us if us < 9.9995 => format!("{us:.3}"),
        us if us < 999.5 => format!("{us:.1}"),
        us => format!("{us:.0}"),
    })
}

/// The answer of the figures to the message's question, in sentences.
fn answers(scope: &Scope<'_>) -> String {
    let ours = ["chacha20", "aes-256-ctr"].into_iter().filter_map(|core| answer(scope, core));
    ours.chain(kernel_answer(scope)).collect()
}

/// The kernel's own generator, by system call.
fn kernel_answer(scope: &Scope<'_>) -> Option<String> {
    let at = |size| measured(scope, "kernel", "getrandom", "chacha20", None, size);
    let small = at(32)?.cycles?;
    let share = 100.0 * 32.0 * at(4 << 20)?.cycles_per_byte()? / small;
    let verdict = if share < 50.0 {
        "the other overheads dominate, as the message says"
    } else {
        "the cipher dominates, unlike when the message was written"
    };
    Some(format!(
        "The kernel's getrandom: a 32-byte request takes {} cycles, of which keystream at its bulk \
         rate\nis {}: {verdict}.\n",
        text::number(small),
        percent(share)
    ))
}

/// One of our ciphers: its slowest and its fastest level.
fn answer(scope: &Scope<'_>, subject: &str) -> Option<String> {
    let at = |isa: &str, size| measured(scope, "lanecrypt", "stream", subject, Some(isa), size);
    let levels = Level::built().iter().map(|level| level.name());
    let small: Vec<&Point> = levels.filter_map(|level| at(level, 32)).collect();
    let slow = small.iter().find(|p| p.isa.as_deref() == Some("portable"))?;
    let cycles = |p: &&&Point| p.cycles.unwrap_or(f64::INFINITY);
    let fast = small.iter().min_by(|a, b| cycles(a).total_cmp(&cycles(b)))?;
    let share = |p: &Point| {
        let bulk = at(p.isa.as_deref()?, 4 << 20)?.cycles_per_byte()?;
        Some(100.0 * 32.0 * bulk / p.cycles?)
    };
    let bulk = |p: &Point| at(p.isa.as_deref()?, 4 << 20)?.cycles;
    let verdict = if slow.cycles? > 1.1 * fast.cycles? { "yes" } else { "no" };
    Some(format!(
        "{subject}: {verdict}. A 32-byte request takes {} cycles with plain instructions, {} of \
         them keystream,\nand {} with {} ({}): {} the speed; in 4 MiB reads {}.\n",
        text::number(slow.cycles?),
        percent(share(slow)?),
        text::number(fast.cycles?),
        fast.isa.as_deref()?,
        percent(share(fast)?),
        text::times(slow.cycles? / fast.cycles?),
        text::times(bulk(slow)? / bulk(fast)?),
    ))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share.min(100.0))
}

/// The measured point of this kind.
fn measured<'a>(
    scope: &Scope<'a>,
    source: &str,
    api: &str,
    subject: &str,
    isa: Option<&str>,
    size: u64,
) -> Option<&'a Point> {
    scope.find(|p| {
        (&*p.source, &*p.api, &*p.subject, p.size) == (source, api, subject, Some(size))
            && (isa.is_none() || p.isa.as_deref() == isa)
            && p.cycles.is_some()
    })
}
