//! The charts that there are: which points, and what is drawn over what.

use std::collections::BTreeMap;

use lanecrypt_speed::{Point, Results};

use crate::chart::{Chart, Measure, Side};

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
        let charts = groups.iter().filter_map(|(split, points)| Chart::new(self, split, points));
        let mut charts: Vec<Chart> = charts.collect();
        for chart in &mut charts {
            chart.is_emulated = results.machine.emulator.is_some();
        }
        charts.sort_by_key(|chart| usual_first(&chart.about));
        charts
    }
}
