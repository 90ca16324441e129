//! Memory for batches, reused from one batch to the next.

use alloc::vec::Vec;
use core::fmt;

use lanecrypt_ciphers::Error;
use lanecrypt_ciphers::lanes::Lengths;

use super::Batch;
use crate::lanes::{LaneKind, Lanes};
use crate::scheduler;
use crate::session::waiting::{self, Memory, Waiting};

/// The most messages that wait: the number of the widest lanes.
const MOST: usize = 256;

/// Memory for batches, reused from one batch to the next.
///
/// [`Engine::batch_buffer`](crate::Engine::batch_buffer) returns one. An event loop keeps it and
/// [fills a batch](Self::batch) per iteration. A batch allocates only if more of its messages fail
/// than the buffer was created for, or if the previous batch was leaked.
///
/// ```
/// use lanecrypt_engine::{Algorithm, Engine};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::new();
/// let client = engine.session(Algorithm::CHACHA20_POLY1305, &[1; 32])?;
/// let server = engine.session(Algorithm::AES_128_GCM, &[2; 16])?;
///
/// let mut buffer = engine.batch_buffer(64);
/// for turn in 0..3 {
///     let (mut first, mut second) = ([0; 64 + 16], [0; 300 + 16]);
///     let nonce = [turn; 12];
///
///     let mut batch = buffer.batch();
///     batch.seal(&client, &nonce, b"header", &mut first);
///     batch.seal(&server, &nonce, b"header", &mut second);
///     batch.finish()?; // or how many failed; each message has its own outcome
///
///     assert!(buffer.outcomes().eq([Some(Ok(())), Some(Ok(()))]));
///     assert_eq!(client.open(&nonce, b"header", &mut first)?, [0; 64]);
/// }
/// # Ok(())
/// # }
/// ```
pub struct BatchBuffer {
    lanes: Lanes,
    /// The [changes](Lanes::changes) up to which `kinds` are as in `lanes`.
    changes: usize,
    kinds: [Kind; LaneKind::COUNT],
    /// A bit for each kind with messages in this batch that could run in lanes.
    present: u32,
    most: usize,
    /// The number of messages of the last batch.
    count: usize,
    /// The messages that have failed or have no outcome, ordered by index.
    failures: Vec<Failure>,
    /// Memory for waiting messages. `None` while a batch has it, and after a batch was leaked.
    memory: Option<Memory<'static>>,
}

/// A message that failed, or that was not served because a driver panicked.
#[derive(Clone, Copy)]
struct Failure {
    index: usize,
    error: Option<Error>,
}

/// The index of a message that another driver is serving.
pub(super) struct Begun(usize);

/// The buffer's state for one kind of messages that has lanes.
#[derive(Clone, Copy)]
struct Kind {
    /// The lengths that run in lanes with the expected number of messages: the number in the
    /// previous batch, or twice the number in this batch so far.
    now: Lengths,
    /// The lengths that run in lanes with the largest possible number; only these are counted.
    ever: Lengths,
    expected: u32,
    /// The number of expected messages that have not been added yet.
    left: u32,
}

impl BatchBuffer {
    pub(crate) fn new(lanes: Lanes, messages: usize) -> Self {
        let most = messages.clamp(1, MOST);
        let expected = u32::try_from(most).unwrap_or(u32::MAX);
        let kind = Kind { now: Lengths::NONE, ever: Lengths::NONE, expected, left: expected };
        let mut buffer = Self {
            lanes,
            changes: 0,
            kinds: [kind; LaneKind::COUNT],
            present: 0,
            most,
            count: 0,
            failures: Vec::with_capacity(messages),
            memory: Some(waiting::memory(most)),
        };
        buffer.look_up();
        buffer
    }

    /// Looks up the lengths of all kinds.
    #[cold]
    fn look_up(&mut self) {
        self.changes = Lanes::changes();
        for (kind, known) in self.kinds.iter_mut().enumerate() {
            known.now = self.lanes.of_kind(kind, known.expected as usize);
            known.ever = self.lanes.of_kind(kind, MOST);
        }
    }

    /// Begins a batch and discards the outcomes of the last one.
    #[inline]
    pub fn batch<'r, 'a>(&'r mut self) -> Batch<'r, 'a> {
        self.count = 0;
        self.failures.clear();
        if self.memory.is_none() {
            self.memory = Some(waiting::memory(self.most));
        }
        if self.changes != Lanes::changes() {
            self.look_up();
        }
        Batch::new(self)
    }

    /// The outcome of each message of the last batch, in the order in which they were added. It is
    /// `None` for a message that was not served because a driver panicked, and for every message if
    /// the batch was leaked.
    pub fn outcomes(&self) -> impl ExactSizeIterator<Item = Option<Result<(), Error>>> {
        let mut failures = self.failures.iter().copied().peekable();
        (0..self.count).map(move |index| {
            let failure = failures.next_if(|failure| failure.index == index);
            self.outcome_of(failure)
        })
    }

    /// The outcome of the message with this index, counted from 0. `None` also if there is no such
    /// message.
    #[must_use]
    pub fn outcome(&self, index: usize) -> Option<Result<(), Error>> {
        if index >= self.count {
            return None;
        }
        let found = self.failures.binary_search_by_key(&index, |failure| failure.index);
        self.outcome_of(found.ok().and_then(|at| self.failures.get(at).copied()))
    }

    fn outcome_of(&self, failure: Option<Failure>) -> Option<Result<(), Error>> {
        match failure {
            _ if self.memory.is_none() => None,
            Some(Failure { error, .. }) => error.map(Err),
            None => Some(Ok(())),
        }
    }

    // The following methods are for the batch that is being filled.

    /// The number of its messages.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The number of its messages that have failed so far.
    #[inline(always)]
    pub(super) fn failed(&self) -> usize {
        self.failures.len()
    }

    /// The most messages that wait.
    #[inline(always)]
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Counts a message and returns its index.
    #[inline(always)]
    pub(super) fn take(&mut self) -> usize {
        let index = self.count;
        self.count += 1;
        index
    }

    /// Records a message that has been served.
    #[inline(always)]
    pub(super) fn served(&mut self, outcome: Result<(), Error>) {
        if let Err(error) = outcome {
            self.refused(error);
        }
        self.count += 1;
    }

    #[cold]
    #[inline(never)]
    fn refused(&mut self, error: Error) {
        self.failures.push(Failure { index: self.count, error: Some(error) });
    }

    /// Records a message that another driver serves at once. It has no outcome until then.
    pub(super) fn begin(&mut self) -> Begun {
        let index = self.take();
        self.failures.push(Failure { index, error: None });
        Begun(index)
    }

    /// Records its outcome.
    pub(super) fn finish(&mut self, Begun(index): Begun, outcome: Result<(), Error>) {
        self.failures.pop();
        if let Err(error) = outcome {
            self.failures.push(Failure { index, error: Some(error) });
        }
    }

    /// Whether a message of this kind does not benefit from lanes: because of its length, or
    /// because too few more of its kind are expected. If more messages are added than were
    /// expected, [`joins`](Self::joins) decides again.
    #[inline(always)]
    pub(super) fn runs_now(&mut self, kind: u8, bytes: usize) -> bool {
        let Some(known) = self.kinds.get_mut(usize::from(kind)) else { return false };
        if !known.ever.contains(bytes) {
            return true;
        }
        if known.now.contains(bytes) || known.left == 0 {
            return false;
        }
        known.left -= 1;
        self.present |= 1 << kind;
        true
    }

    /// Whether a message that does not [run now](Self::runs_now) runs in lanes.
    #[inline(always)]
    pub(super) fn joins(&mut self, kind: u8, bytes: usize) -> bool {
        let kind = usize::from(kind);
        let Some(known) = self.kinds.get_mut(kind) else { return false };
        self.present |= 1 << kind;
        if known.left == 0 {
            // Expect the same number again.
            known.left = known.expected;
            known.expect(known.expected.saturating_mul(2), &self.lanes, kind);
        }
        known.left -= 1;
        known.now.contains(bytes)
    }

    /// Expects as many messages of each kind as this batch had. A kind without messages keeps its
    /// expectation.
    #[inline(always)]
    pub(super) fn learn(&mut self) {
        while self.present != 0 {
            let kind = self.present.trailing_zeros() as usize;
            self.present &= self.present - 1;
            let Some(known) = self.kinds.get_mut(kind) else { continue };
            if known.left > 0 {
                known.expect(known.expected - known.left, &self.lanes, kind);
            }
            known.left = known.expected;
        }
    }

    /// Lends its memory to messages that are to wait.
    #[inline(never)]
    pub(super) fn lend(&mut self) -> Memory<'static> {
        self.memory.take().unwrap_or_else(|| waiting::memory(self.most))
    }

    /// Serves the waiting messages.
    #[inline(never)]
    pub(super) fn serve(&mut self, waiting: &mut Vec<Waiting<'_>>) {
        Serving { buffer: self, waiting, failed: usize::MAX }.serve();
    }

    /// Serves the waiting messages and restores the memory.
    #[inline(never)]
    pub(super) fn end(&mut self, memory: Memory<'_>) {
        let mut returning = Returning { buffer: self, memory: Some(memory) };
        let Returning { buffer, memory: Some(memory) } = &mut returning else { return };
        let [waiting] = &mut **memory;
        if !waiting.is_empty() {
            let mut serving = Serving { buffer, waiting, failed: usize::MAX };
            // If the code that filled the batch has panicked, no further message is begun.
            if !is_panicking() {
                serving.serve();
            }
        }
    }
}

/// Whether this thread panics. Without the feature `std` this cannot be determined.
#[inline]
fn is_panicking() -> bool {
    #[cfg(feature = "std")]
    return std::thread::panicking();
    #[cfg(not(feature = "std"))]
    return false;
}

impl Kind {
    #[cold]
    #[inline(never)]
    fn expect(&mut self, messages: u32, lanes: &Lanes, kind: usize) {
        self.expected = messages;
        self.now = lanes.of_kind(kind, messages as usize);
    }
}

/// A buffer that gets its memory back on drop, even if a driver has panicked.
struct Returning<'s, 'a> {
    buffer: &'s mut BatchBuffer,
    memory: Option<Memory<'a>>,
}

impl Drop for Returning<'_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.buffer.memory = self.memory.take().map(waiting::returned);
    }
}

/// Messages that waited. On drop it records their outcomes, even if a driver has panicked, so that
/// no message is begun twice.
struct Serving<'s, 'a> {
    buffer: &'s mut BatchBuffer,
    waiting: &'s mut Vec<Waiting<'a>>,
    failed: usize,
}

impl Serving<'_, '_> {
    #[inline(always)]
    fn serve(&mut self) {
        self.failed = scheduler::serve(&self.buffer.lanes, self.waiting);
    }

    #[cold]
    #[inline(never)]
    fn note_failures(&mut self) {
        let failures = &mut self.buffer.failures;
        for served in &*self.waiting {
            let error = match served.outcome() {
                Some(Ok(())) => continue,
                outcome => outcome.and_then(Result::err),
            };
            failures.push(Failure { index: served.index(), error });
        }
        failures.sort_unstable_by_key(|failure| failure.index);
    }
}

impl Drop for Serving<'_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.failed > 0 {
            self.note_failures();
        }
        self.waiting.clear();
    }
}

impl fmt::Debug for BatchBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchBuffer").field("messages", &self.count).finish_non_exhaustive()
    }
}
