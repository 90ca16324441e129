//! The table `urandom`: the test of the message that replaced the kernel's non-blocking pool with
//! ChaCha20, repeated.
//!
//! The message read 128 MiB from /dev/urandom with `dd`, in blocks of 4 MiB and of 32 bytes, and
//! concluded that at 32 bytes "the other overheads of providing the anti-backtracking
//! protection, system call overhead, etc., completely dominate the speed of the core crypto
//! primitive". The table has its rows and units, its figures beside ours, and an answer.

use lanecrypt_kernels::Level;

use crate::contender::{Contender, Op};
use crate::depth::Depth;
use crate::ours;
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::sampler::Sampled;
use crate::table::{Extra, MARK, Table, name};
use crate::text;

pub(crate) mod wide;

/// The table's name.
pub(crate) const NAME: &str = "urandom";

/// The table.
pub(crate) struct Urandom;

impl Table for Urandom {
    fn name(&self) -> &'static str {
        NAME
    }

    fn rows(&self, rivals: &Rivals<'_>, depth: Depth) -> Vec<Row> {
        rows(&[&ours::by_level(), rivals.generators()].concat(), depth)
    }

    fn given(&self) -> Vec<Point> {
        document()
    }

    fn has_test(&self) -> bool {
        true
    }

    fn extra_ids(&self) -> Vec<String> {
        wide::ids()
    }

    fn extra(&self, how: &Extra<'_>, sampled: &mut Sampled) {
        let costs = wide::measure(how.time, &how.limits);
        sampled.points.extend(costs.into_iter().filter(|point| (how.fits)(&point.id)));
    }

    fn text(&self, points: &[Point]) -> String {
        text(points) + &wide::text(points) + FOOTPRINT
    }
}

/// The message's third figure and the place of its comparison.
const FOOTPRINT: &str = "\nThe message's \"extra 20k\" of code for the crypto layer: \
    `make footprint` measures what a minimal\nprogram gains by our random numbers.\n";

/// Bytes that the test reads in all.
const WHOLE: u64 = 128 << 20;
/// The two block sizes.
const SIZES: [usize; 2] = [4 << 20, 32];
/// The message's figures: block size, and seconds for the whole.
const DOCUMENT: [(u64, f64); 2] = [(4 << 20, 1.186_47), (32, 7.082_94)];

/// The rows at a depth.
pub(crate) fn rows(contenders: &[Contender], depth: Depth) -> Vec<Row> {
    let mut rows = Vec::new();
    for contender in contenders {
        for size in SIZES {
            let mut row = contender.row(NAME, Op::Read, size, 1);
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

/// The table as text.
fn text(points: &[Point]) -> String {
    let mut out = String::from("128 MiB of random bytes in reads of 4 MiB and of 32 bytes\n");
    let mut lines: Vec<(&Point, [Option<&Point>; 2])> = Vec::new();
    for point in points.iter().filter(|p| p.table == NAME && p.op == "read") {
        let column = usize::from(point.size == Some(SIZES[1] as u64));
        match lines.iter_mut().find(|(first, _)| is_same_line(first, point)) {
            Some((_, cells)) => cells[column] = Some(point),
            None => {
                let mut cells = [None; 2];
                cells[column] = Some(point);
                lines.push((point, cells));
            }
        }
    }
    let rows = lines.iter().map(|(first, cells)| {
        let from =
            if first.source == "document" { "the message, 2016".into() } else { name(first) };
        let level = first.isa.clone().unwrap_or_default();
        let mut row = vec![from, first.subject.clone(), level];
        for cell in cells {
            row.push(cell.and_then(rate).unwrap_or_else(|| "-".to_owned()));
            row.push(cell.and_then(microseconds).unwrap_or_else(|| "-".to_owned()));
        }
        let share = cells[0].zip(cells[1]).and_then(|(large, small)| {
            Some(large.megabytes_per_second()? / small.megabytes_per_second()?)
        });
        row.push(share.map_or_else(|| "-".to_owned(), |share| format!("{share:.1}")));
        row
    });
    let header = ["", "", "level", "4 MiB: MB/s", "us/read", "32 B: MB/s", "us/read", "ratio"];
    out += &text::table(&header, "lllrrrrr", rows.collect());
    out += "\n\
        To read: MB are 10^6 bytes. ~: projected from less than 128 MiB (--full reads all). ?: not \
        verified.\nRatio: MB/s of large reads divided by those of small ones. dd also writes each \
        block to /dev/null;\nhere only the read is timed.\n";
    out += MARK;
    out + &answers(points)
}

fn is_same_line(a: &Point, b: &Point) -> bool {
    (&a.source, &a.api, &a.subject, &a.isa) == (&b.source, &b.api, &b.subject, &b.isa)
}

fn rate(point: &Point) -> Option<String> {
    let projected = if point.whole == Some(false) { "~" } else { "" };
    let wrong = if point.verified || point.source == "document" { "" } else { "?" };
    let rate = point.megabytes_per_second()?;
    let digits = if rate < 99.95 { format!("{rate:.1}") } else { format!("{rate:.0}") };
    Some(format!("{projected}{digits}{wrong}"))
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
fn answers(points: &[Point]) -> String {
    let mut out = String::new();
    for subject in ["chacha20", "aes-256-ctr"] {
        out.extend(answer(points, subject));
    }
    out.extend(kernel_answer(points));
    if out.is_empty() { out } else { format!("\nDoes acceleration matter at 32 bytes?\n{out}") }
}

/// The kernel's own generator, by system call.
fn kernel_answer(points: &[Point]) -> Option<String> {
    let at = |size| measured(points, "kernel", "getrandom", "chacha20", None, size);
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
fn answer(points: &[Point], subject: &str) -> Option<String> {
    let at = |isa: &str, size| measured(points, "lanecrypt", "stream", subject, Some(isa), size);
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
    points: &'a [Point],
    source: &str,
    api: &str,
    subject: &str,
    isa: Option<&str>,
    size: u64,
) -> Option<&'a Point> {
    points.iter().find(|p| {
        p.table == NAME
            && p.source == source
            && p.api == api
            && p.subject == subject
            && (isa.is_none() || p.isa.as_deref() == isa)
            && p.size == Some(size)
            && p.cycles.is_some()
    })
}
