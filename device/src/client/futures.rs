//! A client whose completions are futures.

mod completion_future;
mod slots;
mod waiter;

use core::fmt;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

pub use self::completion_future::CompletionFuture;
use self::slots::Slots;
use self::waiter::{Shared, Waiter};
use super::channel::Channel;
use super::connection::Connection;
use super::sessions::sessions;
use super::watch::Watch;
use super::{Session, Settings};
use crate::{Completion, ConnectError, Error, Message, Rejected};

/// A connection to a daemon, whose completions are futures.
///
/// Any number of tasks share it, on any executor, as they share an
/// [`AsyncQueue`](lanecrypt_engine::queue::AsyncQueue) of the engine. A separate thread waits for
/// the daemon and wakes the tasks; while nothing is in flight it sleeps.
///
/// A message is published to the daemon when it is submitted, so it is served even if its future is
/// not polled. Dropping a future drops its message's buffer, immediately or when the daemon has
/// completed the message.
///
/// If the daemon ends, all messages in flight complete with [`Error::Disconnected`] within 100 ms.
///
/// It is behind a lock, which is held for some hundred nanoseconds. Opening and closing sessions
/// block the thread until the daemon has answered, but not other tasks: some microseconds for
/// ciphers, milliseconds for RSA keys, and up to minutes for those that the daemon generates.
///
/// ```no_run
/// use lanecrypt_device::{AsyncClient, Message};
/// use lanecrypt_engine::Algorithm;
///
/// async fn seal(client: &AsyncClient) -> Result<(), Box<dyn std::error::Error>> {
///     let session = client.generated_session(Algorithm::AES_128_GCM)?;
///     let done = client.serve(Message::seal(session, [0; 12], vec![7; 100 + 16])).await?;
///     done.outcome?;
///     Ok(())
/// }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = AsyncClient::connect("/run/lanecrypt.sock")?;
/// # let mut sealing = Box::pin(seal(&client));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # while sealing.as_mut().poll(&mut context).is_pending() {}
/// # Ok(())
/// # }
/// ```
pub struct AsyncClient<B = Vec<u8>> {
    shared: Arc<Shared<B>>,
    connection: Arc<Connection>,
    depth: usize,
    longest: usize,
    /// The thread; `None` once it has been joined.
    waiter: Option<JoinHandle<()>>,
}

impl<B: AsMut<[u8]> + Send + 'static> AsyncClient<B> {
    /// Connects to the daemon whose socket is at this path.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]
    pub fn connect(path: impl AsRef<Path>) -> Result<Self, ConnectError> {
        Self::connect_with(path, &Settings::default())
    }

    /// The same with these settings.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]
    pub fn connect_with(path: impl AsRef<Path>, settings: &Settings) -> Result<Self, ConnectError> {
        let channel = Channel::connect(path.as_ref(), settings)?;
        let connection = channel.connection().clone();
        let ([depth, _], longest) = (channel.depths(), channel.longest());
        let memory = channel.memory().clone();
        let watch = Watch::new(memory.clone(), settings);
        let shared = Arc::new(Shared::new(Slots::new(channel, depth), memory));
        let waiter = Waiter::new(shared.clone(), watch);
        let thread = thread::Builder::new().name("lanecrypt-device".into());
        let thread = thread.spawn(move || waiter.run()).map_err(ConnectError::System)?;
        Ok(Self { shared, connection, depth, longest, waiter: Some(thread) })
    }

    /// Submits a message and waits for its completion; before that for room, if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Disconnected`], [`Error::Forked`], [`Error::TooLong`], or [`Error::Refused`] with
    /// [`AadLength`](lanecrypt_engine::Error::AadLength): the message was rejected. All other
    /// errors are in the completion.
    pub async fn serve<N: AsRef<[u8]>>(
        &self,
        message: Message<N, B>,
    ) -> Result<Completion<B>, Error> {
        let mut message = Some(message);
        let taken = poll_fn(|context| {
            let Some(given) = message.take() else { return Poll::Pending };
            match self.take(given, Some(context.waker())) {
                Ok(served) => Poll::Ready(Ok(served)),
                Err(Rejected { value: given, reason: Error::Full }) => {
                    message = Some(given);
                    Poll::Pending
                }
                Err(Rejected { reason, .. }) => Poll::Ready(Err(reason)),
            }
        });
        taken.await?.await
    }

    /// Submits a message to the daemon, if there is room now. The future is its completion.
    ///
    /// # Errors
    ///
    /// [`Error`], with the message. Errors of the daemon are in the completion.
    pub fn submit<N: AsRef<[u8]>>(
        &self,
        message: Message<N, B>,
    ) -> Result<CompletionFuture<'_, B>, Rejected<Message<N, B>>> {
        self.take(message, None)
    }

    /// The same; if there is no room, the task is woken once there is more.
    fn take<N: AsRef<[u8]>>(
        &self,
        message: Message<N, B>,
        task: Option<&Waker>,
    ) -> Result<CompletionFuture<'_, B>, Rejected<Message<N, B>>> {
        if let Err(reason) = self.connection.check_usable() {
            return Err(Rejected { value: message, reason });
        }
        let mut places = self.shared.lock();
        match places.submit(message) {
            Ok(place) => {
                self.shared.begins(places);
                Ok(CompletionFuture::new(self, place))
            }
            Err(not_taken) => {
                if let Some(task) = task.filter(|_| not_taken.reason == Error::Full) {
                    places.waits(task);
                }
                Err(not_taken)
            }
        }
    }

    /// Waits until there is room, for a short message at least. Another task may take it first.
    ///
    /// # Errors
    ///
    /// [`Error::Disconnected`] or [`Error::Forked`].
    pub async fn ready(&self) -> Result<(), Error> {
        poll_fn(|context| {
            if let Err(reason) = self.connection.check_usable() {
                return Poll::Ready(Err(reason));
            }
            let mut places = self.shared.lock();
            if places.has_room() {
                return Poll::Ready(Ok(()));
            }
            places.waits(context.waker());
            Poll::Pending
        })
        .await
    }
}

impl<B> AsyncClient<B> {
    sessions!(() connection);

    /// The number of messages that were submitted and whose futures have not completed or been
    /// dropped; in a forked child 0.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        if self.connection.ensure_open().is_err() {
            return 0;
        }
        self.shared.lock().taken()
    }

    /// The most messages in flight.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The length of the arena in bytes: no request is longer, with nonce, associated data and tag.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }
}

impl<B> Drop for AsyncClient<B> {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else { return };
        if self.connection.ensure_open().is_err() {
            // Only the parent has the thread.
            core::mem::forget(waiter);
            return;
        }
        self.shared.close();
        // It does not panic; if it did, there is nothing more to do.
        let _ = waiter.join();
    }
}

impl<B> fmt::Debug for AsyncClient<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncClient").field("depth", &self.depth).finish_non_exhaustive()
    }
}

/// Tasks of any threads share it.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<AsyncClient>();
    shared::<CompletionFuture<'_, Vec<u8>>>();
};
