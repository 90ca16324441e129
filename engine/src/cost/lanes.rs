//! Which messages go side by side.

use lanecrypt_ciphers::lanes::Lengths;
use lanecrypt_ciphers::{Algorithm, Level};

use super::figures::{self, DEPTHS, Figures};
use super::rows::{self, ROW_OF, ROWS};
use crate::Operation;
use crate::class::Class;

/// Kinds of messages that have kernels for many.
pub(crate) const KINDS: usize = ROWS;

/// The lengths that go side by side: for each kind of messages that have lanes, and by how many
/// there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes([[Lengths; DEPTHS.len()]; ROWS]);

impl Lanes {
    /// In the place of a kind: messages of this processor that have no lanes.
    pub(crate) const ALONE: u8 = rows::ALONE;
    /// In the place of a kind: messages of other drivers.
    pub(crate) const ELSEWHERE: u8 = rows::ELSEWHERE;

    /// Whatever has a kernel for many goes side by side.
    pub(super) const EVERYTHING: Self = Self([[Lengths::ALL; DEPTHS.len()]; ROWS]);

    /// The kinds of what is encrypted or sealed, and of what is decrypted or opened.
    pub(crate) fn kinds(algorithm: Algorithm) -> [u8; 2] {
        let of = |operation| Self::kind(Class::of(algorithm).with(operation));
        match algorithm.is_aead() {
            true => [Operation::Seal, Operation::Open],
            false => [Operation::Encrypt, Operation::Decrypt],
        }
        .map(of)
    }

    /// What follows from figures that were measured at a level.
    pub(super) fn new(level: Level, figures: &Figures) -> Self {
        let mut lengths = figures.0.map(|kind| figures::lengths(&kind));
        for (row, lengths) in lengths.iter_mut().enumerate() {
            // Where there are no lanes, what seems to be a gain is an error of measurement.
            if level < rows::lowest(row) {
                lengths.fill(Lengths::NONE);
            }
        }
        Self(lengths)
    }

    /// The kind of a class; one from [`KINDS`] on if it has no lanes.
    #[inline]
    pub(crate) fn kind(class: Class) -> u8 {
        ROW_OF[class.number()]
    }

    /// The lengths that go side by side if there are so many messages of this class.
    #[inline]
    pub(crate) fn lengths(&self, class: Class, messages: usize) -> Lengths {
        self.of_kind(Self::kind(class).into(), messages)
    }

    /// The same for a kind.
    #[inline]
    pub(crate) fn of_kind(&self, kind: usize, messages: usize) -> Lengths {
        match (self.0.get(kind), figures::depth(messages)) {
            (Some(lengths), Some(depth)) => lengths[depth],
            _ => Lengths::NONE,
        }
    }
}
