//! A queue whose completions are futures.

mod completion_future;
mod hand;
mod slots;

use core::fmt;
use core::future::poll_fn;
use core::task::Poll;
use std::io;
use std::sync::{Arc, OnceLock};

use lanecrypt_kernels::fork::Generation;

pub use self::completion_future::CompletionFuture;
use self::hand::Hand;
use self::slots::{Slots, State};
use super::jobs::Jobs;
use super::{Completion, Message, QueueError, Rejected, SessionHandle, Settings};
use crate::lanes::Lanes;
use crate::{Engine, Session};

/// A queue with a worker, whose completions are futures.
///
/// Any number of tasks can share it, on any executor. Messages that are queued together form one
/// batch, as in a [`WorkerQueue`](super::WorkerQueue). The worker wakes the tasks.
///
/// Dropping a future cancels its message if the worker has not taken it yet; otherwise the message
/// is served, and its buffer dropped. Long operations, which include those of asymmetric keys, have
/// a separate worker, as in a [`WorkerQueue`](super::WorkerQueue).
///
/// It is behind a lock, which is held for some hundred nanoseconds. It allocates when it is
/// created, when sessions are attached, and when more tasks wait for room than before.
///
/// ```
/// use std::sync::Arc;
///
/// use lanecrypt_engine::queue::{AsyncQueue, Message};
/// use lanecrypt_engine::{Algorithm, Engine};
///
/// async fn seal(queue: Arc<AsyncQueue<Vec<u8>>>) -> Result<(), Box<dyn std::error::Error>> {
///     let engine = Engine::new();
///     let session = queue.attach(engine.session(Algorithm::AES_128_GCM, &[1; 16])?)?;
///     let done = queue.serve(Message::seal(session, [0; 12], vec![7; 100 + 16])).await?;
///     done.outcome?;
///     Ok(())
/// }
/// # let queue = Arc::new(AsyncQueue::new(&Engine::new(), 64).unwrap());
/// # let mut sealing = Box::pin(seal(queue));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # while sealing.as_mut().poll(&mut context).is_pending() {}
/// ```
pub struct AsyncQueue<B> {
    places: Arc<Slots<B>>,
    /// The worker; `None` once it has been joined.
    short: Option<Hand>,
    /// The worker of long operations, created when the first session is attached to it.
    long: OnceLock<Hand>,
    lanes: Lanes,
    settings: Settings,
    /// The process of the workers.
    process: Generation,
}

impl<B: AsMut<[u8]> + Send + 'static> AsyncQueue<B> {
    /// A queue for up to `depth` messages in flight, and its worker.
    ///
    /// # Errors
    ///
    /// The system could not create a thread.
    pub fn new(engine: &Engine, depth: usize) -> io::Result<Self> {
        Self::with(engine, Settings::new(depth))
    }

    /// The same with these settings.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    pub fn with(engine: &Engine, settings: Settings) -> io::Result<Self> {
        // The numbers of places have 32 bits.
        let depth = settings.depth.min(1 << 24);
        let settings = Settings { depth, ..settings };
        let (jobs, taken) = Jobs::new(depth);
        let places = Arc::new(Slots::new(jobs, depth));
        let lanes = *engine.lanes();
        let short = Some(Hand::new(taken, places.clone(), lanes, &settings)?);
        let (long, process) = (OnceLock::new(), Generation::now());
        Ok(Self { places, short, long, lanes, settings, process })
    }

    /// Attaches a session, which messages name from now on. A session of
    /// [`boxed_session`](Engine::boxed_session) is not moved. One with an asymmetric key is
    /// attached as by [`attach_slow`](Self::attach_slow).
    ///
    /// # Errors
    ///
    /// [`QueueError`], with the session.
    pub fn attach(
        &self,
        session: impl Into<Box<Session>>,
    ) -> Result<SessionHandle, Rejected<Box<Session>>> {
        let given = session.into();
        if given.is_asymmetric() {
            return self.attach_slow(given);
        }
        self.attach_to(given, false)
    }

    /// Attaches a session of long operations: milliseconds for a slow driver, for asymmetric
    /// keys, or for messages of megabytes. They have a separate worker, and the same room in
    /// addition, so that they never delay short ones.
    ///
    /// # Errors
    ///
    /// [`QueueError`], with the session; [`QueueError::NoThread`] if the system could not create a
    /// thread for the worker.
    pub fn attach_slow(
        &self,
        session: impl Into<Box<Session>>,
    ) -> Result<SessionHandle, Rejected<Box<Session>>> {
        let given = session.into();
        match self.ensure_not_forked().and_then(|()| self.make_long()) {
            Ok(()) => self.attach_to(given, true),
            Err(reason) => Err(Rejected { value: given, reason }),
        }
    }

    /// Creates the class of long operations, unless it exists.
    fn make_long(&self) -> Result<(), QueueError> {
        let mut state = self.places.lock();
        if state.has_long() {
            return Ok(());
        }
        let (jobs, taken) = Jobs::new(self.settings.depth);
        let long = Hand::new(taken, self.places.clone(), self.lanes, &self.settings);
        let long = long.map_err(|_| QueueError::NoThread)?;
        state.add_long(jobs);
        // Under the lock, so that no other task has created one.
        let _first = self.long.set(long);
        Ok(())
    }
}

impl<B> AsyncQueue<B> {
    fn attach_to(
        &self,
        given: Box<Session>,
        is_long: bool,
    ) -> Result<SessionHandle, Rejected<Box<Session>>> {
        if let Err(reason) = self.ensure_not_forked() {
            return Err(Rejected { value: given, reason });
        }
        let attached = self.places.lock().attach(given, is_long);
        self.ring(is_long);
        attached
    }

    /// Detaches a session. Messages that were submitted before are served; then the worker drops
    /// the session with its key. False if the queue has no such session.
    ///
    /// # Errors
    ///
    /// [`QueueError`]; the session then stays attached.
    pub fn detach(&self, session: SessionHandle) -> Result<bool, QueueError> {
        self.ensure_not_forked()?;
        let detached = self.places.lock().detach(session);
        self.ring(session.is_long());
        detached
    }

    /// Submits a message and waits for its completion; before that for room, if the queue is full.
    ///
    /// # Errors
    ///
    /// [`QueueError::Closed`] or [`QueueError::Forked`]. All other errors are in the completion.
    pub async fn serve<N: AsRef<[u8]>>(
        &self,
        message: Message<N, B>,
    ) -> Result<Completion<B>, QueueError> {
        let mut message = message;
        let is_long = message.session.is_long();
        loop {
            match self.submit(message) {
                Ok(served) => return served.await,
                Err(Rejected { value: given, reason: QueueError::Full }) => message = given,
                Err(Rejected { reason, .. }) => return Err(reason),
            }
            self.room([!is_long, is_long]).await?;
        }
    }

    /// Submits a message, if there is room now. The future is its completion.
    ///
    /// # Errors
    ///
    /// [`QueueError`], with the message. All other errors are in the completion.
    pub fn submit<N: AsRef<[u8]>>(
        &self,
        message: Message<N, B>,
    ) -> Result<CompletionFuture<'_, B>, Rejected<Message<N, B>>> {
        if let Err(reason) = self.ensure_not_forked() {
            return Err(Rejected { value: message, reason });
        }
        let (place, number, is_long) = self.places.lock().submit(message)?;
        self.ring(is_long);
        Ok(CompletionFuture::new(self, place, number, is_long))
    }

    /// Waits until the queue has room, in each class of operations. Another task may take it first.
    ///
    /// # Errors
    ///
    /// [`QueueError::Closed`] or [`QueueError::Forked`].
    pub async fn ready(&self) -> Result<(), QueueError> {
        self.room([true; 2]).await
    }

    /// Waits until these classes, short and long, have room.
    async fn room(&self, classes: [bool; 2]) -> Result<(), QueueError> {
        poll_fn(|context| {
            if let Err(reason) = self.ensure_not_forked() {
                return Poll::Ready(Err(reason));
            }
            self.places.lock().has_room(classes, context.waker())
        })
        .await
    }

    /// Closes the queue. Messages that the worker has not taken yet complete with
    /// [`MessageError::Closed`](super::MessageError::Closed); nothing more is taken.
    pub fn close(&self) {
        if self.ensure_not_forked().is_err() {
            return;
        }
        let mut state = self.places.lock();
        state.close();
        self.hands().for_each(Hand::close);
        drop(state);
        self.hands().for_each(Hand::ring);
        self.places.wake_waiting();
    }

    /// The number of messages that were submitted and whose futures have not completed or been
    /// dropped; in a forked child 0.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        if self.ensure_not_forked().is_err() {
            return 0;
        }
        self.places.lock().taken()
    }

    /// The most messages in flight, for each class of operations.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.settings.depth
    }

    /// Whether the process is that of the worker.
    fn ensure_not_forked(&self) -> Result<(), QueueError> {
        if self.process.is_current() { Ok(()) } else { Err(QueueError::Forked) }
    }

    /// The places; none in a forked child, where the lock may never be released.
    fn places(&self) -> Option<std::sync::MutexGuard<'_, State<B>>> {
        self.ensure_not_forked().ok().map(|()| self.places.lock())
    }

    /// The worker of a class. Without one for long operations it is that of short ones, which finds
    /// no such session.
    fn hand(&self, is_long: bool) -> Option<&Hand> {
        self.long.get().filter(|_| is_long).or(self.short.as_ref())
    }

    fn hands(&self) -> impl Iterator<Item = &Hand> {
        self.short.iter().chain(self.long.get())
    }

    /// Wakes the worker of a class if it sleeps.
    fn ring(&self, is_long: bool) {
        self.hand(is_long).into_iter().for_each(Hand::ring);
    }
}

impl<B> Drop for AsyncQueue<B> {
    fn drop(&mut self) {
        self.close();
        let ensure_not_forked = self.process.is_current();
        let hands = self.short.take().into_iter().chain(self.long.take());
        hands.for_each(if ensure_not_forked { Hand::join } else { Hand::forget });
    }
}

impl<B> fmt::Debug for AsyncQueue<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncQueue").field("depth", &self.depth()).finish_non_exhaustive()
    }
}

/// Tasks of any threads share it.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<AsyncQueue<Vec<u8>>>();
    shared::<CompletionFuture<'_, Vec<u8>>>();
};
