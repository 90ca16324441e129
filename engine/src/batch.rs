//! A batch that serves while it is filled.

mod waiting;

use core::fmt;
use core::mem::{forget, take};

use lanecrypt_ciphers::Error;
use lanecrypt_ciphers::lanes::Lengths;

pub(crate) use self::waiting::Waiting;
use crate::cost::{KINDS, Lanes};
use crate::scheduler;
use crate::work::Work;
use crate::{BatchError, Data, Operation, Request, Session};

/// The most messages that wait: as many as the widest lanes take at once.
const MOST: usize = 256;

/// Memory for batches, kept from one to the next.
///
/// [`Engine::room`](crate::Engine::room) makes one; an event loop keeps it, and [fills a
/// batch](Self::batch) in each turn. Nothing is allocated once it has seen a batch as large as they
/// get.
///
/// ```
/// use lanecrypt_engine::{Algorithm, Engine};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::new();
/// let client = engine.open(Algorithm::CHACHA20_POLY1305, &[1; 32])?;
/// let server = engine.open(Algorithm::AES_128_GCM, &[2; 16])?;
///
/// let mut room = engine.room(64);
/// for turn in 0..3 {
///     let (mut first, mut second) = ([0; 64 + 16], [0; 300 + 16]);
///     let nonce = [turn; 12];
///
///     let mut batch = room.batch();
///     batch.seal(&client, &nonce, b"header", &mut first);
///     batch.seal(&server, &nonce, b"header", &mut second);
///     batch.finish()?; // or how many failed; each message has its own outcome
///
///     assert!(room.outcomes().eq([Some(Ok(())), Some(Ok(()))]));
///     assert_eq!(client.open(&nonce, b"header", &mut first)?, [0; 64]);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Room {
    lanes: Lanes,
    kinds: [Kind; KINDS],
    /// Whether this batch has messages that could go side by side.
    joined: bool,
    most: usize,
    /// Messages of the last batch.
    count: usize,
    /// Those of them that have not been served well, by their indices.
    failures: Vec<Failure>,
    /// Whether some still wait: for ever, if the batch was leaked.
    waits: bool,
    /// Empty: memory for messages that wait.
    spare: Vec<Waiting<'static>>,
}

/// A message that failed, or that was not served because a driver panicked.
#[derive(Clone, Copy)]
struct Failure {
    index: usize,
    error: Option<Error>,
}

/// What a room knows of the messages of one kind that has lanes.
#[derive(Clone, Copy)]
struct Kind {
    /// The longest message that goes side by side with as many as there can be.
    longest: u32,
    /// The lengths that go side by side with as many as are expected: as many as there were in the
    /// batch before, or twice as many as there are in this one already.
    now: Lengths,
    expected: u32,
    /// Messages of this batch that could go side by side.
    count: u32,
}

impl Room {
    pub(crate) fn new(lanes: Lanes, messages: usize) -> Self {
        let most = messages.clamp(1, MOST);
        let mut kind = 0;
        let kinds = [(); KINDS].map(|()| {
            let now = lanes.of_kind(kind, most);
            let longest = lanes.of_kind(kind, MOST).longest;
            kind += 1;
            Kind { longest, now, expected: u32::try_from(most).unwrap_or(u32::MAX), count: 0 }
        });
        let (failures, spare) = (Vec::with_capacity(messages), Vec::with_capacity(most));
        Self { lanes, kinds, joined: false, most, count: 0, failures, waits: false, spare }
    }

    /// Begins a batch, and forgets the outcomes of the last one.
    #[inline]
    pub fn batch<'r, 'a>(&'r mut self) -> Batch<'r, 'a> {
        self.count = 0;
        self.failures.clear();
        self.waits = false;
        Batch { room: self, waiting: Vec::new() }
    }

    /// What came of each message of the last batch, in the order in which they were given; `None` of
    /// those that were not served because a driver panicked, and of all if the batch was leaked.
    pub fn outcomes(&self) -> impl ExactSizeIterator<Item = Option<Result<(), Error>>> {
        let mut failures = self.failures.iter().copied().peekable();
        (0..self.count).map(move |index| {
            let failure = failures.next_if(|failure| failure.index == index);
            self.told(failure)
        })
    }

    /// What came of the message of this index, counted from 0; `None` also if there is none.
    #[must_use]
    pub fn outcome(&self, index: usize) -> Option<Result<(), Error>> {
        if index >= self.count {
            return None;
        }
        let found = self.failures.binary_search_by_key(&index, |failure| failure.index);
        self.told(found.ok().and_then(|at| self.failures.get(at).copied()))
    }

    fn told(&self, failure: Option<Failure>) -> Option<Result<(), Error>> {
        match failure {
            _ if self.waits => None,
            Some(Failure { error, .. }) => error.map(Err),
            None => Some(Ok(())),
        }
    }

    /// Whether a message goes side by side with others: by its length and by how many are expected.
    #[inline(always)]
    fn joins(&mut self, kind: u8, bytes: usize) -> bool {
        let Some(known) = self.kinds.get_mut(usize::from(kind)) else { return false };
        if bytes > known.longest as usize {
            return false;
        }
        known.count += 1;
        self.joined = true;
        if known.count > known.expected {
            known.expect_more(&self.lanes, kind);
        }
        known.now.contain(bytes)
    }

    /// Expects as many of each kind as there were. (Of a kind of which there were none nothing is
    /// known.)
    #[inline]
    fn learn(&mut self) {
        self.joined = false;
        for (at, kind) in self.kinds.iter_mut().enumerate() {
            if kind.count > 0 {
                if kind.expected != kind.count {
                    kind.expected = kind.count;
                    kind.now = self.lanes.of_kind(at, kind.count as usize);
                }
                kind.count = 0;
            }
        }
    }
}

impl Kind {
    /// There are more than in the batch before: as many may come again.
    #[cold]
    #[inline(never)]
    fn expect_more(&mut self, lanes: &Lanes, kind: u8) {
        self.expected = self.count.saturating_mul(2);
        self.now = lanes.of_kind(usize::from(kind), self.expected as usize);
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").field("messages", &self.count).finish_non_exhaustive()
    }
}

/// Messages of any sessions, algorithms, lengths and directions, served while they are given.
///
/// A message that gains nothing by company is served by the call that gives it, which answers what
/// came of it: those of AES-GCM and of AES-CTR, and long ones, as
/// [`Costs`](crate::Costs::side_by_side) says. The others wait, side by side, until there are as many as the
/// room is for, or until [`finish`](Self::finish); for these the call answers `None`. How many
/// will come, and so which of them had better wait, is what came in the batch before.
///
/// **Until the batch is finished, what waits is not encrypted, nor is it known to be authentic.** A
/// batch that is dropped serves what waits all the same, and says nothing of it.
#[must_use = "what waits is served by `finish`"]
pub struct Batch<'r, 'a> {
    room: &'r mut Room,
    /// Without memory until the first message waits.
    waiting: Vec<Waiting<'a>>,
}

/// How a message is served.
enum Way {
    /// By the call that gives it.
    Now,
    /// With those that wait.
    Waits,
    /// By its driver, by itself.
    Alone,
}

impl<'a> Batch<'_, 'a> {
    /// Seals a packet in place, as [`Session::seal`] does: its last
    /// [`tag_length`](Session::tag_length) bytes are room for the tag.
    ///
    /// **The nonce must not have been used before under the session's key.**
    #[inline]
    pub fn seal(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        packet: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        match self.way(session, Operation::Seal, packet.len().saturating_sub(16), nonce) {
            Way::Now => {
                let outcome = session.seal(nonce, aad, packet);
                self.served(outcome)
            }
            Way::Waits => {
                self.defer(session, nonce, Work::packet(session, Operation::Seal, aad, packet))
            }
            Way::Alone => self.serve_alone(
                session,
                nonce,
                Work::packet(session, Operation::Seal, aad, packet),
            ),
        }
    }

    /// Opens a packet in place, as [`Session::open`] does. If it is authentic, the message lies at
    /// its front; if not, that is wiped.
    #[inline]
    pub fn open(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        packet: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        match self.way(session, Operation::Open, packet.len().saturating_sub(16), nonce) {
            Way::Now => {
                let outcome = session.open(nonce, aad, packet).map(|_| ());
                self.served(outcome)
            }
            Way::Waits => {
                self.defer(session, nonce, Work::packet(session, Operation::Open, aad, packet))
            }
            Way::Alone => self.serve_alone(
                session,
                nonce,
                Work::packet(session, Operation::Open, aad, packet),
            ),
        }
    }

    /// Encrypts a message and writes its tag, as [`Session::seal_detached`] does.
    ///
    /// **The nonce must not have been used before under the session's key.**
    #[inline]
    pub fn seal_detached(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        data: impl Into<Data<'a>>,
        tag: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        let data = data.into();
        match self.way(session, Operation::Seal, data.len(), nonce) {
            Way::Now => {
                let outcome = session.seal_detached(nonce, aad, data, tag);
                self.served(outcome)
            }
            Way::Waits => self.defer(session, nonce, Work::seal(session, aad, data, tag)),
            Way::Alone => self.serve_alone(session, nonce, Work::seal(session, aad, data, tag)),
        }
    }

    /// Decrypts a message if its tag is right, as [`Session::open_detached`] does; if not, the
    /// output is wiped.
    #[inline]
    pub fn open_detached(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        data: impl Into<Data<'a>>,
        tag: &'a [u8],
    ) -> Option<Result<(), Error>> {
        let data = data.into();
        match self.way(session, Operation::Open, data.len(), nonce) {
            Way::Now => {
                let outcome = session.open_detached(nonce, aad, data, tag);
                self.served(outcome)
            }
            Way::Waits => self.defer(session, nonce, Work::open(session, aad, data, tag)),
            Way::Alone => self.serve_alone(session, nonce, Work::open(session, aad, data, tag)),
        }
    }

    /// Encrypts a message without a tag, as [`Session::encrypt`] does.
    #[inline]
    pub fn encrypt(
        &mut self,
        session: &'a Session,
        iv: &[u8],
        data: impl Into<Data<'a>>,
    ) -> Option<Result<(), Error>> {
        let data = data.into();
        match self.way(session, Operation::Encrypt, data.len(), iv) {
            Way::Now => {
                let outcome = session.encrypt(iv, data);
                self.served(outcome)
            }
            Way::Waits => self.defer(session, iv, Work::raw(session, Operation::Encrypt, data)),
            Way::Alone => {
                self.serve_alone(session, iv, Work::raw(session, Operation::Encrypt, data))
            }
        }
    }

    /// Decrypts a message without a tag, as [`Session::decrypt`] does.
    #[inline]
    pub fn decrypt(
        &mut self,
        session: &'a Session,
        iv: &[u8],
        data: impl Into<Data<'a>>,
    ) -> Option<Result<(), Error>> {
        let data = data.into();
        match self.way(session, Operation::Decrypt, data.len(), iv) {
            Way::Now => {
                let outcome = session.decrypt(iv, data);
                self.served(outcome)
            }
            Way::Waits => self.defer(session, iv, Work::raw(session, Operation::Decrypt, data)),
            Way::Alone => {
                self.serve_alone(session, iv, Work::raw(session, Operation::Decrypt, data))
            }
        }
    }

    /// Messages so far: the index of the next one.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.room.count
    }

    /// Whether there are no messages yet.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Serves what waits. [`Room::outcomes`] tells what came of each message.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if at least one message of the batch failed.
    #[inline]
    pub fn finish(mut self) -> Result<(), BatchError> {
        self.end();
        let failed = self.room.failures.len();
        // It has ended, and has given its memory back.
        forget(self);
        if failed == 0 { Ok(()) } else { Err(BatchError { failed }) }
    }

    /// Whether a message waits for others, or for the driver of its session.
    #[inline(always)]
    fn way(&mut self, session: &Session, operation: Operation, bytes: usize, nonce: &[u8]) -> Way {
        let kind = session.kind(operation);
        if kind < Lanes::ALONE {
            // Nothing that goes side by side has longer nonces: such a message is refused.
            let fits = nonce.len() <= waiting::LONGEST_NONCE;
            return if fits && self.room.joins(kind, bytes) { Way::Waits } else { Way::Now };
        }
        match kind {
            Lanes::ALONE => Way::Now,
            _ if nonce.len() <= waiting::LONGEST_NONCE => Way::Waits,
            _ => Way::Alone,
        }
    }

    #[inline]
    fn served(&mut self, outcome: Result<(), Error>) -> Option<Result<(), Error>> {
        if let Err(error) = outcome {
            self.failed(error);
        }
        self.room.count += 1;
        Some(outcome)
    }

    #[cold]
    #[inline(never)]
    fn failed(&mut self, error: Error) {
        let index = self.room.count;
        self.room.failures.push(Failure { index, error: Some(error) });
    }

    #[inline(always)]
    fn defer(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        work: Work<'a>,
    ) -> Option<Result<(), Error>> {
        if self.waiting.capacity() == 0 {
            self.make_room();
        }
        self.room.waits = true;
        self.waiting.push(Waiting::new(session, nonce, work, self.room.count));
        self.room.count += 1;
        if self.waiting.len() >= self.room.most {
            self.serve_waiting();
        }
        None
    }

    /// Has its driver serve a message whose nonce there is no room for. If the driver panics, it has no
    /// outcome.
    #[cold]
    #[inline(never)]
    fn serve_alone(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        work: Work<'a>,
    ) -> Option<Result<(), Error>> {
        let index = self.room.count;
        self.room.count += 1;
        self.room.failures.push(Failure { index, error: None });
        let outcome = session.serve(Request { session, nonce, work });
        self.room.failures.pop();
        if let Err(error) = outcome {
            self.room.failures.push(Failure { index, error: Some(error) });
        }
        Some(outcome)
    }

    /// Takes the room's memory when the first message waits.
    #[inline(never)]
    fn make_room(&mut self) {
        self.waiting = take(&mut self.room.spare);
        self.waiting.reserve_exact(self.room.most);
    }

    /// Serves what waits.
    #[inline(never)]
    fn serve_waiting(&mut self) {
        let mut serving = Serving { failed: usize::MAX, batch: self };
        let Batch { room, waiting } = &mut *serving.batch;
        serving.failed = scheduler::serve(&room.lanes, waiting);
    }

    /// Notes what came of those that waited.
    fn settle(&mut self, failed: usize) {
        if failed > 0 {
            for served in &self.waiting {
                let error = match served.outcome() {
                    Some(Ok(())) => continue,
                    outcome => outcome.and_then(Result::err),
                };
                self.room.failures.push(Failure { index: served.index(), error });
            }
            self.room.failures.sort_unstable_by_key(|failure| failure.index);
        }
        self.waiting.clear();
        self.room.waits = false;
    }

    /// Serves what waits, and leaves the room as the next batch needs it.
    #[inline]
    fn end(&mut self) {
        if self.waiting.capacity() > 0 {
            self.end_waiting();
        }
        if self.room.joined {
            self.room.learn();
        }
    }

    #[inline(never)]
    fn end_waiting(&mut self) {
        if !self.waiting.is_empty() {
            self.serve_waiting();
        }
        self.room.spare = waiting::emptied(take(&mut self.waiting));
    }
}

impl Drop for Batch<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if !self.waiting.is_empty() && std::thread::panicking() {
            // Whoever filled the batch has panicked: nothing is begun any more.
            self.settle(self.waiting.len());
        }
        self.end();
    }
}

/// Notes what came of those that waited, even if a driver panics: nothing is begun twice.
struct Serving<'s, 'r, 'a> {
    batch: &'s mut Batch<'r, 'a>,
    failed: usize,
}

impl Drop for Serving<'_, '_, '_> {
    #[inline]
    fn drop(&mut self) {
        self.batch.settle(self.failed);
    }
}

impl fmt::Debug for Batch<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("messages", &self.len())
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

/// Rooms and batches may be sent to another thread.
const _: () = {
    const fn sent<T: Send + Sync>() {}
    sent::<Room>();
    sent::<Batch<'_, '_>>();
};
