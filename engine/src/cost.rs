//! What requests cost on this processor, and from which lengths on they had better go side by side.

mod built_in;
mod figures;
mod measure;
mod rows;

use std::borrow::Cow;

use lanecrypt_ciphers::lanes::Lengths;
use lanecrypt_ciphers::{Algorithm, Isa, Level};

use self::figures::{DEPTHS, Figures};
use self::measure::Effort;
use self::rows::{ROW_OF, ROWS};
use crate::Operation;
use crate::class::Class;

/// Where figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostSource {
    /// Another processor with the same instructions.
    BuiltIn,
    /// [`Engine::calibrate`](crate::Engine::calibrate): this one.
    Calibrated,
}

/// What requests cost on this processor, and which of them go side by side.
///
/// [`Engine::costs`](crate::Engine::costs) shows it.
#[derive(Debug)]
pub struct Costs {
    figures: Cow<'static, Figures>,
    /// For each kind of messages that have lanes, and each depth.
    lengths: [[Lengths; DEPTHS.len()]; ROWS],
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
        Self::new(level, Cow::Borrowed(built_in::at(level)), CostSource::BuiltIn)
    }

    /// Measures them.
    pub(crate) fn measured(isa: Isa) -> Self {
        let figures = measure::figures(isa, built_in::at(isa.level()), &Effort::QUICK);
        Self::new(isa.level(), Cow::Owned(figures), CostSource::Calibrated)
    }

    fn new(level: Level, figures: Cow<'static, Figures>, source: CostSource) -> Self {
        let mut lengths = figures.lanes.map(|row| figures::lengths(&row));
        for (row, lengths) in lengths.iter_mut().enumerate() {
            // Where there are no lanes, what seems to be a gain is an error of measurement.
            if level < rows::lowest(row) {
                lengths.fill(Lengths::NONE);
            }
        }
        Self { figures, lengths, source }
    }

    /// Where the figures come from.
    #[must_use]
    pub fn source(&self) -> CostSource {
        self.source
    }

    /// Which requests go side by side: every algorithm and operation that has a kernel for it, at
    /// 2, 4, 8, 16 and 64 requests, where it pays.
    pub fn side_by_side(&self) -> impl Iterator<Item = SideBySide> {
        let kinds = Algorithm::ALL.iter().flat_map(|&algorithm| {
            Operation::ALL.map(|operation| (algorithm, operation)).into_iter()
        });
        kinds.flat_map(|(algorithm, operation)| {
            let row = self.row(Class::of(algorithm).with(operation));
            let row = row.into_iter().flat_map(|row| DEPTHS.iter().zip(row));
            row.filter(|(_, lengths)| lengths.shortest <= lengths.longest).map(
                move |(&requests, lengths)| SideBySide {
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

    /// What a request of so many `bytes` costs in a batch of so many like it, in nanoseconds;
    /// `None` if no session serves the operation with this algorithm.
    ///
    /// With the key kept, data in the cache, an initialization vector and data of its own for each
    /// request, and no associated data. Built-in figures are those of an Intel Xeon at about
    /// 3.6 GHz; lengths between those that were measured are interpolated.
    #[must_use]
    pub fn nanoseconds(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        bytes: usize,
        batch: usize,
    ) -> Option<f64> {
        let class = Class::of(algorithm).with(operation);
        let aead = matches!(operation, Operation::Seal | Operation::Open);
        if aead != algorithm.is_aead() {
            return None;
        }
        if let Some(row) = ROW_OF[class.number()]
            && self.lengths(class, batch).contain(bytes)
        {
            let beside = &self.figures.lanes[usize::from(row)].beside;
            return Some(figures::between(&beside[figures::depth(batch)?], bytes));
        }
        let backward = matches!(operation, Operation::Decrypt | Operation::Open);
        let alone = &self.figures.alone[class.number() >> 2][usize::from(backward)];
        // What has no sessions was not measured.
        alone.iter().all(|&figure| figure > 0.0).then(|| figures::between(alone, bytes))
    }

    /// The lengths of requests that go side by side if there are so many of their class.
    #[inline]
    pub(crate) fn lengths(&self, class: Class, requests: usize) -> Lengths {
        let depth = figures::depth(requests);
        match (self.row(class), depth) {
            (Some(row), Some(depth)) => row[depth],
            _ => Lengths::NONE,
        }
    }

    /// Whether there are lengths at which requests of this class go side by side.
    #[inline]
    pub(crate) fn have_lanes(&self, class: Class) -> bool {
        self.row(class).is_some()
    }

    #[inline]
    fn row(&self, class: Class) -> Option<&[Lengths; DEPTHS.len()]> {
        ROW_OF[class.number()].map(|row| &self.lengths[usize::from(row)])
    }
}
