//! What the table shows: blocks for each cipher and direction, as the message prints them.

use super::document::overhead_printed;
use super::wiping::SIZE;
use super::{overhead, whole_of};
use crate::block::Block;
use crate::ciphers::{CHECKED, WHOLE, Wipe};
use crate::figure::{self, candidate, marked, number, subject_and_operation};
use crate::fit::Fit;
use crate::results::Point;
use crate::scope::Scope;
use crate::text;
use crate::view::{BEST, Grid, Line, List, Screen};

pub(super) const LEGEND: &str = "\
To read: cycles, medians; less is faster. *: certainly the fastest. ?: not
verified and not ranked. ~: not certainly above zero. The message: libgcrypt in 2018. lanecrypt
kernel: typed blocks, so that nothing is left to check. lanecrypt cipher: checked. A level after the
name: run with that instruction set. gcry-nohw: libgcrypt without processor features.
";

/// The blocks of these points.
pub(super) fn blocks(scope: &Scope<'_>) -> Vec<Block> {
    let chained = scope.only(is_chained);
    let mut blocks = Vec::new();
    for (_, of) in chained.groups(|point| (point.subject.clone(), point.op.clone())) {
        blocks.extend(CHUNKS.blocks(&of));
        blocks.extend(SHARES.chosen(&of, &of.only(|point| !is_whole(point)).points));
        blocks.extend(CALLS.blocks(&of));
    }
    blocks.extend(MESSAGES.blocks(scope));
    blocks.extend(SET_UP.blocks(scope));
    blocks.extend(SHARED.blocks(scope));
    blocks.extend(wiping(scope));
    blocks
}

/// The message's table.
const CHUNKS: Grid = Grid {
    title: |point, unit| {
        let (what, whole) = (subject_and_operation(point), text::size(WHOLE as u64));
        format!("{what}: {unit} of one message of {whole}, by bytes in a call")
    },
    names: (&[""], |scope, point| vec![label(scope, point)]),
    units: &[("cycles per byte", |_, point| point.cycles_per_byte().map(per_byte))],
    is_ranked: true,
    ..Grid::USUAL
};

/// The overhead as the message prints it.
const SHARES: Grid = Grid {
    title: |point, unit| {
        let what = subject_and_operation(point);
        format!("{what}: overhead of these calls in {unit} of the figure of the whole buffer")
    },
    units: &[("per cent", percent)],
    is_ranked: false,
    ..CHUNKS
};

/// The overhead of a call in cycles, and what is fitted to all sizes.
const CALLS: List = List {
    title: |point| format!("{}: overhead of a call, cycles", subject_and_operation(point)),
    names: (&[""], |scope, point| vec![label(scope, point)]),
    columns: &[
        ("at 16", |all, line| cycles_at(all, line, 16)),
        ("at 64", |all, line| cycles_at(all, line, 64)),
        ("at 128", |all, line| cycles_at(all, line, 128)),
        ("fixed", |_, line| Some(tenths(fit(line)?.fixed))),
        ("95 %", |_, line| {
            fit(line).map(|fit| format!("{} to {}", tenths(fit.fixed_low), tenths(fit.fixed_high)))
        }),
        ("slope", |_, line| Some(per_byte(fit(line)?.slope))),
        ("95 %", |_, line| {
            fit(line)
                .map(|fit| format!("{} to {}", per_byte(fit.slope_low), per_byte(fit.slope_high)))
        }),
        ("from", |_, line| Some(text::size(fit(line)?.from))),
    ],
    is_shown: |line| line.find(is_whole).is_some(),
    note: "\
at: (c/B of the chunk - c/B of the whole) x chunk. Fitted: fixed cycles of a call + slope for each
byte.
",
    ..List::USUAL
};

/// Independent messages.
const MESSAGES: Grid = Grid {
    of: |point| is_message(point) && point.wiped.is_none() && !is_shared(point),
    title: |point, unit| {
        let is_kept = point.key.as_deref() == Some("kept");
        let how = if is_kept { "new IVs, key kept" } else { "new IVs and keys" };
        format!("{}: {unit} by size in bytes, {how}", subject_and_operation(point))
    },
    units: &[("cycles per message", |_, point| number(point.cycles))],
    ..CHUNKS
};

/// The set-up before the first byte: a column for each cipher.
const SET_UP: Grid = Grid {
    of: |point| set_up(point).is_some(),
    title: |point, unit| format!("{}, {unit}: {}", point.op, set_up(point).unwrap_or_default()),
    over: |_, point| Some((0, point.subject.clone())),
    units: &[("cycles", |_, point| number(point.cycles))],
    ..CHUNKS
};

fn set_up(point: &Point) -> Option<&'static str> {
    match &*point.op {
        "set-key" => Some("a new key in the same context"),
        "set-iv" => Some("a new message under the same key"),
        "open" => Some("a context made with key and IV, and freed"),
        "fetch" => Some("the algorithm looked up by its name"),
        _ => None,
    }
}

/// Two threads that use one of our keys at the same time.
const SHARED: List = List {
    of: is_shared,
    title: |_| "One key that two threads of ours use without a lock: cycles per message".to_owned(),
    names: (&["", "bytes"], |_, p| vec![subject_and_operation(p), figure::bytes(p)]),
    columns: &[
        ("one thread", |_, line| number(by(line, 1)?.cycles)),
        ("two threads", |_, line| number(by(line, 2)?.cycles)),
        ("throughput of two : one", |_, line| {
            let (one, two) = (by(line, 1)?, by(line, 2)?);
            let mark = if one.verified && two.verified { "" } else { "?" };
            Some(format!("{:.2}{mark}", 2.0 * one.cycles? / two.cycles?))
        }),
        ("95 %", |_, line| {
            let (one, two) = (by(line, 1)?.estimate()?, by(line, 2)?.estimate()?);
            Some(format!("{:.2} to {:.2}", 2.0 * one.low / two.high, 2.0 * one.high / two.low))
        }),
    ],
    is_shown: |line| by(line, 1).is_some() && by(line, 2).is_some(),
    ..List::USUAL
};

/// The size in the message on libgcrypt's list at which a call's cost shows best.
const SMALLEST: u64 = 16;

/// A line for each candidate and cipher.
const WIPING: List = List {
    of: |point| point.wiped.is_some(),
    title: |_| {
        format!(
            "What wiping costs: cycles of a message of {SIZE} bytes by bytes of stack cleared then"
        )
    },
    names: (&["", ""], |scope, point| vec![label(scope, point), point.subject.clone()]),
    columns: &[
        ("0", |_, line| cycles(line, 0)),
        ("128", |_, line| cycles(line, Wipe::Little.bytes())),
        ("64Ki", |_, line| cycles(line, Wipe::Everything.bytes())),
        ("cost of 128", |_, line| cost(line, Wipe::Little.bytes())),
        ("cost of 64Ki", |_, line| cost(line, Wipe::Everything.bytes())),
    ],
    is_shown: |line| cleared(line, 0).is_some(),
    note: "\
64Ki: burn_stack, which also clears the registers. 128: what libgcrypt clears itself after AES
without AES instructions; it clears 64 bytes after Serpent, and nothing after AES with them.
",
    ..List::USUAL
};

fn cleared<'a>(line: &Scope<'a>, bytes: usize) -> Option<&'a Point> {
    line.find(|point| point.wiped == Some(bytes as u64))
}

fn cycles(line: &Scope<'_>, bytes: usize) -> Option<String> {
    let point = cleared(line, bytes)?;
    marked(point, point.cycles)
}

fn cost(line: &Scope<'_>, bytes: usize) -> Option<String> {
    let (point, without) = (cleared(line, bytes)?, cleared(line, 0)?);
    Some(tilde(point, without).to_owned() + &tenths(point.wiping?))
}

/// The costs here, and the message's cost of a call, which includes what libgcrypt clears.
fn wiping(scope: &Scope<'_>) -> Vec<Block> {
    let overhead =
        scope.only(|p| p.source == "document" && p.size == Some(SMALLEST) && p.op == "encrypt");
    let each = overhead.points.iter().filter_map(|p| {
        let name = label(scope, p).replace("the message", &p.subject);
        Some(format!("{name} {}", tenths(p.overhead?)))
    });
    let each: Vec<String> = each.collect();
    let mut blocks = WIPING.blocks(scope);
    for block in blocks.iter_mut().filter(|_| !each.is_empty()) {
        let all = each.join(", ");
        block.note += &format!("The message, cost of a call of {SMALLEST} bytes:\n{all}.\n");
    }
    blocks
}

fn by<'a>(line: &Scope<'a>, threads: u32) -> Option<&'a Point> {
    line.find(|point| point.threads == Some(threads))
}

fn is_chained(point: &Point) -> bool {
    point.chained == Some(true)
}

fn is_message(point: &Point) -> bool {
    point.chained == Some(false)
}

fn is_whole(point: &Point) -> bool {
    point.size == Some(WHOLE as u64)
}

/// No field tells a key that threads share, used by one of them.
fn is_shared(point: &Point) -> bool {
    point.id.contains("/shared/")
}

/// The label that tells the lines of a block apart.
fn label(scope: &Scope<'_>, point: &Point) -> String {
    if point.source != "document" {
        return candidate(scope, point);
    }
    let hardware = match (point.api.as_str(), point.subject.starts_with("aes")) {
        (_, false) => "",
        ("gcry-nohw", true) => ", no AES-NI",
        _ => ", AES-NI",
    };
    format!("the message{hardware}")
}

/// Two or three significant figures.
fn per_byte(cycles: f64) -> String {
    match cycles {
        c if c < 0.9995 => format!("{c:.3}"),
        c if c < 99.95 => format!("{c:.2}"),
        c => format!("{c:.0}"),
    }
}

/// The overhead as the message prints it; a tilde where the two figures cannot be distinguished.
fn percent(scope: &Scope<'_>, point: &Point) -> Option<String> {
    let whole = whole_of(scope.points.iter().copied(), point)?;
    let (chunk, base) = (point.cycles_per_byte()?, whole.cycles_per_byte()?);
    let share = overhead_printed(point).unwrap_or_else(|| 100.0 * (chunk / base - 1.0));
    let digits = if share.abs() < 999.5 { format!("{share:+.1}") } else { format!("{share:+.0}") };
    Some(format!("{}{digits}%", tilde(point, whole)))
}

/// The overhead of a call of this size.
fn cycles_at(all: &Scope<'_>, line: &Scope<'_>, size: u64) -> Option<String> {
    overhead_of(all, line.find(|point| point.size == Some(size))?)
}

fn overhead_of(scope: &Scope<'_>, point: &Point) -> Option<String> {
    let whole = whole_of(scope.points.iter().copied(), point)?;
    Some(format!("{}{}", tilde(point, whole), tenths(overhead(point, whole)?)))
}

fn fit(line: &Scope<'_>) -> Option<Fit> {
    line.find(is_whole)?.fit
}

/// A tilde where the cycles per byte of two points cannot be distinguished.
fn tilde(a: &Point, b: &Point) -> &'static str {
    let scaled = |point: &Point| {
        let size = crate::clock::as_f64(point.size?);
        let estimate = point.estimate()?;
        Some((estimate.low / size, estimate.high / size))
    };
    match (scaled(a), scaled(b)) {
        (Some((low, high)), Some((other_low, other_high)))
            if low <= other_high && other_low <= high =>
        {
            "~"
        }
        _ => "",
    }
}

/// Cycles with one decimal, if it is significant.
fn tenths(cycles: f64) -> String {
    if cycles.abs() < 999.95 { format!("{cycles:.1}") } else { format!("{cycles:.0}") }
}

/// The first screen.
pub(super) const SCREEN: Screen = Screen {
    title: "cycles of a cipher",
    lines: &[
        Line::new("64-byte message", |p| is_usual_message(p, "aes-128-cbc", 64)),
        Line::new("1500-byte message", |p| is_usual_message(p, "aes-128-ctr", 1500)),
        Line::new("256-byte message", |p| is_usual_message(p, "chacha20-ietf", 256)),
        Line::new("key set-up", |p| p.subject == "aes-128-ctr" && p.op == "set-key"),
        Line {
            is_compared: false,
            figure: overhead_of,
            ..Line::new("16-byte call, overhead", |p| is_chunk(p, "aes-128-cbc", "encrypt", 16))
        },
        Line {
            is_compared: false,
            figure: overhead_of,
            ..Line::new("16-byte call, overhead", |p| is_chunk(p, "aes-128-ctr", "encrypt", 16))
        },
        Line {
            figure: figure::per_byte,
            ..Line::new("64 KiB, per byte", |p| is_chunk(p, "aes-128-ctr", "encrypt", WHOLE))
        },
        Line {
            figure: figure::per_byte,
            ..Line::new("64 KiB dec., per byte", |p| is_chunk(p, "aes-128-cbc", "decrypt", WHOLE))
        },
        Line {
            figure: figure::per_byte,
            ..Line::new("64 KiB dec., per byte", |p| {
                is_chunk(p, "serpent-128-cbc", "decrypt", WHOLE)
            })
        },
    ],
    ours: &[("ours", |point| point.api == CHECKED)],
    peers: &[("best peer", |point| point.api != "gcry-nohw", BEST)],
    also: |point| is_chunk(point, "aes-128-cbc", "encrypt", WHOLE),
};

fn is_usual_message(point: &Point, subject: &str, size: u64) -> bool {
    (MESSAGES.of)(point)
        && (&*point.subject, &*point.op, point.size) == (subject, "encrypt", Some(size))
        && point.key.as_deref() == Some("kept")
}

fn is_chunk(point: &Point, subject: &str, op: &str, size: usize) -> bool {
    is_chained(point)
        && (&*point.subject, &*point.op, point.size) == (subject, op, Some(size as u64))
}
