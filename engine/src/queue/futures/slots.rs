//! The places in which futures wait for their completions.

use core::mem::replace;
use core::ops::Range;
use core::panic::AssertUnwindSafe;
use core::task::{Poll, Waker};
use std::collections::VecDeque;
use std::panic::catch_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::jobs::Jobs;
use super::super::sessions::Numbers;
use super::super::slot::Slot;
use super::super::worker::thread;
use super::super::{Completion, Message, QueueError, Rejected, SessionHandle};
use crate::Session;

/// The state that tasks and the worker share.
pub(super) struct Slots<B>(Mutex<State<B>>);

impl<B> Slots<B> {
    pub(super) fn new(jobs: Jobs<B>, depth: usize) -> Self {
        Self(Mutex::new(State {
            short: Class::new(jobs, Numbers::default(), 0..depth),
            long: None,
            places: (0..depth).map(|_| Place::FREE).collect(),
            depth,
            waiting: VecDeque::with_capacity(depth),
            closed: false,
        }))
    }

    /// The only user code under the lock is that of nonces, and of wakers that are cloned or
    /// compared.
    pub(super) fn lock(&self) -> MutexGuard<'_, State<B>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the tasks that wait for room. All of them, because some may be gone.
    pub(super) fn wake_waiting(&self) {
        let count = self.lock().waiting.len();
        for _ in 0..count {
            let task = self.lock().waiting.pop_front();
            // Code of the executor may panic, and runs without the lock.
            let _ = catch_unwind(AssertUnwindSafe(|| task.map(Waker::wake)));
        }
    }
}

/// The places, and the channels to the workers.
pub(super) struct State<B> {
    short: Class<B>,
    /// Created when the first session is attached to it.
    long: Option<Class<B>>,
    /// Those of short operations, followed by the same number for long ones.
    places: Vec<Place<B>>,
    depth: usize,
    /// The tasks that wait for a place.
    waiting: VecDeque<Waker>,
    closed: bool,
}

/// A class of operations: the channel to its worker, its places and its sessions.
struct Class<B> {
    jobs: Jobs<B>,
    /// The places that are free.
    free: Vec<u64>,
    numbers: Numbers,
}

impl<B> Class<B> {
    fn new(jobs: Jobs<B>, numbers: Numbers, places: Range<usize>) -> Self {
        Self { jobs, free: places.rev().map(|at| at as u64).collect(), numbers }
    }
}

struct Place<B> {
    /// The caller's number; that of the message is the place.
    user: u64,
    status: Status<B>,
}

impl<B> Place<B> {
    const FREE: Self = Self { user: 0, status: Status::Free };
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
    /// Attaches a session to a class, which must exist.
    pub(super) fn attach(
        &mut self,
        given: Box<Session>,
        is_long: bool,
    ) -> Result<SessionHandle, Rejected<Box<Session>>> {
        if self.closed {
            return Err(Rejected { value: given, reason: QueueError::Closed });
        }
        let Class { jobs, numbers, .. } = self.class(is_long);
        jobs.attach(given, numbers)
    }

    pub(super) fn detach(&mut self, session: SessionHandle) -> Result<bool, QueueError> {
        if self.closed {
            return Err(QueueError::Closed);
        }
        let Class { jobs, numbers, .. } = self.class(session.is_long());
        jobs.detach(session, numbers)
    }

    /// The class of short operations, or of long ones if there is one.
    fn class(&mut self, is_long: bool) -> &mut Class<B> {
        match &mut self.long {
            Some(long) if is_long => long,
            _ => &mut self.short,
        }
    }

    /// Whether there is a class of long operations, or the queue no longer accepts one.
    pub(super) fn has_long(&self) -> bool {
        self.long.is_some() || self.closed
    }

    /// Adds the class of long operations.
    pub(super) fn add_long(&mut self, jobs: Jobs<B>) {
        let places = self.depth..2 * self.depth;
        self.places.extend(places.clone().map(|_| Place::FREE));
        self.waiting.reserve(places.len());
        self.long = Some(Class::new(jobs, Numbers::long(), places));
    }

    /// Stores a message. Returns its place, its number in the order of submission, and whether it
    /// is a long operation.
    pub(super) fn submit<N: AsRef<[u8]>>(
        &mut self,
        given: Message<N, B>,
    ) -> Result<(u64, u64, bool), Rejected<Message<N, B>>> {
        let user = given.user;
        if self.closed {
            return Err(Rejected { value: given, reason: QueueError::Closed });
        }
        // Without such a class there is no such session either, which any worker reports.
        let (class, is_long) = match &mut self.long {
            Some(long) if given.session.is_long() => (long, true),
            _ => (&mut self.short, false),
        };
        let Some(&free) = class.free.last() else { return Err(Rejected::full(given)) };
        // Before anything changes: the code of the nonce may panic.
        let message = Slot { user: free, ..Slot::of(given) };
        if let Some(place) = place(&mut self.places, free) {
            *place = Place { user, status: Status::InFlight(None) };
        }
        let number = class.jobs.push(message);
        class.free.pop();
        Ok((free, number, is_long))
    }

    /// Whether these classes, short and long, have room; if not, the task is woken once there is
    /// more.
    pub(super) fn has_room(
        &mut self,
        [short, long]: [bool; 2],
        task: &Waker,
    ) -> Poll<Result<(), QueueError>> {
        if self.closed {
            return Poll::Ready(Err(QueueError::Closed));
        }
        let is_full = |class: &Class<B>| class.free.is_empty();
        if !(short && is_full(&self.short) || long && self.long.as_ref().is_some_and(is_full)) {
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
                self.set_free(at);
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

    /// Handles the drop of this place's future. Returns the completion, if there is one.
    pub(super) fn abandon(&mut self, at: u64) -> Option<Completion<B>> {
        let place = place(&mut self.places, at)?;
        match replace(&mut place.status, Status::Abandoned) {
            Status::Done(done) => {
                place.status = Status::Free;
                self.set_free(at);
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

    /// The number of places in use.
    pub(super) fn taken(&self) -> usize {
        let free = self.short.free.len() + self.long.as_ref().map_or(0, |long| long.free.len());
        self.places.len() - free
    }

    /// A place is free again.
    fn set_free(&mut self, at: u64) {
        let is_long = at >= self.depth as u64;
        self.class(is_long).free.push(at);
    }

    /// Stores a completion in its place. Returns the task that waits for it, or the completion if
    /// no task waits.
    fn complete(&mut self, done: Completion<B>) -> (Option<Waker>, Option<Completion<B>>) {
        let at = done.user;
        let Some(place) = place(&mut self.places, at) else { return (None, Some(done)) };
        match replace(&mut place.status, Status::Free) {
            Status::InFlight(task) => {
                place.status = Status::Done(Completion { user: place.user, ..done });
                (task, None)
            }
            _ => {
                self.set_free(at);
                (None, Some(done))
            }
        }
    }
}

fn place<B>(places: &mut [Place<B>], at: u64) -> Option<&mut Place<B>> {
    places.get_mut(usize::try_from(at).ok()?)
}

/// The worker's destination of completions.
pub(super) struct Outlet<B> {
    places: Arc<Slots<B>>,
    /// The tasks to wake after the lock is released.
    tasks: Vec<Waker>,
    dropped: Vec<Completion<B>>,
}

impl<B> Outlet<B> {
    /// For up to this many completions at a time.
    pub(super) fn new(places: Arc<Slots<B>>, most: usize) -> Self {
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
