//! The sizes and batches of a candidate that are measured.

use lanecrypt_peers::Direction;

use super::{BATCHES, FEW_MESSAGES, MESSAGES, MIXES, Subject, USUAL};
use crate::ciphers::{Api, BATCH, CHECKED, CipherUnderTest, PROCESS, SESSION, Shape, Sizes};
use crate::depth::Depth;

/// Sizes of messages with fresh keys, unless there is time for all.
const FRESH: [usize; 3] = [16, 64, 1500];
/// Sizes for a lower instruction set level, unless there is time for all.
const LOWER: [usize; 1] = [1500];
/// Batches of every subject at few sizes, besides its own.
const FEW_BATCHES: [usize; 1] = [8];
/// The batch under light load.
const SMALL: usize = 4;

/// The messages of a candidate that are measured at a depth, with kept or fresh keys.
pub(super) fn shapes<T: Api + ?Sized>(
    subject: &Subject,
    candidate: &CipherUnderTest<T>,
    direction: Direction,
    depth: Depth,
    is_fresh: bool,
) -> Vec<Shape> {
    let point = candidate.point();
    let asked = Asked {
        subject,
        depth,
        is_known: subject.algorithm.is_aead() && (!point.is_ours() || point.api == CHECKED),
        has_batches: subject.batches && candidate.has_batches(),
        is_lower: candidate.is_lower(),
        is_filled: point.is_ours() && point.api == BATCH,
        is_process: point.is_ours() && point.api == PROCESS,
        is_session: point.is_ours() && point.api == SESSION,
        is_forward: direction == Direction::Encrypt,
        is_fresh,
    };
    let of = |batch| {
        let sizes = asked.sizes(batch).iter().map(|&size| Sizes::one(size));
        let sizes = sizes.chain(asked.mixes(batch).iter().copied());
        sizes.map(move |sizes| Shape { sizes, batch, is_fresh })
    };
    BATCHES.into_iter().flat_map(of).collect()
}

/// The facts that the choice depends on.
struct Asked<'s> {
    subject: &'s Subject,
    depth: Depth,
    /// Whether it is a message with authentication through a common API.
    is_known: bool,
    has_batches: bool,
    is_lower: bool,
    /// Which of our entry points it is.
    is_filled: bool,
    is_process: bool,
    is_session: bool,
    is_forward: bool,
    is_fresh: bool,
}

impl Asked<'_> {
    /// The sizes that are measured with a batch.
    fn sizes(&self, batch: usize) -> &'static [usize] {
        match batch {
            1 if self.is_known => self.known(),
            1 => self.one_by_one(),
            _ if self.has_batches => self.together(batch),
            _ => &[],
        }
    }

    fn known(&self) -> &'static [usize] {
        match self.depth {
            Depth::Full => &MESSAGES,
            // For fresh keys the processor's own level is enough.
            Depth::Normal if self.is_lower && self.is_fresh => &[],
            Depth::Normal if self.is_fresh => &FRESH,
            Depth::Normal if !self.is_lower => &MESSAGES,
            Depth::Quick if self.is_lower => &[],
            Depth::Normal | Depth::Quick => &FEW_MESSAGES,
        }
    }

    fn one_by_one(&self) -> &'static [usize] {
        match self.depth {
            Depth::Full if self.is_lower && (self.is_fresh || self.has_batches) => &[],
            Depth::Full => &MESSAGES,
            _ if !self.is_told() || self.is_process => &[],
            // Batches of one are shown beside larger ones.
            Depth::Normal if self.is_lower && self.has_batches => &[],
            Depth::Normal if self.is_lower => &LOWER,
            Depth::Normal if self.is_forward && !self.has_batches => &MESSAGES,
            Depth::Normal if self.is_forward || !self.has_batches => &FEW_MESSAGES,
            Depth::Quick if !self.is_lower && !self.has_batches => &FEW_MESSAGES,
            Depth::Normal | Depth::Quick => &[],
        }
    }

    fn together(&self, batch: usize) -> &'static [usize] {
        let is_usual = batch == USUAL;
        let is_chosen = FEW_BATCHES.contains(&batch) || self.subject.more.contains(&batch);
        match self.depth {
            Depth::Full if self.is_lower && (self.is_fresh || !is_usual) => &[],
            Depth::Full => &MESSAGES,
            _ if !self.is_told() => &[],
            // Beside batches that are filled, these are shown less.
            _ if self.is_process && (self.is_lower || !is_usual) => &[],
            Depth::Normal if self.is_lower && is_usual => &LOWER,
            Depth::Normal if self.is_lower => &[],
            Depth::Normal if self.is_forward && is_usual => &MESSAGES,
            Depth::Normal if self.is_forward && is_chosen || is_usual => &FEW_MESSAGES,
            Depth::Quick if is_usual && !self.is_lower => &FEW_MESSAGES,
            Depth::Normal | Depth::Quick => &[],
        }
    }

    /// The mixed sizes that are measured with a batch.
    fn mixes(&self, batch: usize) -> &'static [Sizes] {
        let [short, all] = MIXES.each_ref().map(core::slice::from_ref);
        if self.is_fresh || self.is_lower || !self.subject.batches {
            return &[];
        }
        let is_loop = batch == 1 && !self.has_batches;
        let is_usual = batch == USUAL && self.has_batches;
        match self.depth {
            Depth::Full if is_loop || self.has_batches => &MIXES,
            Depth::Full => &[],
            // A session's loop is the same as the cipher's.
            _ if !self.subject.is_mixed || self.is_session => &[],
            Depth::Quick if self.is_forward && (is_loop || is_usual) => all,
            Depth::Quick => &[],
            Depth::Normal if self.is_forward && (is_loop || is_usual) => &MIXES,
            Depth::Normal if self.is_forward && self.is_filled && batch == SMALL => short,
            Depth::Normal if self.subject.algorithm.is_aead() && (is_loop || is_usual) => all,
            Depth::Normal => &[],
        }
    }

    /// Whether it adds information: a stream is the same in both directions, and a key costs the
    /// same in a batch.
    fn is_told(&self) -> bool {
        let back =
            !self.is_lower && !self.subject.algorithm.is_stream() && self.depth != Depth::Quick;
        !self.is_fresh && (self.is_forward || back)
    }
}
