//! A queue whose completions are futures.

mod places;
mod served;

use core::fmt;
use core::future::poll_fn;
use core::sync::atomic::Ordering;
use core::task::Poll;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use lanecrypt_kernels::fork::Generation;

use self::places::{Places, State};
pub use self::served::Served;
use super::jobs::Jobs;
use super::service::Service;
use super::worker::shared::Shared;
use super::worker::thread::Worker;
use super::{Attached, Completion, Message, NotTaken, QueueError, Settings};
use crate::{Engine, Session};

/// A queue with a worker, whose completions are futures.
///
/// Any number of tasks share it, on any executor. Messages of all of them that come together are
/// served as one batch, as in a [`WorkerQueue`](super::WorkerQueue). The worker wakes the tasks.
///
/// Dropping a future cancels its message if the worker has not taken it yet; otherwise the message
/// is served, and its buffer dropped. For operations that take long use another queue.
///
/// It is behind a lock, which is held for some hundred nanoseconds. It allocates when it is made,
/// when sessions are attached, and when more tasks wait for room than did before.
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
    places: Arc<Places<B>>,
    shared: Arc<Shared>,
    /// The worker; `None` once it has been joined.
    thread: Option<JoinHandle<()>>,
    /// The process that the worker lives in.
    process: Generation,
    depth: usize,
}

impl<B: AsMut<[u8]> + Send + 'static> AsyncQueue<B> {
    /// A queue for up to `depth` messages in flight, and its worker.
    ///
    /// # Errors
    ///
    /// The system gave no thread.
    pub fn new(engine: &Engine, depth: usize) -> io::Result<Self> {
        Self::with(engine, Settings::new(depth))
    }

    /// The same with these settings.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    pub fn with(engine: &Engine, settings: Settings) -> io::Result<Self> {
        // The places have numbers of 32 bits.
        let depth = settings.depth.min(1 << 24);
        let settings = Settings { depth, ..settings };
        let (jobs, taken) = Jobs::new(depth);
        let shared = Arc::new(Shared::new(depth));
        let places = Arc::new(Places::new(jobs, depth));
        let service = Service::new(*engine.costs().lanes(), depth);
        let outlet = places::Outlet::new(places.clone(), service.most());
        let worker = Worker::new(taken, outlet, shared.clone(), service, &settings);
        let thread = thread::Builder::new().name("lanecrypt-queue".into());
        let thread = Some(thread.spawn(move || worker.run())?);
        Ok(Self { places, shared, thread, process: Generation::now(), depth })
    }
}

impl<B> AsyncQueue<B> {
    /// Attaches a session, which messages name from now on. A session that
    /// [`boxed_session`](Engine::boxed_session) made stays in its place.
    ///
    /// # Errors
    ///
    /// [`QueueError`], with the session.
    pub fn attach(
        &self,
        session: impl Into<Box<Session>>,
    ) -> Result<Attached, NotTaken<Box<Session>>> {
        let given = session.into();
        if let Err(reason) = self.is_here() {
            return Err(NotTaken { given, reason });
        }
        let attached = self.places.lock().attach(given);
        self.ring();
        attached
    }

    /// Detaches a session. Messages that were submitted before are served; then the worker drops the
    /// session, and with it the key. False if the queue has no such session.
    ///
    /// # Errors
    ///
    /// [`QueueError`]; the session then stays attached.
    pub fn detach(&self, session: Attached) -> Result<bool, QueueError> {
        self.is_here()?;
        let detached = self.places.lock().detach(session);
        self.ring();
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
        loop {
            match self.submit(message) {
                Ok(served) => return served.await,
                Err(NotTaken { given, reason: QueueError::Full }) => message = given,
                Err(NotTaken { reason, .. }) => return Err(reason),
            }
            self.ready().await?;
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
    ) -> Result<Served<'_, B>, NotTaken<Message<N, B>>> {
        if let Err(reason) = self.is_here() {
            return Err(NotTaken { given: message, reason });
        }
        let (place, number) = self.places.lock().submit(message)?;
        self.ring();
        Ok(Served::new(self, place, number))
    }

    /// Waits until the queue has room. Another task may take it first.
    ///
    /// # Errors
    ///
    /// [`QueueError::Closed`] or [`QueueError::Forked`].
    pub async fn ready(&self) -> Result<(), QueueError> {
        poll_fn(|context| {
            if let Err(reason) = self.is_here() {
                return Poll::Ready(Err(reason));
            }
            self.places.lock().has_room(context.waker())
        })
        .await
    }

    /// Closes the queue. Messages that the worker has not taken yet complete with
    /// [`MessageError::Closed`](super::MessageError::Closed); nothing more is taken.
    pub fn close(&self) {
        if self.is_here().is_err() {
            return;
        }
        let mut state = self.places.lock();
        state.close();
        // Release: the worker sees all that was submitted before.
        self.shared.closed.store(true, Ordering::Release);
        drop(state);
        self.ring();
        self.places.wake_waiting();
    }

    /// The number of messages that have been submitted and whose futures have not been answered or
    /// dropped; in a forked child 0.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        if self.is_here().is_err() {
            return 0;
        }
        self.depth - self.places.lock().free()
    }

    /// The most messages in flight.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Whether the process is that of the worker.
    fn is_here(&self) -> Result<(), QueueError> {
        if self.process.is_current() { Ok(()) } else { Err(QueueError::Forked) }
    }

    /// The places, of which a forked child leaves its hands: the lock may never be free there.
    fn places(&self) -> Option<std::sync::MutexGuard<'_, State<B>>> {
        self.is_here().ok().map(|()| self.places.lock())
    }

    /// Wakes the worker if it sleeps.
    fn ring(&self) {
        if self.shared.worker.is_to_ring()
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
    }
}

impl<B> Drop for AsyncQueue<B> {
    fn drop(&mut self) {
        self.close();
        let Some(thread) = self.thread.take() else { return };
        if self.process.is_current() {
            // The worker does not panic; if it did, there is nothing more to do.
            let _ = thread.join();
        } else {
            // There is no such thread here.
            core::mem::forget(thread);
        }
    }
}

impl<B> fmt::Debug for AsyncQueue<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncQueue").field("depth", &self.depth).finish_non_exhaustive()
    }
}

/// Tasks of any threads share it.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<AsyncQueue<Vec<u8>>>();
    shared::<Served<'_, Vec<u8>>>();
};
