//! A row: one thing that is measured.

use core::time::Duration;

use crate::results::Point;
use crate::verify::Defect;

/// What a row does again and again; made anew by every thread that takes part.
pub(crate) trait Work {
    /// Makes ready for a batch, before its common start, in the memory that it will run with.
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        Ok(())
    }

    /// Makes `requests` requests. This is what is timed.
    fn run(&mut self, arena: &mut Arena, requests: usize);

    /// Something that depends on every answer of the last run, as far as it is still there.
    fn digest(&mut self, arena: &mut Arena) -> u64;

    /// Checks the answers before anything is timed; returns bytes that must differ between
    /// threads.
    fn check(&mut self, arena: &mut Arena) -> Result<Vec<u8>, Defect>;

    /// Checks the answers once more after everything was timed, where they can be known.
    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        Ok(())
    }
}

/// One thing to measure.
pub(crate) struct Row {
    /// What it is called in the results, without figures.
    pub(crate) point: Point,
    /// Makes the work for the calling thread; `None` when it cannot be done here after all.
    pub(crate) make: Box<dyn Fn() -> Option<Box<dyn Work>> + Send + Sync>,
    /// Requests that the whole of the document's test makes, where it is to be made whole.
    pub(crate) whole: Option<u64>,
    /// How its batches are cut.
    pub(crate) batches: Batches,
    /// Whether it is wrong by design: it is timed, never verified, and nothing is said about it.
    pub(crate) faulty: bool,
}

impl Row {
    pub(crate) fn threads(&self) -> usize {
        self.point.threads.map_or(1, |threads| threads as usize)
    }

    /// Processors without which it means nothing: threads in turns on one do not meet.
    pub(crate) fn processors(&self) -> usize {
        self.threads().min(2)
    }
}

/// How the batches of a row are cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batches {
    /// The length that they are sized to.
    pub(crate) length: Duration,
    /// Clean ones that a median stands on at least, if the time allows.
    pub(crate) enough: usize,
    /// What the document's test makes, where a batch is to make the same.
    pub(crate) test: Option<Test>,
    /// What the number of requests is a multiple of: those that are handed over at the same time.
    pub(crate) multiple: usize,
}

impl Default for Batches {
    fn default() -> Self {
        Self { length: Duration::from_millis(1), enough: 11, test: None, multiple: 1 }
    }
}

/// One run of a document's test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    /// Requests that each thread makes.
    pub(crate) requests: u64,
    /// A run that would take longer is not made; batches of the usual length take its place.
    pub(crate) longest: Duration,
    /// How many runs are made; if nothing is said, until the median is steady.
    pub(crate) runs: Option<usize>,
    /// Parts that a run is made in, so that it can be interrupted; each has a start of its own.
    pub(crate) parts: usize,
}

/// A thread's memory for answers, shared by all rows because they take turns.
pub(crate) struct Arena {
    memory: Vec<u8>,
    offset: usize,
}

/// Memory that is there from the start: for the largest request of most rows.
pub(crate) const LARGEST: usize = 4 << 20;
const PAGE: usize = 4096;
const LINE: usize = 64;

impl Arena {
    /// Memory for the largest request of most rows; every page of it is there already.
    pub(crate) fn new() -> Self {
        Self { memory: vec![1; LARGEST + 2 * PAGE], offset: 0 }
    }

    /// Moves requests to the cache line of their page that `random` picks.
    ///
    /// Always the same offset would let one unlucky distance between two buffers spoil a row.
    pub(crate) fn shift(&mut self, random: u64) {
        let lines = (PAGE / LINE) as u64;
        self.offset = usize::try_from(random % lines).unwrap_or(0) * LINE;
    }

    /// Memory for requests of `size` bytes in all.
    ///
    /// Beyond [`LARGEST`] there is more of it when it is first asked for, which is before anything
    /// is timed: a row's answers are checked first.
    pub(crate) fn slice(&mut self, size: usize) -> &mut [u8] {
        if self.memory.len() < size + 2 * PAGE {
            self.memory.resize(size + 2 * PAGE, 1);
        }
        let base = self.memory.as_ptr().addr();
        let start = base.next_multiple_of(PAGE) - base + self.offset;
        &mut self.memory[start..start + size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_every_offset_fit() {
        let mut arena = Arena::new();
        for random in 0..200 {
            arena.shift(random);
            assert_eq!(arena.slice(LARGEST).as_ptr().addr() % LINE, 0);
            assert_eq!(arena.slice(LARGEST).len(), LARGEST);
            assert_eq!(arena.slice(LARGEST + 1).len(), LARGEST + 1, "it grows");
        }
    }
}
