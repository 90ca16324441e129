//! The charts of a run, as the tables describe them.

use std::collections::BTreeMap;

use lanecrypt_speed::{Drawing, Point, Results, drawings};

use crate::chart::{Chart, Line, Mark};
use crate::number;

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
    let views = drawings().map(|(table, drawing)| View { table, drawing });
    views.flat_map(|view| view.charts(results)).collect()
}

/// A family of charts of a table.
struct View {
    table: &'static str,
    drawing: &'static Drawing,
}

impl View {
    fn charts(&self, results: &Results) -> Vec<Chart> {
        let mut groups: BTreeMap<String, Vec<&Point>> = BTreeMap::new();
        let mut documents = Vec::new();
        for point in &results.points {
            if point.table != self.table || !(self.drawing.of)(point) {
                continue;
            }
            if point.source == "document" {
                documents.push(point);
            } else {
                groups.entry((self.drawing.split)(point)).or_default().push(point);
            }
        }
        for document in documents {
            // Without a chart of their own they would be lines that nothing is compared with.
            if let Some(group) = groups.get_mut(&(self.drawing.split)(document)) {
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
            let Some(at) = self.drawing.over.of(point).filter(|&at| at > 0) else { continue };
            let Some([figure, low, high]) = self.drawing.measure.of(point) else { continue };
            // The axis is logarithmic: an overhead of nothing has no place on it.
            if !(figure.is_finite() && figure > 0.0 && low > 0.0 && high.is_finite()) {
                continue;
            }
            let version = point.version.clone().unwrap_or_default();
            let mark = Mark { at: number::of(at), figure, low, high };
            let place = lines.entry((point.source.clone(), version)).or_default();
            let is_better = |old: &Mark| (figure > old.figure) == self.drawing.measure.grows();
            if place.get(&at).is_none_or(is_better) {
                place.insert(at, mark);
            }
        }
        let several = |source: &str| lines.keys().filter(|(other, _)| other == source).count() > 1;
        let lines: Vec<Line> = merged(&lines, self.drawing.measure.grows())
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
            title: self.drawing.title,
            about: about.to_owned(),
            over: self.drawing.over,
            measure: self.drawing.measure,
            lines: ours_first(lines),
            is_emulated: false,
        })
    }
}

/// Only OpenSSL is measured in several versions; of others, the crates behind one name have
/// versions of their own.
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
