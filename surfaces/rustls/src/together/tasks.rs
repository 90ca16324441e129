//! Futures of handshakes that are polled together.

use core::cell::RefCell;
use core::fmt;
use core::future::{Future, poll_fn};
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use super::pool::HandshakePool;

/// A set of futures, such as handshakes of `tokio-rustls`, that one task polls together in a
/// [`HandshakePool`].
///
/// When the task runs, all futures that were woken since are polled, each in a closure of the pool.
/// Under load, an executor learns of many readable sockets at once, so that these are many. There
/// are no timers: a single future that was woken is polled as it is.
///
/// ```ignore
/// // In one task for each thread that accepts connections.
/// let mut handshakes = HandshakeTasks::new();
/// loop {
///     tokio::select! {
///         Ok((stream, _)) = listener.accept() => handshakes.push(acceptor.accept(stream)),
///         Some(outcome) = handshakes.join_next(), if !handshakes.is_empty() => {
///             // The connection goes on in a task of its own.
///             if let Ok(stream) = outcome {
///                 tokio::spawn(serve(stream));
///             }
///         }
///     }
/// }
/// ```
///
/// It works with every executor. Futures may be `Send` or not; the set is what they are.
pub struct HandshakeTasks<F: Future> {
    pool: HandshakePool,
    tasks: Vec<Option<Task<F>>>,
    /// Places in `tasks` without a task.
    free: Vec<usize>,
    woken: Arc<Woken>,
    /// The places of those that were woken, for one poll.
    ready: Vec<usize>,
    outputs: VecDeque<F::Output>,
}

struct Task<F> {
    future: Pin<Box<F>>,
    place: Arc<Place>,
}

/// The waker of one future.
struct Place {
    index: usize,
    /// Whether it is in the list.
    is_listed: AtomicBool,
    woken: Arc<Woken>,
}

/// What wakers of futures share.
#[derive(Default)]
struct Woken(Mutex<List>);

#[derive(Default)]
struct List {
    places: Vec<usize>,
    /// Of the task that polls the set.
    waker: Option<Waker>,
}

impl Woken {
    fn list(&self) -> MutexGuard<'_, List> {
        // Nothing panics in the middle of a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Place {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_listed.swap(true, Ordering::AcqRel) {
            let waker = {
                let mut list = self.woken.list();
                list.places.push(self.index);
                list.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl<F: Future> fmt::Debug for HandshakeTasks<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandshakeTasks").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<F: Future> Default for HandshakeTasks<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Future> HandshakeTasks<F> {
    /// A set without futures.
    #[must_use]
    pub fn new() -> Self {
        Self {
            pool: HandshakePool::new(),
            tasks: Vec::new(),
            free: Vec::new(),
            woken: Arc::default(),
            ready: Vec::new(),
            outputs: VecDeque::new(),
        }
    }

    /// The number of futures whose output was not returned so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len() - self.free.len() + self.outputs.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a future, which the next poll of the set polls for the first time.
    pub fn push(&mut self, future: F) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.tasks.push(None);
            self.tasks.len() - 1
        });
        let woken = self.woken.clone();
        let place = Arc::new(Place { index, is_listed: AtomicBool::new(false), woken });
        place.wake_by_ref();
        self.tasks[index] = Some(Task { future: Box::pin(future), place });
    }

    /// The next output, in the order in which futures finish; `None` if there are no futures.
    ///
    /// Nothing is lost if the returned future is dropped before it has finished.
    ///
    /// # Panics
    ///
    /// With the panic of a future, which is removed. The others have been polled.
    pub fn join_next(&mut self) -> impl Future<Output = Option<F::Output>> {
        poll_fn(|context| self.poll_next(context))
    }

    /// The same for implementations of futures and streams.
    ///
    /// # Panics
    ///
    /// As [`join_next`](Self::join_next).
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<F::Output>> {
        if self.outputs.is_empty() && !self.is_empty() {
            core::mem::swap(&mut self.woken.list().places, &mut self.ready);
            self.poll_ready();
            self.ready.clear();
        }
        if let Some(output) = self.outputs.pop_front() {
            return Poll::Ready(Some(output));
        }
        if self.is_empty() {
            return Poll::Ready(None);
        }
        let mut list = self.woken.list();
        if list.places.is_empty() {
            list.waker = Some(context.waker().clone());
        } else {
            // Some were woken in the meantime. Others of the executor's tasks come first.
            drop(list);
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }

    fn poll_ready(&mut self) {
        self.ready.sort_unstable();
        self.ready.dedup();
        // A waker may outlive its future.
        self.ready.retain(|&index| self.tasks[index].is_some());
        let outputs = RefCell::new(&mut self.outputs);
        let (mut slots, mut next) = (self.tasks.iter_mut(), 0);
        let closures = self.ready.iter().filter_map(|&index| {
            let slot = slots.nth(index - next)?;
            next = index + 1;
            let outputs = &outputs;
            Some(move || poll_one(slot, outputs))
        });
        let polled = catch_unwind(AssertUnwindSafe(|| self.pool.run(closures)));
        let tasks = &self.tasks;
        self.free.extend(self.ready.iter().filter(|&&index| tasks[index].is_none()));
        if let Err(panic) = polled {
            resume_unwind(panic);
        }
    }
}

/// Polls the future, and removes it if it has finished or panics.
fn poll_one<F: Future>(slot: &mut Option<Task<F>>, outputs: &RefCell<&mut VecDeque<F::Output>>) {
    let Some(mut task) = slot.take() else { return };
    // Whoever wakes it from now on wakes it again.
    task.place.is_listed.store(false, Ordering::Release);
    let waker = Waker::from(task.place.clone());
    match task.future.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(output) => outputs.borrow_mut().push_back(output),
        Poll::Pending => *slot = Some(task),
    }
}
