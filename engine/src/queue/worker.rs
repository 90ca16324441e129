//! A queue with its own thread.

#[cfg(target_os = "linux")]
mod descriptor;
mod lane;
pub(super) mod settings;
pub(super) mod shared;
pub(super) mod thread;

use core::fmt;
use core::time::Duration;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
#[cfg(target_os = "linux")]
use std::sync::Arc;

use self::lane::Lane;
pub use self::settings::Settings;
use super::sessions::Numbers;
use super::{Completion, Message, QueueError, Rejected, SessionHandle, Ticket};
use crate::lanes::Lanes;
use crate::{Engine, Session};

/// A queue whose messages are served by its own thread, the worker.
///
/// The worker takes all queued messages, serves them as one batch, publishes it, and repeats: a
/// batch consists of the messages that arrived during the last one. If there are none it spins for
/// a while, and then sleeps. Messages and completions pass through rings without locks. The worker
/// owns the sessions with their keys.
///
/// Completions arrive as messages are served, in the order of submission only with
/// [`Settings::in_order`]. Each message that was taken completes once. If a driver panics, the
/// messages of its batch that have no outcome complete with
/// [`MessageError::Panicked`](super::MessageError::Panicked), and the worker continues.
///
/// Dropping the queue closes it and waits for the worker, which completes the current batch.
/// Buffers that were not taken by [`poll`](Self::poll) are dropped. A child of `fork` has no
/// worker: its copy of the queue is empty and returns [`QueueError::Forked`].
///
/// Sessions with asymmetric keys have a separate worker, as those of
/// [`attach_slow`](Self::attach_slow). It serves up to 32 messages together.
///
/// It allocates only when it is created, when sessions are attached, and at the first signatures.
///
/// ```
/// use lanecrypt_engine::queue::{Message, WorkerQueue};
/// use lanecrypt_engine::{Algorithm, Engine};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::new();
/// let mut queue = WorkerQueue::new(&engine, 64)?;
/// let session = queue.attach(engine.session(Algorithm::CHACHA20_POLY1305, &[1; 32])?)?;
///
/// let nonce = |number: u64| [[0; 4].as_slice(), &number.to_be_bytes()].concat();
/// let packet = |number| Message::seal(session, nonce(number), vec![7; 60 + 16]).with_user(number);
/// let taken = queue.submit_many(&mut (0..32).map(packet))?;
/// assert_eq!(taken, 32);
/// while let Some(done) = queue.wait() {
///     done.outcome?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct WorkerQueue<B> {
    short: Lane<B>,
    /// Created when the first session is attached to it.
    long: Option<Lane<B>>,
    numbers: [Numbers; 2],
    lanes: Lanes,
    settings: Settings,
    #[cfg(target_os = "linux")]
    descriptor: Option<Arc<OwnedFd>>,
}

impl<B: AsMut<[u8]> + Send + 'static> WorkerQueue<B> {
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
        let lanes = *engine.lanes();
        let short = Lane::new(lanes, &settings)?;
        let numbers = [Numbers::default(), Numbers::long()];
        Ok(Self {
            short,
            long: None,
            numbers,
            lanes,
            settings,
            #[cfg(target_os = "linux")]
            descriptor: None,
        })
    }

    /// Attaches a session, which messages name from now on. A session of
    /// [`boxed_session`](Engine::boxed_session) is not moved. One with an asymmetric key is
    /// attached as by [`attach_slow`](Self::attach_slow).
    ///
    /// # Errors
    ///
    /// [`QueueError`], with the session.
    pub fn attach(
        &mut self,
        session: impl Into<Box<Session>>,
    ) -> Result<SessionHandle, Rejected<Box<Session>>> {
        let session = session.into();
        if session.is_asymmetric() {
            return self.attach_slow(session);
        }
        let [numbers, _] = &mut self.numbers;
        self.short.attach(session, numbers)
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
        &mut self,
        session: impl Into<Box<Session>>,
    ) -> Result<SessionHandle, Rejected<Box<Session>>> {
        let given = session.into();
        let [_, numbers] = &mut self.numbers;
        if let Some(long) = &mut self.long {
            return long.attach(given, numbers);
        }
        if let Err(reason) = self.short.check_open() {
            return Err(Rejected { value: given, reason });
        }
        match Lane::beside(&self.short, self.lanes, &self.settings) {
            Ok(long) => self.long.insert(long).attach(given, numbers),
            Err(_) => Err(Rejected { value: given, reason: QueueError::NoThread }),
        }
    }

    /// Detaches a session. Messages that were submitted before are served; then the worker drops
    /// the session with its key. False if the queue has no such session.
    ///
    /// # Errors
    ///
    /// [`QueueError`]; the session then stays attached.
    pub fn detach(&mut self, session: SessionHandle) -> Result<bool, QueueError> {
        let [short, long] = &mut self.numbers;
        match (&mut self.long, session.is_long()) {
            (Some(lane), true) => lane.detach(session, long),
            (None, true) => Ok(false),
            (_, false) => self.short.detach(session, short),
        }
    }

    /// Submits a message, and wakes the worker if it sleeps.
    ///
    /// # Errors
    ///
    /// [`QueueError`], with the message. All other errors are in the completion.
    #[inline]
    pub fn submit<N: AsRef<[u8]>>(
        &mut self,
        message: Message<N, B>,
    ) -> Result<Ticket, Rejected<Message<N, B>>> {
        match &mut self.long {
            Some(long) if message.session.is_long() => {
                long.submit(message).map(|number| Ticket(number << 1 | 1))
            }
            // Without such a class there is no such session either, which any worker reports.
            _ => self.short.submit(message).map(|number| Ticket(number << 1)),
        }
    }

    /// Submits messages until their class is full, wakes the worker once, and returns their number.
    /// No message is taken from the iterator for which there is no room. All of them must be for
    /// sessions of one class, that of the short operations.
    ///
    /// # Errors
    ///
    /// [`QueueError::Closed`] or [`QueueError::Forked`]; then no message was taken.
    #[inline]
    pub fn submit_many<N: AsRef<[u8]>>(
        &mut self,
        messages: &mut impl Iterator<Item = Message<N, B>>,
    ) -> Result<usize, QueueError> {
        self.short.submit_many(messages)
    }

    /// The same for sessions of [long operations](Self::attach_slow), and so for
    /// asymmetric keys.
    ///
    /// # Errors
    ///
    /// Same as [`submit_many`](Self::submit_many).
    pub fn submit_many_slow<N: AsRef<[u8]>>(
        &mut self,
        messages: &mut impl Iterator<Item = Message<N, B>>,
    ) -> Result<usize, QueueError> {
        match &mut self.long {
            Some(long) => long.submit_many(messages),
            // Without such a class there is no such session either, which any worker reports.
            None => self.short.submit_many(messages),
        }
    }

    /// The next completion; `None` if there is none yet. It never blocks.
    #[inline]
    pub fn poll(&mut self) -> Option<Completion<B>> {
        match self.look() {
            #[cfg(target_os = "linux")]
            None if self.descriptor.is_some() => self.look_once_more(),
            done => done,
        }
    }

    #[inline]
    fn look(&mut self) -> Option<Completion<B>> {
        match self.short.poll() {
            None => self.long.as_mut()?.poll(),
            done => done,
        }
    }

    /// A file descriptor for `poll`, `epoll` and the like. After [`poll`](Self::poll) has returned
    /// `None`, it becomes readable once there is a completion. Read nothing from it: call `poll`
    /// until that returns `None` again. It may become readable once without a completion; then
    /// `poll` returns `None` immediately.
    ///
    /// It lives as long as the queue, and is the same at each call. A worker writes to it once for
    /// all completions of a batch.
    ///
    /// # Errors
    ///
    /// The system could not create a descriptor.
    #[cfg(target_os = "linux")]
    pub fn descriptor(&mut self) -> io::Result<BorrowedFd<'_>> {
        let made = match self.descriptor.take() {
            Some(made) => made,
            None => Arc::new(descriptor::make()?),
        };
        self.short.wakes(&made);
        let made: &OwnedFd = self.descriptor.insert(made);
        Ok(made.as_fd())
    }

    /// Makes the descriptor readable at the next completion, unless that is already available.
    #[cfg(target_os = "linux")]
    #[cold]
    fn look_once_more(&mut self) -> Option<Completion<B>> {
        let Self { short, long, descriptor, .. } = self;
        let found = || short.has_news() || long.as_ref().is_some_and(Lane::has_news);
        if short.waits_at(descriptor.as_deref()?, found) {
            return None;
        }
        self.look()
    }

    /// The next completion. The thread waits for it; `None` if no message is in flight.
    pub fn wait(&mut self) -> Option<Completion<B>> {
        self.wait_until(None)
    }

    /// The same, for at most this long. `None` also if there is no completion by then.
    pub fn wait_for(&mut self, longest: Duration) -> Option<Completion<B>> {
        self.wait_until(std::time::Instant::now().checked_add(longest))
    }

    fn wait_until(&mut self, end: Option<std::time::Instant>) -> Option<Completion<B>> {
        loop {
            let done = self.look();
            if done.is_some() || self.in_flight() == 0 {
                return done;
            }
            if end.is_some_and(|end| std::time::Instant::now() >= end) {
                return None;
            }
            let Self { short, long, .. } = self;
            let found = || short.has_news() || long.as_ref().is_some_and(Lane::has_news);
            short.sleep(found, end);
            #[cfg(target_os = "linux")]
            if let Some(descriptor) = &self.descriptor {
                self.short.wakes(descriptor);
            }
        }
    }

    /// Cancels a message: if the worker has not taken it yet, it completes with
    /// [`MessageError::Cancelled`](super::MessageError::Cancelled). Otherwise nothing changes.
    pub fn cancel(&mut self, Ticket(ticket): Ticket) {
        match (&self.long, ticket & 1) {
            (Some(long), 1) => long.cancel(ticket >> 1),
            (None, 1) => {}
            _ => self.short.cancel(ticket >> 1),
        }
    }

    /// Closes the queue. Messages that the worker has not taken yet complete with
    /// [`MessageError::Closed`](super::MessageError::Closed); nothing more is taken. All
    /// completions are delivered as before.
    pub fn close(&mut self) {
        self.short.close();
        self.long.iter_mut().for_each(Lane::close);
    }

    /// The number of messages that were submitted and not returned; in a forked child 0.
    #[must_use]
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.short.in_flight() + self.long.as_ref().map_or(0, Lane::in_flight)
    }

    /// The most messages in flight, for each class of operations.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.settings.depth
    }
}

impl<B> fmt::Debug for WorkerQueue<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerQueue").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// A queue may be sent to another thread.
const _: () = {
    const fn sent<T: Send>() {}
    sent::<WorkerQueue<Vec<u8>>>();
};
