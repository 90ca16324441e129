//! A chart: lines of figures over sizes, batches and the like.

use std::collections::BTreeMap;

use lanecrypt_speed::Point;

use crate::number;
use crate::view::View;

/// What is drawn upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Cycles,
    Overhead,
    Nanoseconds,
    PerSecond,
    Megabytes,
    Megabits,
    Latency99,
}

/// What is drawn to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Size,
    Batch,
    Depth,
    Threads,
    /// The size of a key of RSA.
    Bits,
}

/// A figure at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) at: f64,
    pub(crate) figure: f64,
    /// The ends of its interval; the figure itself if it has none.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The figures of a project, from left to right.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The project, which has the colour.
    pub(crate) source: String,
    /// The project, with its version where there are several.
    pub(crate) label: String,
    pub(crate) marks: Vec<Mark>,
}

/// A chart of one run.
#[derive(Clone, Debug)]
pub struct Chart {
    pub(crate) table: &'static str,
    pub(crate) title: &'static str,
    /// What it is about, such as a cipher and an operation.
    pub(crate) about: String,
    pub(crate) over: Side,
    pub(crate) measure: Measure,
    pub(crate) lines: Vec<Line>,
    /// Whether an emulator ran the program, which every display of the figures has to say.
    pub(crate) is_emulated: bool,
}

impl Measure {
    /// The figure of a point with its interval.
    fn of(self, point: &Point) -> Option<[f64; 3]> {
        let cycles = point.cycles.zip(point.cycles_low).zip(point.cycles_high);
        // Shares of the median, which hold for what is computed from it.
        let share = |figure: f64| match cycles {
            Some(((median, low), high)) if median > 0.0 => {
                [figure, figure * low / median, figure * high / median]
            }
            _ => [figure; 3],
        };
        let inverse = |figure: f64| match cycles {
            Some(((median, low), high)) if low > 0.0 && high > 0.0 => {
                [figure, figure * median / high, figure * median / low]
            }
            _ => [figure; 3],
        };
        match self {
            Self::Cycles => point.cycles.map(share),
            Self::Nanoseconds => point.ns.map(share),
            Self::Overhead => point.overhead.map(|overhead| [overhead; 3]),
            Self::Latency99 => point.p99_ns.map(|p99| [p99; 3]),
            Self::PerSecond => point.per_second.map(inverse),
            Self::Megabytes => point.megabytes_per_second().map(inverse),
            Self::Megabits => point.megabytes_per_second().map(|figure| inverse(8.0 * figure)),
        }
    }

    /// Whether a greater figure is better.
    pub(crate) fn grows(self) -> bool {
        matches!(self, Self::PerSecond | Self::Megabytes | Self::Megabits)
    }

    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Cycles => "cycles a request",
            Self::Overhead => "cycles of overhead a call",
            Self::Nanoseconds => "ns a value",
            Self::PerSecond => "in a second",
            Self::Megabytes => "MB in a second",
            Self::Megabits => "Mbit in a second",
            Self::Latency99 => "ns until 99 of 100 are done",
        }
    }
}

impl Side {
    fn of(self, point: &Point) -> Option<u64> {
        match self {
            Self::Size => point.size,
            Self::Batch => point.batch.map(u64::from),
            Self::Depth => point.depth.map(u64::from),
            Self::Threads => point.threads.map(u64::from),
            Self::Bits => point.subject.strip_prefix("rsa-")?.parse().ok(),
        }
    }

    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Size => "bytes",
            Self::Batch => "in a batch",
            Self::Depth => "in flight",
            Self::Threads => "threads",
            Self::Bits => "bits of the key",
        }
    }
}

impl Chart {
    /// The chart of these points; none if there is no line in it.
    pub(crate) fn new(view: &View, about: &str, points: &[&Point]) -> Option<Self> {
        let mut lines: BTreeMap<(String, String), BTreeMap<u64, Mark>> = BTreeMap::new();
        for point in points.iter().filter(|point| point.verified || point.source == "document") {
            let Some(at) = view.over.of(point).filter(|&at| at > 0) else { continue };
            let Some([figure, low, high]) = view.measure.of(point) else { continue };
            // The axis is logarithmic: an overhead of nothing has no place on it.
            if !(figure.is_finite() && figure > 0.0 && low > 0.0 && high.is_finite()) {
                continue;
            }
            let version = point.version.clone().unwrap_or_default();
            let mark = Mark { at: number::of(at), figure, low, high };
            let place = lines.entry((point.source.clone(), version)).or_default();
            let is_better = |old: &Mark| (figure > old.figure) == view.measure.grows();
            if place.get(&at).is_none_or(is_better) {
                place.insert(at, mark);
            }
        }
        let several = |source: &str| lines.keys().filter(|(other, _)| other == source).count() > 1;
        let lines: Vec<Line> = merged(&lines, view.measure.grows())
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
        is_drawn.then(|| Self {
            table: view.table,
            title: view.title,
            about: about.to_owned(),
            over: view.over,
            measure: view.measure,
            lines: ours_first(lines),
            is_emulated: false,
        })
    }

    /// A name for one picture: letters, digits and hyphens.
    #[must_use]
    pub fn name(&self) -> String {
        let text = format!("{} {} {}", self.table, self.title, self.about).to_lowercase();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    }

    /// The picture, as a file of its own.
    #[must_use]
    pub fn svg(&self) -> String {
        crate::svg::file(self)
    }

    /// The places, from left to right.
    pub(crate) fn places(&self) -> Vec<f64> {
        let mut places: Vec<f64> =
            self.lines.iter().flat_map(|line| line.marks.iter().map(|mark| mark.at)).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// The command that measures its points.
    pub(crate) fn command(&self) -> String {
        format!("lanecrypt speed {}", self.table)
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
