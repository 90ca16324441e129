//! What a table's charts show: which points, and what is drawn over what.

use crate::results::Point;

/// A family of charts, one for each primitive, operation and the like.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Drawing {
    /// Its title.
    pub title: &'static str,
    /// What the figure is drawn over.
    pub over: Side,
    /// The figure.
    pub measure: Measure,
    /// Which points of the table belong to it.
    pub of: fn(&Point) -> bool,
    /// What distinguishes its charts.
    pub split: fn(&Point) -> String,
}

impl Drawing {
    /// A family of one chart of all points.
    pub(crate) const fn new(title: &'static str, over: Side, measure: Measure) -> Self {
        Self { title, over, measure, of: is_of_one_thread, split: |_| String::new() }
    }

    /// The same of these points.
    pub(crate) const fn of(self, of: fn(&Point) -> bool) -> Self {
        Self { of, ..self }
    }

    /// The same, one for each of these names.
    pub(crate) const fn split(self, split: fn(&Point) -> String) -> Self {
        Self { split, ..self }
    }

    /// The same, one for each cipher and operation.
    pub(crate) const fn by_operation(self) -> Self {
        self.split(|point| format!("{}, {}", point.subject, point.op))
    }
}

/// Whether one thread made its requests.
pub(crate) fn is_of_one_thread(point: &Point) -> bool {
    point.threads.unwrap_or(1) == 1
}

/// Whether a request finds its key set up, and nothing more is done with it.
pub(crate) fn is_kept(point: &Point) -> bool {
    point.key.as_deref() != Some("fresh") && point.phase.is_none() && point.wiped.is_none()
}

/// What is drawn upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new one needs a decision wherever it is drawn")]
pub enum Measure {
    /// [`Point::cycles`].
    Cycles,
    /// [`Point::overhead`].
    Overhead,
    /// [`Point::ns`].
    Nanoseconds,
    /// [`Point::per_second`].
    PerSecond,
    /// [`Point::megabytes_per_second`].
    Megabytes,
    /// The same in bits.
    Megabits,
    /// [`Point::p99_ns`].
    Latency99,
}

/// What is drawn to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new one needs a decision wherever it is drawn")]
pub enum Side {
    /// [`Point::size`].
    Size,
    /// [`Point::batch`].
    Batch,
    /// [`Point::depth`].
    Depth,
    /// [`Point::threads`].
    Threads,
    /// The size of a key of RSA.
    Bits,
}

impl Measure {
    /// The figure of a point with its interval.
    #[must_use]
    pub fn of(self, point: &Point) -> Option<[f64; 3]> {
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
    #[must_use]
    pub fn grows(self) -> bool {
        matches!(self, Self::PerSecond | Self::Megabytes | Self::Megabits)
    }

    /// The unit, as a chart names it.
    #[must_use]
    pub fn unit(self) -> &'static str {
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
    /// The place of a point.
    #[must_use]
    pub fn of(self, point: &Point) -> Option<u64> {
        match self {
            Self::Size => point.size,
            Self::Batch => point.batch.map(u64::from),
            Self::Depth => point.depth.map(u64::from),
            Self::Threads => point.threads.map(u64::from),
            Self::Bits => point.subject.strip_prefix("rsa-")?.parse().ok(),
        }
    }

    /// The unit, as a chart names it.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Size => "bytes",
            Self::Batch => "in a batch",
            Self::Depth => "in flight",
            Self::Threads => "threads",
            Self::Bits => "bits of the key",
        }
    }
}
