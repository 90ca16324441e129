//! A row: one measured thing.

use core::time::Duration;

use lanecrypt_kernels::Isa;

use crate::results::Point;
use crate::scope::is_lower;
use crate::verify::Defect;

/// The repeated work of a row; every thread that takes part makes its own.
pub(crate) trait Workload {
    /// Gets ready for a batch, before its common start, in the memory of the batch.
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        Ok(())
    }

    /// Makes `requests` requests. Only this is timed.
    fn run(&mut self, arena: &mut Arena, requests: usize);

    /// A value that depends on every answer of the last run that still exists.
    fn digest(&mut self, arena: &mut Arena) -> u64;

    /// Checks the answers before anything is timed; returns bytes that must differ between
    /// threads: none where nothing is random.
    fn check(&mut self, arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        self.check_again(arena).map(|()| Vec::new())
    }

    /// Checks the answers again after everything was timed, if they are known.
    fn check_again(&mut self, arena: &mut Arena) -> Result<(), Defect>;
}

/// One thing to measure.
pub(crate) struct Row {
    /// Its name in the results, without figures.
    pub(crate) point: Point,
    /// Makes the work for the calling thread; `None` if it cannot be done here.
    pub(crate) make: Box<dyn Fn() -> Option<Box<dyn Workload>> + Send + Sync>,
    /// The number of requests of the document's whole test, if that is to be made whole.
    pub(crate) whole: Option<u64>,
    /// Its batches.
    pub(crate) batches: Batches,
    /// The threads that each of its own threads keeps busy, such as workers; each needs a
    /// processor.
    pub(crate) helpers: usize,
    /// Whether it is wrong by design: it is timed, never verified, and nothing is said about it.
    pub(crate) faulty: bool,
}

impl Row {
    /// A row of work that `make` makes for each thread.
    pub(crate) fn new<W: Workload + 'static>(
        point: Point,
        batches: Batches,
        make: impl Fn() -> Option<W> + Send + Sync + 'static,
    ) -> Self {
        let make = move || -> Option<Box<dyn Workload>> { Some(Box::new(make()?)) };
        Self { point, make: Box::new(make), whole: None, batches, helpers: 0, faulty: false }
    }

    pub(crate) fn threads(&self) -> usize {
        self.point.threads.map_or(1, |threads| threads as usize)
    }

    /// Whether it is ours at a lower level of instruction set than this processor's.
    pub(crate) fn is_lower(&self) -> bool {
        is_lower(&self.point, Isa::detect().level().name())
    }

    /// The least number of processors: threads that take turns on one do not meet.
    pub(crate) fn processors(&self) -> usize {
        self.threads().min(2) * (1 + self.helpers)
    }
}

/// The batches of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batches {
    /// Their intended length.
    pub(crate) length: Duration,
    /// The least number of passes with clean batches, if that is not the usual one.
    pub(crate) enough: Option<usize>,
    /// The document's test, if batches are to be runs of it.
    pub(crate) test: Option<Test>,
    /// The number of requests is a multiple of this: the number handed over together.
    pub(crate) multiple: usize,
    /// Whether others of the row need the measuring thread's processor, so that waiting for it is
    /// no sign of a disturbance.
    pub(crate) shared: bool,
}

impl Default for Batches {
    fn default() -> Self {
        Self {
            length: Duration::from_micros(300),
            enough: None,
            test: None,
            multiple: 1,
            shared: false,
        }
    }
}

/// One run of a document's test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    /// Requests that each thread makes.
    pub(crate) requests: u64,
    /// A run that would take longer is not made; batches of the usual length replace it.
    pub(crate) longest: Duration,
    /// The number of runs; without it, runs are made until the median is steady.
    pub(crate) runs: Option<usize>,
    /// The number of parts of a run, so that it can be interrupted; each has its own start.
    pub(crate) parts: usize,
}

/// A thread's memory for answers, shared by all rows because they take turns.
pub(crate) struct Arena {
    memory: Vec<u8>,
    offset: usize,
}

/// The initial size of the memory: for the largest request of most rows.
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

    /// Memory for requests of `size` bytes in total.
    ///
    /// Beyond [`LARGEST`] it grows when it is first asked for. That is before anything is timed,
    /// because a row's answers are checked first.
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
