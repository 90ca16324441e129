//! The cost of messages on this processor, and the lengths at which they run in lanes.

pub(crate) mod built_in;
pub(crate) mod figures;
mod lanes;
pub(crate) mod rows;

use alloc::borrow::Cow;
use core::fmt;

use lanecrypt_ciphers::{Algorithm, Level};

use self::built_in::Maker;
use self::figures::{DEPTHS, Figures, Kind};
pub(crate) use self::lanes::{KINDS, Lanes};
use crate::Operation;
use crate::class::Class;

/// The source of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostSource {
    /// Measured beforehand, on another processor of the same maker with the same instructions.
    BuiltIn,
    /// Measured on this processor, by [`Engine::calibrate`](crate::Engine::calibrate).
    Calibrated,
}

/// The cost of messages on this processor, and which of them run in lanes.
///
/// [`Engine::costs`](crate::Engine::costs) returns it. Its text form is the table of figures in
/// nanoseconds, in the same form as the built-in tables.
#[derive(Clone, Debug)]
pub struct Costs {
    level: Level,
    figures: Cow<'static, Figures>,
    lanes: Lanes,
    source: CostSource,
}

/// A range of lengths at which requests of one algorithm and operation run in lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SideBySide {
    /// The algorithm of the requests.
    pub algorithm: Algorithm,
    /// The operation of the requests.
    pub operation: Operation,
    /// The least number of such requests in a batch for which the range holds.
    pub requests: usize,
    /// The shortest data in bytes; shorter messages run alone.
    pub shortest: usize,
    /// The longest data in bytes, `usize::MAX` for no limit; longer messages run alone.
    pub longest: usize,
}

impl Costs {
    /// The costs measured beforehand, at this level.
    pub(crate) fn built_in(level: Level) -> Self {
        let figures = built_in::at(level, Maker::of_processor());
        Self::new(level, Cow::Borrowed(figures), CostSource::BuiltIn)
    }

    /// The costs measured on this processor, at this level.
    pub(crate) fn calibrated(level: Level, figures: Figures) -> Self {
        Self::new(level, Cow::Owned(figures), CostSource::Calibrated)
    }

    fn new(level: Level, figures: Cow<'static, Figures>, source: CostSource) -> Self {
        let lanes = Lanes::new(level, &figures);
        Self { level, figures, lanes, source }
    }

    /// The source of the figures.
    #[must_use]
    pub fn source(&self) -> CostSource {
        self.source
    }

    /// The requests that run in lanes: each algorithm and operation that has lanes, at 2, 4, 8, 16
    /// and 64 requests, wherever lanes are faster.
    pub fn side_by_side(&self) -> impl Iterator<Item = SideBySide> {
        let all = Algorithm::ALL.iter().flat_map(|&algorithm| {
            Operation::OF_CIPHERS.map(|operation| (algorithm, operation)).into_iter()
        });
        all.flat_map(|(algorithm, operation)| {
            let class = Class::of(algorithm).with(operation);
            let depths = DEPTHS.map(|requests| (requests, self.lanes.lengths(class, requests)));
            depths.into_iter().filter(|(_, lengths)| lengths.shortest <= lengths.longest).map(
                move |(requests, lengths)| SideBySide {
                    algorithm,
                    operation,
                    requests,
                    shortest: lengths.shortest as usize,
                    longest: match lengths.longest {
                        u32::MAX => usize::MAX,
                        longest => longest as usize,
                    },
                },
            )
        })
    }

    /// The nanoseconds of one of `messages` messages of a class, of this many bytes each; none for
    /// classes that are not in the table.
    pub(crate) fn nanoseconds(&self, class: Class, messages: usize, bytes: usize) -> Option<f64> {
        let kind = self.figures.0.get(usize::from(Lanes::kind(class)))?;
        figures::nanoseconds(kind, messages, bytes)
    }

    /// Decides which messages run in lanes.
    #[inline]
    pub(crate) fn lanes(&self) -> &Lanes {
        &self.lanes
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.level.name().to_uppercase();
        writeln!(f, "#[rustfmt::skip]\npub(super) static {name}: Figures = Figures([")?;
        for (row, algorithm) in rows::measured() {
            let Kind { alone, beside } = self.figures.0[row];
            writeln!(f, "    // {algorithm}\n    Kind {{\n        alone: [{}],", Line(&alone))?;
            writeln!(f, "        beside: [")?;
            for beside in beside {
                writeln!(f, "            [{}],", Line(&beside))?;
            }
            writeln!(f, "        ],\n    }},")?;
        }
        writeln!(f, "]);")
    }
}

/// Figures with commas between them.
struct Line<'a>(&'a [f32]);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((last, before)) = self.0.split_last() else { return Ok(()) };
        before.iter().try_for_each(|figure| write!(f, "{figure:.1}, "))?;
        write!(f, "{last:.1}")
    }
}
