//! The way from a queue to its worker.

use std::collections::VecDeque;

use rtrb::{Consumer, Producer, RingBuffer};

use super::slot::Slot;
use super::worker::thread::Job;

/// How many jobs that are not messages may wait for the worker: sessions to attach or detach.
const OTHERS: usize = 64;

/// The way to the worker: a ring with room for `depth` messages and [`OTHERS`] others.
///
/// What is not a message never takes the room of one. Which of the others the worker has taken is
/// known exactly, because it takes jobs in their order.
pub(super) struct Jobs<B> {
    ring: Producer<Job<B>>,
    capacity: u64,
    /// How many messages have been pushed.
    messages: u64,
    /// How many others have been pushed.
    others: u64,
    /// The positions, among all jobs, of the others that the worker may not have taken.
    waiting: VecDeque<u64>,
}

impl<B> Jobs<B> {
    pub(super) fn new(depth: usize) -> (Self, Consumer<Job<B>>) {
        let capacity = depth.saturating_add(OTHERS);
        let (ring, taken) = RingBuffer::new(capacity);
        let waiting = VecDeque::with_capacity(OTHERS);
        (Self { ring, capacity: capacity as u64, messages: 0, others: 0, waiting }, taken)
    }

    /// How many messages have been pushed.
    #[inline(always)]
    pub(super) fn messages(&self) -> u64 {
        self.messages
    }

    /// Pushes a message, and returns its number. There must be fewer than `depth` in flight.
    #[inline(always)]
    pub(super) fn push(&mut self, message: Slot<B>) -> u64 {
        let pushed = self.ring.push(Job::Message(message)).is_ok();
        debug_assert!(pushed, "there is room for all messages");
        let number = self.messages;
        self.messages += 1;
        number
    }

    /// Pushes up to `room` messages, and returns how many there were. No more than `depth` may then
    /// be in flight.
    #[inline(always)]
    pub(super) fn push_many(
        &mut self,
        room: usize,
        messages: impl Iterator<Item = Slot<B>>,
    ) -> usize {
        let Ok(chunk) = self.ring.write_chunk_uninit(room) else {
            debug_assert!(false, "there is room for all messages");
            return 0;
        };
        let taken = chunk.fill_from_iter(messages.map(Job::Message));
        self.messages += taken as u64;
        taken
    }

    /// Whether there is room for a job that is not a message.
    pub(super) fn takes_other(&mut self) -> bool {
        let in_ring = self.capacity - self.ring.slots() as u64;
        let taken = self.messages + self.others - in_ring;
        while self.waiting.front().is_some_and(|&position| position < taken) {
            self.waiting.pop_front();
        }
        self.waiting.len() < OTHERS
    }

    /// Pushes a job that is not a message. [`takes_other`](Self::takes_other) must have said so.
    pub(super) fn push_other(&mut self, job: Job<B>) -> bool {
        self.waiting.push_back(self.messages + self.others);
        self.others += 1;
        self.ring.push(job).is_ok()
    }
}
