//! Which messages run in lanes.

use lanecrypt_ciphers::lanes::Lengths;
use lanecrypt_ciphers::{Algorithm, Level};

use super::figures::{self, DEPTHS, Figures};
use super::rows::{self, ROW_OF, ROWS};
use crate::Operation;
use crate::class::Class;

/// The number of kinds of messages that have lanes.
pub(crate) const KINDS: usize = ROWS;

/// The lengths that run in lanes, for each kind that has lanes and each number of messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes([[Lengths; DEPTHS.len()]; ROWS]);

impl Lanes {
    /// Stands for a kind: messages that this processor serves without lanes.
    pub(crate) const ALONE: u8 = rows::ALONE;
    /// Stands for a kind: signatures that this processor makes or checks, which wait for each other.
    #[cfg(feature = "rsa")]
    pub(crate) const TOGETHER: u8 = rows::TOGETHER;
    /// Stands for a kind: messages of other drivers.
    pub(crate) const ELSEWHERE: u8 = rows::ELSEWHERE;

    /// Every message that has lanes runs in them.
    pub(crate) const EVERYTHING: Self = Self([[Lengths::ALL; DEPTHS.len()]; ROWS]);

    /// The kinds of forward (encrypt, seal) and backward (decrypt, open) messages.
    pub(crate) fn kinds(algorithm: Algorithm) -> [u8; 2] {
        let of = |operation| Self::kind(Class::of(algorithm).with(operation));
        match algorithm.is_aead() {
            true => [Operation::Seal, Operation::Open],
            false => [Operation::Encrypt, Operation::Decrypt],
        }
        .map(of)
    }

    /// The lengths that follow from figures measured at a level.
    pub(super) fn new(level: Level, figures: &Figures) -> Self {
        let mut lengths = figures.0.map(|kind| figures::lengths(&kind));
        for (row, lengths) in lengths.iter_mut().enumerate() {
            // Without lanes, an apparent gain is an error of measurement.
            if level < rows::lowest(row) {
                lengths.fill(Lengths::NONE);
            }
        }
        Self(lengths)
    }

    /// The kind of a class; [`KINDS`] or more if it has no lanes.
    #[inline]
    pub(crate) fn kind(class: Class) -> u8 {
        ROW_OF[class.number()]
    }

    /// The lengths that run in lanes with this many messages of the class.
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
