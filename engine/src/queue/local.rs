//! A queue without threads.

use core::fmt;

use super::service::{ASYMMETRIC_AT_ONCE, Service};
use super::sessions::Numbers;
use super::slot::Slot;
use super::{Completion, Message, MessageError, QueueError, Rejected, SessionHandle, Ticket};
use crate::{Engine, Operation, Session};

/// A queue that runs on the caller's thread.
///
/// [`submit`](Self::submit) immediately serves messages that do not benefit from lanes, as a
/// [`Batch`](crate::Batch) does. All others wait until `depth` of them do, 256 at most, or until
/// [`poll`](Self::poll) reaches the first. Then all of them run together. Completions are in the
/// order of submission.
///
/// Signatures and key exchanges wait too, until [`poll`](Self::poll) reaches one of them: then up
/// to 32 are processed together. They are never served together with other messages, nor by
/// `submit`.
///
/// It allocates only when it is created and when sessions are attached. After `fork`, parent and
/// child each have a queue with the same messages.
///
/// ```
/// use lanecrypt_engine::queue::{LocalQueue, Message};
/// use lanecrypt_engine::{Algorithm, Engine};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::new();
/// let mut queue = LocalQueue::new(&engine, 64);
/// let client = queue.attach(engine.session(Algorithm::CHACHA20_POLY1305, &[1; 32])?)?;
/// let server = queue.attach(engine.session(Algorithm::AES_128_GCM, &[2; 16])?)?;
///
/// // Three bytes of header, the message, room for the tag.
/// queue.submit(Message::seal(client, &[0; 12], vec![7; 3 + 60 + 16]).with_header(3))?;
/// queue.submit(Message::seal(server, &[0; 12], vec![7; 3 + 900 + 16]).with_header(3))?;
/// while let Some(done) = queue.poll() {
///     done.outcome?;
///     assert!(done.buffer.starts_with(&[7; 3]));
/// }
/// # Ok(())
/// # }
/// ```
pub struct LocalQueue<B> {
    /// Their number is a power of two. The lowest bits of a ticket are the index of its slot.
    slots: Box<[Slot<B>]>,
    depth: usize,
    /// The ticket of the oldest message.
    head: usize,
    /// The next ticket.
    tail: usize,
    /// The number of waiting messages, and a ticket that is not newer than any of them.
    first_waiting: usize,
    waiting: usize,
    /// The number of requests of asymmetric keys that wait in addition.
    asymmetric: usize,
    service: Service,
    numbers: Numbers,
}

impl<B: AsMut<[u8]>> LocalQueue<B> {
    /// A queue for up to `depth` messages, at least one.
    #[must_use]
    pub fn new(engine: &Engine, depth: usize) -> Self {
        let depth = depth.max(1);
        Self {
            slots: (0..depth.next_power_of_two()).map(|_| Slot::empty()).collect(),
            depth,
            head: 0,
            tail: 0,
            first_waiting: 0,
            waiting: 0,
            asymmetric: 0,
            service: Service::new(*engine.lanes(), depth),
            numbers: Numbers::default(),
        }
    }

    /// Attaches a session, which messages name from now on. A session of
    /// [`boxed_session`](Engine::boxed_session) is not moved.
    ///
    /// # Errors
    ///
    /// [`QueueError::Full`] if the queue has half a million sessions.
    pub fn attach(
        &mut self,
        session: impl Into<Box<Session>>,
    ) -> Result<SessionHandle, Rejected<Box<Session>>> {
        let session = session.into();
        let Some(number) = self.numbers.take() else {
            return Err(Rejected { value: session, reason: QueueError::Full });
        };
        self.service.attach(number, session);
        Ok(number)
    }

    /// Serves the messages that wait, then detaches a session and returns it. `None` if the queue
    /// has no such session.
    pub fn detach(&mut self, session: SessionHandle) -> Option<Box<Session>> {
        if !self.numbers.give_back(session) {
            return None;
        }
        self.serve();
        self.service.detach(session)
    }

    /// Submits a message. [`poll`](Self::poll) returns its completion.
    ///
    /// # Errors
    ///
    /// [`QueueError::Full`]. All other errors are in the completion.
    #[inline(always)]
    pub fn submit<N: AsRef<[u8]>>(
        &mut self,
        message: Message<N, B>,
    ) -> Result<Ticket, Rejected<Message<N, B>>> {
        if self.tail.wrapping_sub(self.head) >= self.depth {
            return Err(Rejected::full(message));
        }
        let at = self.tail & (self.slots.len() - 1);
        let Some(place) = self.slots.get_mut(at) else { return Err(Rejected::full(message)) };
        let ticket = Ticket(self.tail as u64);
        // By its fields, which stay in registers. The whole message would be stored first.
        let Message { mut buffer, user, header, nonce, operation, session } = message;
        let bytes = buffer.as_mut();
        match self.service.process_now(session, operation, nonce.as_ref(), header, bytes) {
            Some(outcome) => {
                place.settle(buffer, user, outcome);
                self.tail = self.tail.wrapping_add(1);
            }
            None => {
                place.wait(Message { buffer, user, header, nonce, operation, session });
                self.tail = self.tail.wrapping_add(1);
                self.count_waiting(operation);
            }
        }
        Ok(ticket)
    }

    /// Submits messages until the queue is full, and returns how many. No message is taken from
    /// the iterator for which there is no room.
    #[inline(always)]
    pub fn submit_many<N: AsRef<[u8]>>(
        &mut self,
        messages: &mut impl Iterator<Item = Message<N, B>>,
    ) -> usize {
        let mut taken = 0;
        // A plain loop: adaptors of iterators would keep each message in memory.
        while self.in_flight() < self.depth {
            let Some(message) = messages.next() else { break };
            if self.submit(message).is_err() {
                break;
            }
            taken += 1;
        }
        taken
    }

    /// The completion of the oldest message; `None` if there is no message. If the oldest message
    /// waits, it is served now, with all others that wait; those of asymmetric keys by themselves,
    /// up to 32.
    #[inline(always)]
    pub fn poll(&mut self) -> Option<Completion<B>> {
        if self.head == self.tail {
            return None;
        }
        let at = self.head & (self.slots.len() - 1);
        let done = match self.slots.get_mut(at)?.take() {
            Some(done) => done,
            None => self.serve_and_take(at)?,
        };
        self.head = self.head.wrapping_add(1);
        Some(done)
    }

    #[inline(never)]
    fn serve_and_take(&mut self, at: usize) -> Option<Completion<B>> {
        match self.slots.get(at)?.operation.is_asymmetric() {
            true => self.serve_asymmetric(),
            false => self.serve_ciphers(),
        }
        self.slots.get_mut(at)?.take()
    }

    /// Serves the messages that wait.
    #[inline(never)]
    pub fn serve(&mut self) {
        self.serve_ciphers();
        while self.asymmetric > 0 {
            self.serve_asymmetric();
        }
    }

    #[inline(never)]
    fn serve_ciphers(&mut self) {
        let waiting = core::mem::take(&mut self.waiting);
        if waiting == 0 {
            return;
        }
        if self.asymmetric > 0 {
            return self.serve_picked(false, waiting);
        }
        let (service, slots) = self.since_first_waiting();
        service.serve(slots, |_| true, waiting);
    }

    /// Serves as many requests of asymmetric keys as share lanes.
    fn serve_asymmetric(&mut self) {
        let count = self.asymmetric.min(ASYMMETRIC_AT_ONCE);
        self.asymmetric -= count;
        self.serve_picked(true, count);
    }

    /// Serves this many of the waiting messages, either the first of asymmetric keys or the
    /// first others.
    #[cold]
    #[inline(never)]
    fn serve_picked(&mut self, asymmetric: bool, count: usize) {
        let picked = |slot: &Slot<B>| slot.operation.is_asymmetric() == asymmetric;
        let (service, slots) = self.since_first_waiting();
        let mut left = count;
        let slots = slots.map(|slots| {
            let mut seen = 0;
            while left > 0
                && let Some(slot) = slots.get(seen)
            {
                left -= usize::from(slot.waits() && picked(slot));
                seen += 1;
            }
            slots.split_at_mut(seen).0
        });
        service.serve(slots, picked, count);
    }

    /// The slots from the first message on that may wait.
    #[inline(always)]
    fn since_first_waiting(&mut self) -> (&mut Service, [&mut [Slot<B>]; 2]) {
        let mask = self.slots.len() - 1;
        // The first that waited may have been cancelled and returned since.
        let behind = self.tail.wrapping_sub(self.first_waiting).min(self.in_flight());
        let (from, to) = (self.tail.wrapping_sub(behind) & mask, self.tail & mask);
        let (before, after) = self.slots.split_at_mut(from);
        let slots = match to > from {
            true => [after.split_at_mut(to - from).0, &mut []],
            false => [after, before.split_at_mut(to).0],
        };
        (&mut self.service, slots)
    }

    /// Cancels a message that waits: its completion will be [`MessageError::Cancelled`]. False if
    /// it has been served already.
    pub fn cancel(&mut self, Ticket(ticket): Ticket) -> bool {
        // Tickets are counted as `usize` here.
        let Ok(ticket) = usize::try_from(ticket) else { return false };
        let ahead = ticket.wrapping_sub(self.head);
        let at = ticket & (self.slots.len() - 1);
        if ahead >= self.tail.wrapping_sub(self.head) {
            return false;
        }
        let Some(place) = self.slots.get_mut(at).filter(|place| place.waits()) else {
            return false;
        };
        place.outcome = Some(Err(MessageError::Cancelled));
        match place.operation.is_asymmetric() {
            true => self.asymmetric -= 1,
            false => self.waiting -= 1,
        }
        true
    }

    /// The number of messages that were submitted and not returned.
    #[must_use]
    #[inline(always)]
    pub fn in_flight(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// The most messages that it accepts.
    #[must_use]
    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Counts the last message among those that wait.
    #[inline(always)]
    fn count_waiting(&mut self, operation: Operation) {
        if self.waiting == 0 && self.asymmetric == 0 {
            self.first_waiting = self.tail.wrapping_sub(1);
        }
        if operation.is_asymmetric() {
            self.asymmetric += 1;
            return;
        }
        self.waiting += 1;
        if self.waiting >= self.service.most() {
            self.serve_ciphers();
        }
    }
}

impl<B> fmt::Debug for LocalQueue<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalQueue")
            .field("depth", &self.depth)
            .field("in_flight", &self.tail.wrapping_sub(self.head))
            .field("waiting", &(self.waiting + self.asymmetric))
            .finish_non_exhaustive()
    }
}

/// A queue may be sent to another thread.
const _: () = {
    const fn sent<T: Send + Sync>() {}
    sent::<LocalQueue<Vec<u8>>>();
};
