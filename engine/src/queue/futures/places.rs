//! Where futures wait for their completions.

use core::mem::replace;
use core::panic::AssertUnwindSafe;
use core::task::{Poll, Waker};
use std::collections::VecDeque;
use std::panic::catch_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::jobs::Jobs;
use super::super::sessions::Numbers;
use super::super::slot::Slot;
use super::super::worker::thread;
use super::super::{Attached, Completion, Message, NotTaken, QueueError};
use crate::Session;

/// What tasks and the worker share.
pub(super) struct Places<B>(Mutex<State<B>>);

impl<B> Places<B> {
    pub(super) fn new(jobs: Jobs<B>, depth: usize) -> Self {
        Self(Mutex::new(State {
            jobs,
            places: (0..depth).map(|_| Place { user: 0, status: Status::Free }).collect(),
            free: (0..depth as u64).rev().collect(),
            waiting: VecDeque::with_capacity(depth),
            numbers: Numbers::default(),
            closed: false,
        }))
    }

    /// No code of the user runs under the lock but that of wakers that are cloned or compared, and
    /// that of nonces.
    pub(super) fn lock(&self) -> MutexGuard<'_, State<B>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the tasks that wait for room. All of them, because some may be gone.
    pub(super) fn wake_waiting(&self) {
        let count = self.lock().waiting.len();
        for _ in 0..count {
            let task = self.lock().waiting.pop_front();
            // The executor's code may panic, and runs without the lock.
            let _ = catch_unwind(AssertUnwindSafe(|| task.map(Waker::wake)));
        }
    }
}

/// The places, and the way to the worker.
pub(super) struct State<B> {
    jobs: Jobs<B>,
    places: Box<[Place<B>]>,
    /// The places that are free.
    free: Vec<u64>,
    /// The tasks that wait for a place.
    waiting: VecDeque<Waker>,
    numbers: Numbers,
    closed: bool,
}

struct Place<B> {
    /// The caller's number; that of the message is the place.
    user: u64,
    status: Status<B>,
}

enum Status<B> {
    Free,
    /// The message is in flight. The task that waits for it, once its future was polled.
    InFlight(Option<Waker>),
    Done(Completion<B>),
    /// The message is in flight, and its future was dropped.
    Abandoned,
}

impl<B> State<B> {
    pub(super) fn attach(
        &mut self,
        given: Box<Session>,
    ) -> Result<Attached, NotTaken<Box<Session>>> {
        if self.closed {
            return Err(NotTaken { given, reason: QueueError::Closed });
        }
        self.jobs.attach(given, &mut self.numbers)
    }

    pub(super) fn detach(&mut self, session: Attached) -> Result<bool, QueueError> {
        if self.closed {
            return Err(QueueError::Closed);
        }
        self.jobs.detach(session, &mut self.numbers)
    }

    /// Gives a message a place, and its number in the order of submission.
    pub(super) fn submit<N: AsRef<[u8]>>(
        &mut self,
        given: Message<N, B>,
    ) -> Result<(u64, u64), NotTaken<Message<N, B>>> {
        let user = given.user;
        if self.closed {
            return Err(NotTaken { given, reason: QueueError::Closed });
        }
        let Some(&free) = self.free.last() else { return Err(NotTaken::full(given)) };
        // Before anything changes: the code of the nonce may panic.
        let message = Slot { user: free, ..Slot::of(given) };
        if let Some(place) = place(&mut self.places, free) {
            *place = Place { user, status: Status::InFlight(None) };
        }
        let number = self.jobs.push(message);
        self.free.pop();
        Ok((free, number))
    }

    /// Whether there is room; if not, the task is woken once there is.
    pub(super) fn has_room(&mut self, task: &Waker) -> Poll<Result<(), QueueError>> {
        if self.closed {
            return Poll::Ready(Err(QueueError::Closed));
        }
        if !self.free.is_empty() {
            return Poll::Ready(Ok(()));
        }
        if !self.waiting.iter().any(|waiting| waiting.will_wake(task)) {
            self.waiting.push_back(task.clone());
        }
        Poll::Pending
    }

    /// The completion of the message in this place; if there is none yet, the task is woken once
    /// there is.
    pub(super) fn poll(&mut self, at: u64, task: &Waker) -> Poll<Completion<B>> {
        let Some(place) = place(&mut self.places, at) else { return Poll::Pending };
        match replace(&mut place.status, Status::Free) {
            Status::Done(done) => {
                self.free.push(at);
                Poll::Ready(done)
            }
            Status::InFlight(Some(before)) if before.will_wake(task) => {
                place.status = Status::InFlight(Some(before));
                Poll::Pending
            }
            _ => {
                place.status = Status::InFlight(Some(task.clone()));
                Poll::Pending
            }
        }
    }

    /// The future of this place is dropped. Gives back the completion, if it has come.
    pub(super) fn abandon(&mut self, at: u64) -> Option<Completion<B>> {
        let place = place(&mut self.places, at)?;
        match replace(&mut place.status, Status::Abandoned) {
            Status::Done(done) => {
                place.status = Status::Free;
                self.free.push(at);
                Some(done)
            }
            _ => None,
        }
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether tasks wait for room.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn free(&self) -> usize {
        self.free.len()
    }

    /// Puts a completion in its place. Gives back the task that waits for it, or the completion if
    /// nobody does.
    fn complete(&mut self, done: Completion<B>) -> (Option<Waker>, Option<Completion<B>>) {
        let at = done.user;
        let Some(place) = place(&mut self.places, at) else { return (None, Some(done)) };
        match replace(&mut place.status, Status::Free) {
            Status::InFlight(task) => {
                place.status = Status::Done(Completion { user: place.user, ..done });
                (task, None)
            }
            _ => {
                self.free.push(at);
                (None, Some(done))
            }
        }
    }
}

fn place<B>(places: &mut [Place<B>], at: u64) -> Option<&mut Place<B>> {
    places.get_mut(usize::try_from(at).ok()?)
}

/// Where the worker puts completions.
pub(super) struct Outlet<B> {
    places: Arc<Places<B>>,
    /// What is to be done when the lock has been given back.
    tasks: Vec<Waker>,
    dropped: Vec<Completion<B>>,
}

impl<B> Outlet<B> {
    /// For up to this many completions at a time.
    pub(super) fn new(places: Arc<Places<B>>, most: usize) -> Self {
        let (tasks, dropped) = (Vec::with_capacity(most), Vec::with_capacity(most));
        Self { places, tasks, dropped }
    }
}

impl<B> thread::Outlet<B> for Outlet<B> {
    // A lock for each part would cost more than it gains.
    const PART: usize = usize::MAX;

    fn publish(&mut self, slots: &mut [Slot<B>]) {
        let Self { places, tasks, dropped } = self;
        let is_room = {
            let mut state = places.lock();
            for done in slots.iter_mut().filter_map(Slot::take) {
                let (task, abandoned) = state.complete(done);
                tasks.extend(task);
                dropped.extend(abandoned);
            }
            !dropped.is_empty() && state.has_waiting()
        };
        for task in tasks.drain(..) {
            // The executor's code may panic, as may that of buffers.
            let _ = catch_unwind(AssertUnwindSafe(|| task.wake()));
        }
        while let Some(done) = dropped.pop() {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(done)));
        }
        if is_room {
            places.wake_waiting();
        }
    }

    /// The tasks have been woken one by one.
    fn wake(&mut self) {}
}
