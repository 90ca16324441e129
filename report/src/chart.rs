//! A chart: lines of figures over sizes, batches and the like.

use lanecrypt_speed::Point;

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
    pub(crate) fn of(self, point: &Point) -> Option<[f64; 3]> {
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
    pub(crate) fn of(self, point: &Point) -> Option<u64> {
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
    /// The title with what it is about.
    pub(crate) fn heading(&self) -> String {
        let about = self.subtitle();
        match about.is_empty() {
            true => self.title.to_owned(),
            false => format!("{}: {about}", self.title),
        }
    }

    /// What it is about, and whether its figures are an emulator's.
    pub(crate) fn subtitle(&self) -> String {
        match (self.is_emulated, self.about.as_str()) {
            (false, about) => about.to_owned(),
            (true, "") => String::from("EMULATED"),
            (true, about) => format!("{about}, EMULATED"),
        }
    }

    /// A name for one picture: letters, digits and hyphens.
    #[must_use]
    pub fn name(&self) -> String {
        let text = format!("{} {} {}", self.table, self.title, self.about).to_lowercase();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
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
