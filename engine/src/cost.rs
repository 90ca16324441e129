//! What messages cost on this processor, and at which lengths they go side by side.

mod built_in;
mod figures;
mod lanes;
mod measure;
mod rows;

use core::fmt;
use std::borrow::Cow;

use lanecrypt_ciphers::{Algorithm, Isa, Level};

use self::built_in::Maker;
use self::figures::{DEPTHS, Figures, Kind};
pub(crate) use self::lanes::{KINDS, Lanes};
use self::measure::Effort;
use crate::Operation;
use crate::class::Class;

/// Where figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostSource {
    /// Another processor of the same maker with the same instructions.
    BuiltIn,
    /// [`Engine::calibrate`](crate::Engine::calibrate): this one.
    Calibrated,
}

/// What messages cost on this processor, and which of them go side by side.
///
/// [`Engine::costs`](crate::Engine::costs) shows it. As text it is the table of figures in
/// nanoseconds, in the form in which such tables are built in.
#[derive(Debug)]
pub struct Costs {
    level: Level,
    figures: Cow<'static, Figures>,
    lanes: Lanes,
    source: CostSource,
}

/// Which requests of an algorithm go side by side: some lengths, by how many requests there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SideBySide {
    /// What is encrypted or sealed, decrypted or opened.
    pub algorithm: Algorithm,
    /// Which of these.
    pub operation: Operation,
    /// So many requests of it in a batch, or more.
    pub requests: usize,
    /// The least bytes of data; shorter messages go alone.
    pub shortest: usize,
    /// The most bytes of data, `usize::MAX` if there is no such limit; longer messages go alone.
    pub longest: usize,
}

impl Costs {
    /// Those that were measured beforehand, at this level.
    pub(crate) fn built_in(level: Level) -> Self {
        let figures = built_in::at(level, Maker::of_processor());
        Self::new(level, Cow::Borrowed(figures), CostSource::BuiltIn)
    }

    /// Measures them.
    pub(crate) fn measured(isa: Isa) -> Self {
        let before = built_in::at(isa.level(), Maker::of_processor());
        let figures = measure::figures(isa, before, &Effort::QUICK);
        Self::new(isa.level(), Cow::Owned(figures), CostSource::Calibrated)
    }

    fn new(level: Level, figures: Cow<'static, Figures>, source: CostSource) -> Self {
        let lanes = Lanes::new(level, &figures);
        Self { level, figures, lanes, source }
    }

    /// Where the figures come from.
    #[must_use]
    pub fn source(&self) -> CostSource {
        self.source
    }

    /// Which requests go side by side: every algorithm and operation that has a kernel for it, at
    /// 2, 4, 8, 16 and 64 requests, where it pays.
    pub fn side_by_side(&self) -> impl Iterator<Item = SideBySide> {
        let all = Algorithm::ALL.iter().flat_map(|&algorithm| {
            Operation::ALL.map(|operation| (algorithm, operation)).into_iter()
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

    /// What decides which messages go side by side.
    #[inline]
    pub(crate) fn lanes(&self) -> &Lanes {
        &self.lanes
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |line: &[f32]| {
            line.iter().map(|figure| format!("{figure:.1}")).collect::<Vec<_>>().join(", ")
        };
        let name = self.level.name().to_uppercase();
        writeln!(f, "#[rustfmt::skip]\npub(super) static {name}: Figures = Figures([")?;
        for (row, algorithm) in rows::measured() {
            let Kind { alone, beside } = self.figures.0[row];
            writeln!(f, "    // {algorithm}\n    Kind {{\n        alone: [{}],", line(&alone))?;
            writeln!(f, "        beside: [")?;
            for beside in beside {
                writeln!(f, "            [{}],", line(&beside))?;
            }
            writeln!(f, "        ],\n    }},")?;
        }
        writeln!(f, "]);")
    }
}
