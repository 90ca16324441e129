//! The messages of a batch that run in lanes: those of lengths at which lanes are faster.

mod built_in;
mod kind;
#[cfg(feature = "std")]
pub(crate) mod measured;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use lanecrypt_ciphers::lanes::Lengths;
use lanecrypt_ciphers::{Algorithm, Level};

pub(crate) use self::kind::LaneKind;
use crate::Operation;
use crate::class::Class;

/// The numbers of messages for which ranges are kept. Each covers batches of that many messages or
/// more, up to the next.
pub(crate) const DEPTHS: [usize; 5] = [2, 4, 8, 16, 64];

/// The lengths that run in lanes, at each of the [`DEPTHS`].
pub(crate) type AtDepths = [Lengths; DEPTHS.len()];

/// The lengths that run in lanes, for each kind.
type Table = [AtDepths; LaneKind::COUNT];

/// The source of the [`Lanes`] of an algorithm and operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaneSource {
    /// Measured beforehand: the ranges at which lanes were faster on each of several processors
    /// with the same instructions.
    BuiltIn,
    /// Measured on this processor, by this process.
    Measured,
}

/// A range of lengths at which requests of one algorithm and operation run in lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneRange {
    /// The algorithm of the requests.
    pub algorithm: Algorithm,
    /// The operation of the requests.
    pub operation: Operation,
    /// The least number of such requests in a batch for which the range holds.
    pub requests: usize,
    /// The shortest data in bytes; shorter messages run one at a time.
    pub shortest: usize,
    /// The longest data in bytes, `usize::MAX` for no limit; longer messages run one at a time.
    pub longest: usize,
}

/// The messages of a batch that run in lanes on this processor.
///
/// [`Engine::lanes`](crate::Engine::lanes) returns it. Its text form is a table of the
/// [ranges](Self::ranges), in bytes: a line for each algorithm and operation, and a column for each
/// number of requests. The ranges of an algorithm change when this process has measured them: see
/// [`Engine::session`](crate::Engine::session).
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    built_in: &'static Table,
    /// What this process measures, which takes precedence.
    #[cfg(feature = "std")]
    measured: Option<&'static measured::Table>,
}

impl Lanes {
    /// In place of a kind: messages that this processor serves without lanes.
    pub(crate) const ALONE: u8 = kind::ALONE;
    /// In place of a kind: requests of asymmetric keys that this processor serves, which wait for
    /// each other.
    #[cfg(feature = "_asymmetric")]
    pub(crate) const TOGETHER: u8 = kind::TOGETHER;
    /// In place of a kind: messages of other drivers.
    pub(crate) const ELSEWHERE: u8 = kind::ELSEWHERE;

    /// Every message that has lanes runs in them.
    #[cfg(feature = "std")]
    pub(crate) const EVERYTHING: Self =
        Self { built_in: &[[Lengths::ALL; DEPTHS.len()]; LaneKind::COUNT], measured: None };

    /// The built-in ranges of this level.
    pub(crate) fn built_in(level: Level) -> Self {
        Self {
            built_in: built_in::at(level),
            #[cfg(feature = "std")]
            measured: None,
        }
    }

    /// The ranges that this process has measured or will measure at this level, and until then the
    /// built-in ones.
    #[cfg(feature = "std")]
    pub(crate) fn measured(level: Level) -> Self {
        Self { measured: measured::at(level), ..Self::built_in(level) }
    }

    /// Whether this process measures them.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn are_measured(&self) -> bool {
        self.measured.is_some()
    }

    /// The source of the ranges of an algorithm and operation; `None` if they have no lanes.
    #[must_use]
    pub fn source(&self, algorithm: Algorithm, operation: Operation) -> Option<LaneSource> {
        let kind = usize::from(Self::kind(Class::of(algorithm).with(operation)));
        (kind < LaneKind::COUNT).then(|| match self.own(kind) {
            Some(_) => LaneSource::Measured,
            None => LaneSource::BuiltIn,
        })
    }

    /// What this process has measured for a kind.
    #[inline]
    fn own(&self, kind: usize) -> Option<&'static AtDepths> {
        #[cfg(feature = "std")]
        return self.measured?.get(kind)?.lengths();
        #[cfg(not(feature = "std"))]
        {
            let _ = kind;
            None
        }
    }

    /// The ranges of a kind.
    #[inline]
    fn get(&self, kind: usize) -> Option<&'static AtDepths> {
        self.own(kind).or_else(|| self.built_in.get(kind))
    }

    /// The number of changes of any lanes so far. Who keeps ranges looks them up again after a
    /// change.
    #[inline]
    pub(crate) fn changes() -> usize {
        #[cfg(feature = "std")]
        return measured::changes();
        #[cfg(not(feature = "std"))]
        return 0;
    }

    /// The requests that run in lanes: each algorithm and operation that has lanes, at 2, 4, 8, 16
    /// and 64 requests, wherever lanes are faster.
    pub fn ranges(&self) -> impl Iterator<Item = LaneRange> {
        Algorithm::ALL.iter().flat_map(|&algorithm| {
            self.operations(algorithm).flat_map(move |(operation, lengths)| {
                let depths = DEPTHS.into_iter().zip(lengths);
                depths.filter(|(_, it)| *it != Lengths::NONE).map(move |(requests, it)| LaneRange {
                    algorithm,
                    operation,
                    requests,
                    shortest: it.shortest as usize,
                    longest: match it.longest {
                        u32::MAX => usize::MAX,
                        longest => longest as usize,
                    },
                })
            })
        })
    }

    /// The operations of an algorithm that have lanes.
    fn operations(&self, algorithm: Algorithm) -> impl Iterator<Item = (Operation, AtDepths)> {
        let class = Class::of(algorithm);
        Operation::OF_CIPHERS.into_iter().filter_map(move |operation| {
            let kind = usize::from(Self::kind(class.with(operation)));
            self.get(kind).map(|&lengths| (operation, lengths))
        })
    }

    /// The kinds of forward (encrypt, seal) and backward (decrypt, open) messages.
    pub(crate) fn kinds(algorithm: Algorithm) -> [u8; 2] {
        let of = |operation| Self::kind(Class::of(algorithm).with(operation));
        match algorithm.is_aead() {
            true => [Operation::Seal, Operation::Open],
            false => [Operation::Encrypt, Operation::Decrypt],
        }
        .map(of)
    }

    /// The kind of a class; [`LaneKind::COUNT`] or more if it has no lanes.
    #[inline]
    pub(crate) fn kind(class: Class) -> u8 {
        kind::OF_CLASS[class.number()]
    }

    /// The lengths that run in lanes with this many messages of the class.
    #[inline]
    pub(crate) fn lengths(&self, class: Class, messages: usize) -> Lengths {
        self.of_kind(Self::kind(class).into(), messages)
    }

    /// The same for a kind.
    #[inline]
    pub(crate) fn of_kind(&self, kind: usize, messages: usize) -> Lengths {
        match (self.get(kind), depth(messages)) {
            (Some(lengths), Some(depth)) => lengths[depth],
            _ => Lengths::NONE,
        }
    }
}

/// The index into [`DEPTHS`] for a batch of this size; none if it is smaller than all of them.
#[inline]
fn depth(messages: usize) -> Option<usize> {
    match messages {
        0..2 => None,
        2..4 => Some(0),
        4..8 => Some(1),
        8..16 => Some(2),
        16..64 => Some(3),
        64.. => Some(4),
    }
}

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<36}", "")?;
        DEPTHS.iter().try_for_each(|depth| write!(f, "{:>12}", format!("{depth} or more")))?;
        writeln!(f)?;
        for &algorithm in Algorithm::ALL {
            let none = [Lengths::NONE; DEPTHS.len()];
            let some = self.operations(algorithm).filter(|(_, lengths)| *lengths != none);
            let some: Vec<_> = some.collect();
            for same in some.chunk_by(|(_, one), (_, next)| one == next) {
                let names: Vec<_> = same.iter().map(|(operation, _)| operation.name()).collect();
                write!(f, "{:<36}", format!("{algorithm} {}", names.join(", ")))?;
                let lengths = same.iter().take(1).flat_map(|(_, lengths)| lengths);
                lengths.into_iter().try_for_each(|it| write!(f, "{:>12}", range(*it)))?;
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

/// The least and the most bytes, if there is a limit.
fn range(lengths: Lengths) -> String {
    match (lengths.shortest, lengths.longest) {
        _ if lengths == Lengths::NONE => "-".into(),
        (0 | 1, u32::MAX) => "all".into(),
        (shortest, u32::MAX) => format!("{shortest}-"),
        (shortest, longest) => format!("{shortest}-{longest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_of_messages_has_its_depth() {
        for (at, messages) in DEPTHS.into_iter().enumerate() {
            assert_eq!(depth(messages), Some(at));
            assert_eq!(depth(messages - 1), at.checked_sub(1));
        }
        assert_eq!(depth(0), None);
        assert_eq!(depth(usize::MAX), Some(DEPTHS.len() - 1));
    }

    #[test]
    #[cfg(feature = "std")]
    fn what_is_measured_replaces_what_is_built_in() {
        let lengths = Lengths { shortest: 3, longest: 50 };
        let table: &'static measured::Table = Box::leak(Box::default());
        let lanes = Lanes { measured: Some(table), ..Lanes::built_in(Level::Avx2) };
        let class = Class::of(Algorithm::CHACHA20_IETF).with(Operation::Encrypt);
        let source = || lanes.source(Algorithm::CHACHA20_IETF, Operation::Encrypt);
        assert_eq!(source(), Some(LaneSource::BuiltIn));
        assert!(lanes.lengths(class, 64).contains(64));
        measured::set(&table[LaneKind::ChaCha20 as usize], [lengths; DEPTHS.len()]);
        assert_eq!(source(), Some(LaneSource::Measured));
        assert_eq!(lanes.source(Algorithm::AES_128_GCM, Operation::Seal), None);
        assert_eq!(lanes.lengths(class, 2), lengths);
        assert_eq!(lanes.lengths(class, 1), Lengths::NONE);
        assert_eq!(Lanes::built_in(Level::Portable).lengths(class, 64), Lengths::NONE);
        let text = lanes.to_string();
        let line = text.lines().find(|line| line.starts_with("chacha20-ietf encrypt, decrypt "));
        assert_eq!(line.expect("it has lanes").matches("        3-50").count(), DEPTHS.len());
        let ranges = lanes.ranges().filter(|it| it.algorithm == Algorithm::CHACHA20_IETF);
        assert_eq!(ranges.count(), 2 * DEPTHS.len());
    }
}
