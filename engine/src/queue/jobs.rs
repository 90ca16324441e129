//! The channel from a queue to its worker.

use rtrb::{Consumer, Producer, RingBuffer};

use super::sessions::Numbers;
use super::slot::Slot;
use super::{QueueError, Rejected, SessionHandle};
use crate::Session;

/// The most jobs other than messages that wait for the worker.
const OTHERS: usize = 64;

/// A job that is not a message.
pub(super) enum Other {
    Attach(SessionHandle, Box<Session>),
    Detach(SessionHandle),
}

/// The queue's end of the channel: a ring with room for `depth` messages and [`OTHERS`] others.
///
/// Each of the others has an empty slot among the messages, which preserves the order. The job
/// itself is in a separate ring, so that the ring of messages contains only slots, which are moved
/// in whole words. The others never take the room of messages.
pub(super) struct Jobs<B> {
    ring: Producer<Slot<B>>,
    others: Producer<Other>,
    /// The number of messages that were pushed.
    messages: u64,
}

/// The worker's end.
pub(super) struct Taken<B> {
    ring: Consumer<Slot<B>>,
    others: Consumer<Other>,
}

impl<B> Jobs<B> {
    pub(super) fn new(depth: usize) -> (Self, Taken<B>) {
        let (ring, taken) = RingBuffer::new(depth.saturating_add(OTHERS));
        let (others, others_taken) = RingBuffer::new(OTHERS);
        (Self { ring, others, messages: 0 }, Taken { ring: taken, others: others_taken })
    }

    /// The number of messages that were pushed.
    #[inline(always)]
    pub(super) fn messages(&self) -> u64 {
        self.messages
    }

    /// Pushes a message, and returns its number. There must be fewer than `depth` in flight.
    #[inline(always)]
    pub(super) fn push(&mut self, message: Slot<B>) -> u64 {
        let pushed = self.ring.push(message).is_ok();
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
        let taken = chunk.fill_from_iter(messages);
        self.messages += taken as u64;
        taken
    }

    /// Sends a session to the worker to attach, under one of these numbers.
    pub(super) fn attach(
        &mut self,
        given: Box<Session>,
        numbers: &mut Numbers,
    ) -> Result<SessionHandle, Rejected<Box<Session>>> {
        let number = if self.others.is_full() { None } else { numbers.take() };
        let Some(number) = number else {
            return Err(Rejected { value: given, reason: QueueError::Full });
        };
        self.push_other(Other::Attach(number, given));
        Ok(number)
    }

    /// Requests the worker to detach the session with this number; false if there is none.
    pub(super) fn detach(
        &mut self,
        session: SessionHandle,
        numbers: &mut Numbers,
    ) -> Result<bool, QueueError> {
        if !numbers.has(session) {
            return Ok(false);
        }
        if self.others.is_full() {
            return Err(QueueError::Full);
        }
        numbers.give_back(session);
        self.push_other(Other::Detach(session));
        Ok(true)
    }

    /// Pushes a job that is not a message. There must be room for it.
    fn push_other(&mut self, other: Other) {
        // In this order: a worker that finds the slot finds the job.
        let pushed = self.others.push(other).is_ok() && self.ring.push(Slot::empty()).is_ok();
        debug_assert!(pushed, "there is room for it");
    }
}

impl<B> Taken<B> {
    /// The number of jobs.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.ring.slots()
    }

    /// Takes messages from these next jobs, up to the first job that is not one, which is returned.
    #[inline(always)]
    pub(super) fn take(&mut self, jobs: usize, messages: &mut Vec<Slot<B>>) -> Option<Other> {
        let empty = self.ring.read_chunk(jobs).ok()?.into_iter().find_map(|slot| {
            if slot.buffer.is_none() {
                return Some(());
            }
            messages.push(slot);
            None
        });
        // After its slot was released, so that there are never more slots than jobs.
        empty.and_then(|()| self.others.pop().ok())
    }
}
