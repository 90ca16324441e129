//! The places in which futures wait for their completions.

use core::mem::replace;
use core::panic::AssertUnwindSafe;
use core::task::{Poll, Waker};
use std::panic::catch_unwind;

use super::super::channel::Channel;
use super::super::in_flight::{self, InFlight};
use super::super::window::Owner;
use crate::{Completion, Error, Message, Rejected};

/// The messages of an asynchronous client.
///
/// The only user code that runs under its lock is that of nonces, that of wakers that are cloned or
/// compared, and `AsMut` of buffers.
pub(super) struct Slots<B> {
    channel: Channel,
    places: Vec<Place<B>>,
    /// The places that are free.
    free: Vec<usize>,
    /// The tasks that wait for room.
    waiting: Vec<Waker>,
    /// Whether the connection has ended, and every waiting task was woken.
    is_over: bool,
}

enum Place<B> {
    Free,
    /// The message is in flight. The task that waits for it, once its future was polled.
    InFlight(InFlight<B>, Option<Waker>),
    Done(Completion<B>),
    /// The message is in flight, and its future was dropped.
    Abandoned,
}

/// The actions after the lock is released.
#[must_use = "tasks are to be woken"]
pub(super) struct Answered(Vec<Waker>);

impl Answered {
    /// Wakes the tasks that can proceed.
    pub(super) fn wake(self) {
        for task in self.0 {
            // The executor's code may panic.
            let _ = catch_unwind(AssertUnwindSafe(|| task.wake()));
        }
    }
}

impl<B> Slots<B> {
    pub(super) fn new(channel: Channel, depth: usize) -> Self {
        let places = (0..depth).map(|_| Place::Free).collect();
        let free = (0..depth).rev().collect();
        Self { channel, places, free, waiting: Vec::new(), is_over: false }
    }

    /// Whether no completion can arrive.
    pub(super) fn is_idle(&self) -> bool {
        self.is_over || self.channel.in_flight() == 0
    }

    /// The number of completions that were read.
    pub(super) fn read(&self) -> u32 {
        self.channel.read()
    }

    /// Checks whether the daemon is alive, if that is due.
    pub(super) fn attend(&mut self) {
        // The next check finds the same.
        let _lives = self.channel.poll_liveness();
    }

    /// The number of places in use.
    pub(super) fn taken(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether there is room for a message.
    pub(super) fn has_room(&self) -> bool {
        !self.free.is_empty() && self.channel.in_flight() < self.places.len()
    }

    /// Wakes the task once there is more room.
    pub(super) fn waits(&mut self, task: &Waker) {
        if !self.waiting.iter().any(|waiting| waiting.will_wake(task)) {
            self.waiting.push(task.clone());
        }
    }

    /// The completion of the message in this place; if there is none yet, the task is woken once
    /// there is.
    pub(super) fn poll(&mut self, at: usize, task: &Waker) -> Poll<(Completion<B>, Answered)> {
        let Some(place) = self.places.get_mut(at) else { return Poll::Pending };
        match replace(place, Place::Free) {
            Place::Done(done) => Poll::Ready((done, self.set_free(at))),
            Place::InFlight(kept, Some(before)) if before.will_wake(task) => {
                *place = Place::InFlight(kept, Some(before));
                Poll::Pending
            }
            Place::InFlight(kept, _) => {
                *place = Place::InFlight(kept, Some(task.clone()));
                Poll::Pending
            }
            // No future polls these.
            other => {
                *place = other;
                Poll::Pending
            }
        }
    }

    /// Handles the drop of this place's future. Returns the owner of its buffer.
    pub(super) fn abandon(&mut self, at: usize) -> (Answered, Option<impl Sized + use<B>>) {
        let none = Answered(Vec::new());
        let Some(place) = self.places.get_mut(at) else { return (none, None) };
        let before = replace(place, Place::Abandoned);
        match before {
            Place::Done(_) => {
                *place = Place::Free;
                (self.set_free(at), Some(before))
            }
            before => (none, Some(before)),
        }
    }

    /// A place is free again. The tasks that wait for room are woken: all, because some may be
    /// gone.
    fn set_free(&mut self, at: usize) -> Answered {
        self.free.push(at);
        Answered(core::mem::take(&mut self.waiting))
    }
}

impl<B: AsMut<[u8]>> Slots<B> {
    /// Writes a message to the ring, notifies the daemon, and returns its place.
    pub(super) fn submit<N: AsRef<[u8]>>(
        &mut self,
        message: Message<N, B>,
    ) -> Result<usize, Rejected<Message<N, B>>> {
        let Some(&at) = self.free.last() else {
            return Err(Rejected { value: message, reason: Error::Full });
        };
        let kept = in_flight::put(&mut self.channel, message, Owner::Part(at))?;
        self.free.pop();
        if let Some(place) = self.places.get_mut(at) {
            *place = Place::InFlight(kept, None);
        }
        self.channel.publish();
        Ok(at)
    }

    /// Takes the daemon's completions.
    pub(super) fn look(&mut self) -> Answered {
        let mut tasks = Vec::new();
        let mut has_news = false;
        while !self.is_over {
            match self.channel.next() {
                Ok(Some(done)) => {
                    has_news = true;
                    if let Owner::Part(at) = done.pending.owner {
                        tasks.extend(self.complete(at, done.pending.offset, done.status));
                    }
                }
                Ok(None) => break,
                Err(_) => {
                    (self.is_over, has_news) = (true, true);
                    self.end(&mut tasks);
                }
            }
        }
        if has_news {
            tasks.append(&mut self.waiting);
        }
        Answered(tasks)
    }

    /// Stores a completion in its place. Returns the task that waits for it.
    fn complete(&mut self, at: usize, offset: u32, status: u32) -> Option<Waker> {
        let place = self.places.get_mut(at)?;
        match replace(place, Place::Free) {
            Place::InFlight(mut kept, task) => {
                let memory = self.channel.memory();
                // The code of the buffer may panic.
                let read = catch_unwind(AssertUnwindSafe(|| kept.read(memory, offset, status)));
                *place = Place::Done(kept.completed(read.unwrap_or(Err(Error::Malformed))));
                task
            }
            Place::Abandoned => {
                self.free.push(at);
                None
            }
            other => {
                *place = other;
                None
            }
        }
    }

    /// Completes all messages without an answer, because the daemon has ended.
    fn end(&mut self, tasks: &mut Vec<Waker>) {
        for (at, place) in self.places.iter_mut().enumerate() {
            match replace(place, Place::Free) {
                Place::InFlight(kept, task) => {
                    *place = Place::Done(kept.completed(Err(Error::Disconnected)));
                    tasks.extend(task);
                }
                Place::Abandoned => self.free.push(at),
                other => *place = other,
            }
        }
    }
}
