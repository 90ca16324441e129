//! The charts that there are: which points, and what is drawn over what.

use std::collections::BTreeMap;

use lanecrypt_speed::{Point, Results};

use crate::chart::{Chart, Line, Mark, Measure, Side};
use crate::number;

/// A family of charts, one for each primitive, operation and the like.
pub(crate) struct View {
    /// The table that its points are of.
    pub(crate) table: &'static str,
    pub(crate) title: &'static str,
    /// What the figure is drawn over.
    pub(crate) over: Side,
    pub(crate) measure: Measure,
    /// Which points belong to it.
    of: fn(&Point) -> bool,
    /// What distinguishes its charts.
    split: fn(&Point) -> String,
}

fn is_kept(point: &Point) -> bool {
    point.key.as_deref() != Some("fresh") && point.phase.is_none() && point.wiped.is_none()
}

fn one_thread(point: &Point) -> bool {
    point.threads.unwrap_or(1) == 1
}

fn nothing(_: &Point) -> String {
    String::new()
}

fn subject_and_operation(point: &Point) -> String {
    format!("{}, {}", point.subject, point.op)
}

fn rsa(point: &Point) -> String {
    let primes = if point.crt == Some(false) { ", without CRT" } else { "" };
    format!("{}, {}{primes}", point.subject, point.op)
}

fn with_or_without_primes(point: &Point) -> String {
    match point.crt {
        Some(true) => format!("{}, with CRT", point.op),
        Some(false) => format!("{}, without CRT", point.op),
        None => point.op.clone(),
    }
}

/// How processes of a daemon's table are placed and wait.
fn placed(point: &Point) -> String {
    let place = point.placement.as_deref().unwrap_or("one process");
    let wait = point.wait.as_deref().unwrap_or("no wait");
    format!("{}, {}, {place}, {wait}", point.subject, point.op)
}

pub(crate) static VIEWS: &[View] = &[
    View {
        table: "random",
        title: "Random bytes: cost of a request",
        over: Side::Size,
        measure: Measure::Cycles,
        of: |point| point.op == "fill" && one_thread(point) && is_kept(point),
        split: nothing,
    },
    View {
        table: "random",
        title: "Random numbers of 32 bits by threads",
        over: Side::Threads,
        measure: Measure::PerSecond,
        of: |point| point.op == "u32" && is_kept(point),
        split: nothing,
    },
    View {
        table: "packets",
        title: "Messages, one at a time",
        over: Side::Size,
        measure: Measure::Cycles,
        of: |point| point.batch == Some(1) && one_thread(point) && is_kept(point),
        split: subject_and_operation,
    },
    View {
        table: "packets",
        title: "64-byte messages by batch",
        over: Side::Batch,
        measure: Measure::Cycles,
        of: |point| point.size == Some(64) && one_thread(point) && is_kept(point),
        split: subject_and_operation,
    },
    View {
        table: "calls",
        title: "Overhead of a call, by chunk",
        over: Side::Size,
        measure: Measure::Overhead,
        of: |point| point.chained == Some(true) && one_thread(point) && is_kept(point),
        split: subject_and_operation,
    },
    View {
        table: "tls",
        title: "Records and packets of rustls",
        over: Side::Size,
        measure: Measure::Cycles,
        of: one_thread,
        split: subject_and_operation,
    },
    View {
        table: "rsa",
        title: "Signatures in a second, by how many at once",
        over: Side::Batch,
        measure: Measure::PerSecond,
        of: one_thread,
        split: rsa,
    },
    View {
        table: "rsa",
        title: "Signatures in a second, by size of the key",
        over: Side::Bits,
        measure: Measure::PerSecond,
        of: one_thread,
        split: with_or_without_primes,
    },
    View {
        table: "columns",
        title: "Cells of a table",
        over: Side::Size,
        measure: Measure::Nanoseconds,
        of: one_thread,
        split: subject_and_operation,
    },
    View {
        table: "urandom",
        title: "A device of random bytes",
        over: Side::Size,
        measure: Measure::Megabytes,
        of: |point| point.op == "read" && one_thread(point),
        split: nothing,
    },
    View {
        table: "engine",
        title: "Requests in flight: cost",
        over: Side::Depth,
        measure: Measure::Cycles,
        of: |point| point.size == Some(64) && one_thread(point),
        split: subject_and_operation,
    },
    View {
        table: "engine",
        title: "Requests in flight: latency of 99 in 100",
        over: Side::Depth,
        measure: Measure::Latency99,
        of: one_thread,
        split: subject_and_operation,
    },
    View {
        table: "device",
        title: "A daemon's clients: throughput",
        over: Side::Size,
        measure: Measure::Megabits,
        of: |point| point.depth == Some(1) && point.processes.unwrap_or(1) == 1,
        split: subject_and_operation,
    },
    View {
        table: "device",
        title: "A daemon's clients: cost of a request",
        over: Side::Size,
        measure: Measure::Cycles,
        of: |point| point.depth == Some(1),
        split: placed,
    },
    View {
        table: "device",
        title: "A daemon's clients: requests in flight",
        over: Side::Depth,
        measure: Measure::PerSecond,
        of: |point| point.size == Some(64),
        split: placed,
    },
];

/// What most programs use, most of them first; the rest follows by name.
const USUAL: &[&str] = &[
    "aes-128-gcm,",
    "aes-256-gcm,",
    "chacha20-poly1305,",
    "aes-128-ctr,",
    "aes-128-cbc,",
    "rsa-2048,",
];

fn usual_first(about: &str) -> usize {
    USUAL.iter().position(|name| about.starts_with(name)).unwrap_or(USUAL.len())
}

/// All charts with something to show.
pub(crate) fn charts(results: &Results) -> Vec<Chart> {
    VIEWS.iter().flat_map(|view| view.charts(results)).collect()
}

impl View {
    fn charts(&self, results: &Results) -> Vec<Chart> {
        let mut groups: BTreeMap<String, Vec<&Point>> = BTreeMap::new();
        let mut documents = Vec::new();
        for point in &results.points {
            if point.table != self.table || !(self.of)(point) {
                continue;
            }
            if point.source == "document" {
                documents.push(point);
            } else {
                groups.entry((self.split)(point)).or_default().push(point);
            }
        }
        for document in documents {
            // Without a chart of their own they would be lines that nothing is compared with.
            if let Some(group) = groups.get_mut(&(self.split)(document)) {
                group.push(document);
            }
        }
        let charts = groups.iter().filter_map(|(split, points)| self.chart(split, points));
        let mut charts: Vec<Chart> = charts.collect();
        for chart in &mut charts {
            chart.is_emulated = results.machine.emulator.is_some();
        }
        charts.sort_by_key(|chart| usual_first(&chart.about));
        charts
    }

    /// The chart of these points; none if there is no line in it.
    fn chart(&self, about: &str, points: &[&Point]) -> Option<Chart> {
        let mut lines: BTreeMap<(String, String), BTreeMap<u64, Mark>> = BTreeMap::new();
        for point in points.iter().filter(|point| point.verified || point.source == "document") {
            let Some(at) = self.over.of(point).filter(|&at| at > 0) else { continue };
            let Some([figure, low, high]) = self.measure.of(point) else { continue };
            // The axis is logarithmic: an overhead of nothing has no place on it.
            if !(figure.is_finite() && figure > 0.0 && low > 0.0 && high.is_finite()) {
                continue;
            }
            let version = point.version.clone().unwrap_or_default();
            let mark = Mark { at: number::of(at), figure, low, high };
            let place = lines.entry((point.source.clone(), version)).or_default();
            let is_better = |old: &Mark| (figure > old.figure) == self.measure.grows();
            if place.get(&at).is_none_or(is_better) {
                place.insert(at, mark);
            }
        }
        let several = |source: &str| lines.keys().filter(|(other, _)| other == source).count() > 1;
        let lines: Vec<Line> = merged(&lines, self.measure.grows())
            .into_iter()
            .map(|((source, version), marks)| {
                let label = match several(&source) && source == "openssl" {
                    true => format!("{source} {version}"),
                    false => source.clone(),
                };
                Line { source, label, marks }
            })
            .collect();
        // A line needs two places, and a comparison two lines.
        let is_drawn = lines.iter().any(|line| line.marks.len() > 1);
        is_drawn.then(|| Chart {
            table: self.table,
            title: self.title,
            about: about.to_owned(),
            over: self.over,
            measure: self.measure,
            lines: ours_first(lines),
            is_emulated: false,
        })
    }
}

/// Only OpenSSL is measured in several versions; of others, the crates behind one name have versions
/// of their own.
fn merged(
    lines: &BTreeMap<(String, String), BTreeMap<u64, Mark>>,
    grows: bool,
) -> Vec<((String, String), Vec<Mark>)> {
    let mut merged: BTreeMap<(String, String), BTreeMap<u64, Mark>> = BTreeMap::new();
    for ((source, version), marks) in lines {
        let version = if source == "openssl" { version.clone() } else { String::new() };
        let place = merged.entry((source.clone(), version)).or_default();
        for (&at, mark) in marks {
            let is_better = |old: &Mark| (mark.figure > old.figure) == grows;
            if place.get(&at).is_none_or(is_better) {
                place.insert(at, *mark);
            }
        }
    }
    merged.into_iter().map(|(key, marks)| (key, marks.into_values().collect())).collect()
}

/// Ours before the peers, and documents behind them.
fn ours_first(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_by_key(|line| match line.source.as_str() {
        "lanecrypt" => 0,
        "document" => 2,
        _ => 1,
    });
    lines
}
