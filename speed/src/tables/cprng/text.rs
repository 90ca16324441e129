//! The message's table as text.

use super::bandwidth::{self, Sizes};
use super::repeats;
use super::{DOCUMENT, Line, factor, normalised};
use crate::results::Point;
use crate::table::{self, MARK};
use crate::text;

/// One line's figures.
struct Figures<'a> {
    first: &'a Point,
    initial: Option<&'a Point>,
    rekeyed: Option<&'a Point>,
    one: Option<&'a Point>,
    four: Option<&'a Point>,
}

impl<'a> Figures<'a> {
    fn enter(&mut self, point: &'a Point) {
        let cell = match (point.op.as_str(), point.phase.as_deref(), point.threads) {
            ("u32", Some("rekeyed"), _) => &mut self.rekeyed,
            ("u32", _, _) => &mut self.initial,
            (_, _, Some(1)) => &mut self.one,
            _ => &mut self.four,
        };
        *cell = Some(point);
    }

    /// Seconds of both streams.
    fn seconds(&self) -> Option<(f64, f64)> {
        Some((self.one?.seconds?, self.four?.seconds?))
    }
}

/// The lines, in the order of the points.
fn lines(points: &[Point]) -> Vec<Figures<'_>> {
    let mut lines: Vec<Figures<'_>> = Vec::new();
    for point in points.iter().filter(|p| p.whole.is_some()) {
        let line = match lines.iter().position(|line| table::id(line.first) == table::id(point)) {
            Some(at) => &mut lines[at],
            None => {
                let [initial, rekeyed, one, four] = [None; 4];
                lines.push(Figures { first: point, initial, rekeyed, one, four });
                let last = lines.len() - 1;
                &mut lines[last]
            }
        };
        line.enter(point);
    }
    lines
}

/// The table, the message's figures in the same units, repeated words, and memory bandwidth; each
/// if there are points.
pub(crate) fn text(points: &[Point], processors: usize, sizes: Sizes) -> String {
    let lines = lines(points);
    let (then, now): (Vec<&Figures<'_>>, Vec<&Figures<'_>>) =
        lines.iter().partition(|line| line.first.source == "document");
    let mut out = String::new();
    if !now.is_empty() {
        out += "NetBSD's benchmark of cprng_fast: cycles per byte, and seconds\n";
        let rows = now.iter().map(|line| row(line, processors)).collect();
        let possible = format!("of {processors} proc.");
        let header = [
            "kernel",
            "cpb (32 bit)",
            "rekeyed",
            "4GB (1 way)",
            "16GB (4 ways)",
            "Scaling Factor",
            &possible,
        ];
        out += &text::table(&header, "lrrrrrr", rows);
        out.push('\n');
        out += LEGEND;
        out += MARK;
    }
    let beside: Vec<Vec<String>> =
        then.iter().filter_map(|line| then_and_now(line, &now)).collect();
    if !beside.is_empty() {
        out += "\nThe message's figures (2012: four dual-core Opteron 880) and those above\n";
        let header = ["kernel", "cpb", "now", "4GB", "now", "16GB", "now", "scaling", "now"];
        out += &text::table(&header, "lrrrrrrrr", beside);
    }
    out += &repeated(points);
    let copies = bandwidth::text(points, sizes);
    if !copies.is_empty() {
        out = out + "\n" + &copies;
    }
    out
}

const LEGEND: &str = "\
    To read: cpb: cycles of the time-stamp counter per byte, for 1,000,000 calls of 32 bits after \
    the first key,\nand after each new one. Seconds: requests of 256 bytes; GB are 2^30 bytes. ~: \
    projected from less (--full\nmakes all requests). ?: not verified. Scaling factor, as in the \
    message: the time of one stream divided\nby that of four; at best 1 on four processors. Last \
    column: the throughput of the four streams as a\nshare of what the existing processors could \
    reach.\n";

fn row(line: &Figures<'_>, processors: usize) -> Vec<String> {
    let scaling = line.seconds().map_or_else(
        || [dash(), dash()],
        |(one, four)| {
            [factor(one, four), normalised(one, four, processors)].map(|f| format!("{f:.3}"))
        },
    );
    let mut row = vec![name(line.first)];
    row.extend([line.initial, line.rekeyed].map(|point| cell(point, per_byte)));
    row.extend([line.one, line.four].map(|point| cell(point, seconds)));
    row.extend(scaling);
    row
}

/// The name of a line: the message's own, or one made in the same way.
fn name(point: &Point) -> String {
    let generator = point.generator.as_deref().unwrap_or_default();
    if !point.is_ours() {
        return table::name(point);
    }
    let is_line = |line: &&Line| {
        (line.api, line.subject, line.generator) == (&point.api, &point.subject, generator)
    };
    if let Some(line) = DOCUMENT.iter().find(is_line) {
        return line.name.to_owned();
    }
    let place = point.api.replace("per-", "per");
    match generator {
        "rekeying" => format!("{}-{place}", point.subject),
        "rekeying-inline" => format!("{}-inline-{place}", point.subject),
        other => {
            format!("{}-{place}-{}", point.subject, other.trim_start_matches("rekeying-"))
        }
    }
}

fn dash() -> String {
    "-".to_owned()
}

/// A figure with its marks.
fn cell(point: Option<&Point>, figure: fn(&Point) -> Option<String>) -> String {
    let marked = point.and_then(|point| {
        let projected = if point.whole == Some(false) { "~" } else { "" };
        let unsure = if point.verified { "" } else { "?" };
        Some(format!("{projected}{}{unsure}", figure(point)?))
    });
    marked.unwrap_or_else(dash)
}

fn per_byte(point: &Point) -> Option<String> {
    point.cycles_per_byte().map(text::number)
}

fn seconds(point: &Point) -> Option<String> {
    point.seconds.map(|seconds| format!("{seconds:.2}"))
}

/// A line of the message beside the same line of ours.
fn then_and_now(then: &Figures<'_>, now: &[&Figures<'_>]) -> Option<Vec<String>> {
    let key = |p: &Point| (p.api.clone(), p.subject.clone(), p.generator.clone());
    let is_same = |line: &&&Figures<'_>| line.first.is_ours() && key(line.first) == key(then.first);
    let now = now.iter().find(is_same)?;
    let line = DOCUMENT.iter().find(|line| {
        Some(line.generator) == then.first.generator.as_deref()
            && (line.api, line.subject) == (&then.first.api, &then.first.subject)
    })?;
    let scaling =
        now.seconds().map_or_else(dash, |(one, four)| format!("{:.3}", factor(one, four)));
    let [one, four] = line.seconds;
    Some(vec![
        line.name.to_owned(),
        format!("{:.0}", line.cpb),
        cell(now.initial, per_byte),
        format!("{one:.2}"),
        cell(now.one, seconds),
        format!("{four:.2}"),
        cell(now.four, seconds),
        line.factor.to_owned(),
        scaling,
    ])
}

/// The number of repeated words.
fn repeated(points: &[Point]) -> String {
    let counts: Vec<&Point> = points.iter().filter(|p| p.repeats.is_some()).collect();
    let Some(first) = counts.first() else { return String::new() };
    let words = u64::from(first.threads.unwrap_or(1)) * repeats::WORDS as u64;
    let list = counts.iter().map(|p| format!("{} {}", name(p), p.repeats.unwrap_or(0)));
    format!(
        "\nPairs of words that occurred twice among {words} words of {} threads (by chance: {:.0e}):\n\
         {}.\n",
        first.threads.unwrap_or(1),
        repeats::by_chance(words),
        list.collect::<Vec<_>>().join(", "),
    )
}
