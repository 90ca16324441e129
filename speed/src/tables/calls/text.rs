//! The table as text: a block for each cipher and direction, as the message prints them.

use super::cells::{label, tenths, tilde};
use super::document::overhead_printed;
use super::{NAME, SUBJECTS, Subject, overhead, whole_of, wiping};
use crate::ciphers::WHOLE;
use crate::fit::Fit;
use crate::results::{Point, fastest};
use crate::tables::grid::{self, Grid, lines, same_line, sizes};
use crate::text;

/// The table as text.
pub(crate) fn text(points: &[Point]) -> String {
    let mut out = String::new();
    let of_table: Vec<Point> = points.iter().filter(|p| p.table == NAME).cloned().collect();
    for subject in &SUBJECTS {
        out += &chunks(&of_table, subject);
    }
    for (key, title) in [("kept", "new IVs, key kept"), ("fresh", "new IVs and keys")] {
        for subject in &SUBJECTS {
            out += &messages(&of_table, subject, key, title);
        }
    }
    out += &set_up(&of_table);
    out += &shared(&of_table);
    out += &wiping::text(&of_table);
    if !out.is_empty() {
        out += LEGEND;
    }
    out
}

const LEGEND: &str = "\
To read: cycles of the time-stamp counter, medians; less is faster. *: certainly the fastest. ?: not
verified and not ranked. ~: cannot be told from nothing. The message: libgcrypt in 2018. lanecrypt
kernel: typed blocks, so that nothing is left to check. lanecrypt cipher: checked. A level after the
name: run with that instruction set. gcry-nohw: libgcrypt without processor features.
";

fn is_of(point: &Point, subject: &Subject) -> bool {
    point.subject == subject.algorithm && point.op == subject.direction.name()
}

/// A line for each of `points`' lines, a column for each size.
fn block(points: &[&Point], ranked: bool, cell: impl Fn(&Point) -> Option<String>) -> String {
    Grid::new(points, ranked, label, cell).text()
}

/// The message's table of a cipher and a direction: cycles per byte, per cent, cycles per call.
fn chunks(points: &[Point], subject: &Subject) -> String {
    let of: Vec<&Point> =
        points.iter().filter(|p| p.chained == Some(true) && is_of(p, subject)).collect();
    if !of.iter().any(|p| p.source != "document") {
        return String::new();
    }
    let Subject { algorithm, direction, .. } = subject;
    let direction = direction.name();
    let whole = text::size(WHOLE as u64);
    let mut out = format!(
        "{algorithm} {direction}: cycles per byte of one message of {whole}, by bytes in a call\n"
    );
    out += &block(&of, true, |point| point.cycles_per_byte().map(per_byte));
    let parts: Vec<&Point> = of.iter().copied().filter(|p| p.size != Some(WHOLE as u64)).collect();
    let share = |point: &Point| percent(point, whole_of(points, point)?);
    if parts.iter().any(|point| share(point).is_some()) {
        out += "\n  overhead of these calls in per cent of the figure of the whole buffer\n";
        out += &block(&parts, false, share);
        out += "\n  overhead of a call, cycles: (c/B of the chunk - c/B of the whole) x chunk;\n  \
                fitted: fixed cycles of a call + slope for each byte\n";
        out += &absolute(points, &of);
    }
    out + "\n"
}

/// Two or three significant figures.
fn per_byte(cycles: f64) -> String {
    match cycles {
        c if c < 0.9995 => format!("{c:.3}"),
        c if c < 99.95 => format!("{c:.2}"),
        c => format!("{c:.0}"),
    }
}

/// The overhead as the message prints it; a tilde where the two figures cannot be told apart.
fn percent(point: &Point, whole: &Point) -> Option<String> {
    let (chunk, base) = (point.cycles_per_byte()?, whole.cycles_per_byte()?);
    let share = overhead_printed(point).unwrap_or_else(|| 100.0 * (chunk / base - 1.0));
    let digits = if share.abs() < 999.5 { format!("{share:+.1}") } else { format!("{share:+.0}") };
    Some(format!("{}{digits}%", tilde(point, whole)))
}

/// Sizes whose overhead is shown in cycles.
const TOLD: [u64; 3] = [16, 64, 128];

/// A line for each contender: the overhead of a call at some sizes, and the fit.
fn absolute(points: &[Point], of: &[&Point]) -> String {
    let measured: Vec<&Point> = of.iter().copied().filter(|p| p.source != "document").collect();
    let measured = sizes(&measured);
    let told: Vec<u64> = TOLD.into_iter().filter(|size| measured.contains(size)).collect();
    let mut header = vec![String::new()];
    header.extend(told.iter().map(|&size| format!("at {}", text::size(size))));
    header.extend(["fixed", "95 %", "slope", "95 %", "from"].map(str::to_owned));
    let rows = lines(of).into_iter().filter_map(|line| {
        let whole = whole_of(points, line)?;
        let mut row = vec![label(line)];
        for &size in &told {
            let point = of.iter().find(|p| p.size == Some(size) && same_line(p, line));
            let cycles = point.and_then(|point| Some((point, overhead(point, whole)?)));
            row.push(cycles.map_or_else(
                || "-".to_owned(),
                |(point, cycles)| format!("{}{}", tilde(point, whole), tenths(cycles)),
            ));
        }
        row.extend(
            whole.fit.as_ref().map_or_else(|| ["-", "", "-", "", ""].map(str::to_owned), fit),
        );
        Some(row)
    });
    let rows = rows.collect();
    text::table(&header, &format!("l{}rlrlr", "r".repeat(told.len())), rows)
}

fn fit(fit: &Fit) -> [String; 5] {
    [
        tenths(fit.fixed),
        format!("{} to {}", tenths(fit.fixed_low), tenths(fit.fixed_high)),
        per_byte(fit.slope),
        format!("{} to {}", per_byte(fit.slope_low), per_byte(fit.slope_high)),
        text::size(fit.from),
    ]
}

/// Independent messages of a cipher and a direction.
fn messages(points: &[Point], subject: &Subject, key: &str, title: &str) -> String {
    let of: Vec<&Point> = points
        .iter()
        .filter(|p| p.chained == Some(false) && !is_shared(p) && p.wiped.is_none())
        .filter(|p| p.key.as_deref() == Some(key) && is_of(p, subject))
        .collect();
    if of.is_empty() {
        return String::new();
    }
    let Subject { algorithm, direction, .. } = subject;
    let direction = direction.name();
    format!("{algorithm} {direction}: cycles per message by size in bytes, {title}\n")
        + &block(&of, true, |point| point.cycles.map(text::number))
        + "\n"
}

fn is_shared(point: &Point) -> bool {
    point.id.contains("/shared/")
}

/// The set-up before the first byte: a block for each operation, a column for each cipher.
fn set_up(points: &[Point]) -> String {
    const BLOCKS: [(&str, &str); 4] = [
        ("set-key", "a new key in the same context"),
        ("set-iv", "a new message under the same key"),
        ("open", "a context made with key and IV, and freed"),
        ("fetch", "the algorithm looked up by its name"),
    ];
    let mut out = String::new();
    for (op, what) in BLOCKS {
        let of: Vec<&Point> = points.iter().filter(|p| p.op == op).collect();
        if of.is_empty() {
            continue;
        }
        let mut subjects: Vec<&str> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for point in &of {
            if !subjects.contains(&point.subject.as_str()) {
                subjects.push(&point.subject);
            }
            if !names.contains(&label(point)) {
                names.push(label(point));
            }
        }
        let rows = names.iter().map(|name| {
            let mut row = vec![name.clone()];
            row.extend(subjects.iter().map(|subject| {
                let column = || of.iter().copied().filter(|p| p.subject == *subject);
                let point = column().find(|p| label(p) == *name);
                let best = fastest(column());
                let figure = point
                    .and_then(|point| Some(text::number(point.cycles?) + grid::mark(point, best)));
                figure.unwrap_or_else(|| "-".to_owned())
            }));
            row
        });
        let table = text::numbers(subjects.iter().map(|&name| name.to_owned()), rows.collect());
        out += &format!("{op}, cycles: {what}\n{table}\n");
    }
    out
}

/// Two threads that use one of our keys at the same time.
fn shared(points: &[Point]) -> String {
    let rows = points.iter().filter(|p| is_shared(p) && p.threads == Some(2)).filter_map(|two| {
        let one = points.iter().find(|p| {
            is_shared(p) && p.threads == Some(1) && p.size == two.size && same_line(p, two)
        })?;
        let (single, double) = (one.estimate()?, two.estimate()?);
        let factor = 2.0 * single.median / double.median;
        let (low, high) = (2.0 * single.low / double.high, 2.0 * single.high / double.low);
        let mark = if one.verified && two.verified { "" } else { "?" };
        Some(vec![
            format!("{} {}", two.subject, two.op),
            text::size(two.size?),
            text::number(one.cycles?),
            text::number(two.cycles?),
            format!("{factor:.2}{mark}"),
            format!("{low:.2} to {high:.2}"),
        ])
    });
    let header = ["", "bytes", "one thread", "two threads", "throughput of two : one", "95 %"];
    let title = "One key that two threads of ours use without a lock: cycles per message";
    text::titled(title, &header, "lrrrrl", rows)
}
