//! The client.

mod calls;
mod channel;
mod connection;
mod control;
mod futures;
mod in_flight;
mod parts;
mod remote;
mod session;
mod sessions;
mod settings;
mod watch;
mod window;

use core::fmt;
use core::time::Duration;
use std::collections::VecDeque;
use std::path::Path;

use self::channel::{ASYMMETRIC, Channel, Done};
pub use self::futures::{AsyncClient, CompletionFuture};
use self::in_flight::InFlight;
pub use self::remote::Remote;
pub use self::session::Session;
use self::sessions::sessions;
pub use self::settings::Settings;
use self::window::Owner;
use crate::{Completion, ConnectError, Error, Message, Rejected, Statistics, Ticket};

/// A connection to a daemon, for one thread at a time.
///
/// Calls for one message wait for the answer. [`submit`](Self::submit) takes messages with their
/// buffers, as the engine's queues do, and [`poll`](Self::poll) and [`wait`](Self::wait) return
/// them in the order in which the daemon completes them.
///
/// If the daemon ends, every call returns [`Error::Disconnected`], within 100 ms for those that
/// wait. A new connection needs new sessions.
pub struct Client<B = Vec<u8>> {
    channel: Channel,
    /// The messages in flight, by the lowest bits of their numbers; long operations are separate.
    kept: [Box<[Option<InFlight<B>>]>; 2],
    /// Messages that completed while another one was waited for.
    done: VecDeque<Completion<B>>,
}

impl<B> Client<B> {
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
        let [depth, _] = channel.depths();
        let kept = channel.depths().map(|depth| (0..depth).map(|_| None).collect());
        Ok(Self { channel, kept, done: VecDeque::with_capacity(depth) })
    }

    sessions!((mut) channel.connection());

    /// The daemon's statistics: all of them for its own user and root, and for other users the
    /// numbers of their own clients, sessions and keys.
    ///
    /// # Errors
    ///
    /// [`ConnectError::TimedOut`] if the daemon does not answer within this time; [`ConnectError`].
    pub fn statistics(
        path: impl AsRef<Path>,
        within: Duration,
    ) -> Result<Statistics, ConnectError> {
        connection::statistics(path.as_ref(), within)
    }

    /// The number of messages that were submitted and not returned.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.channel.in_flight() + self.done.len()
    }

    /// The length of the arena in bytes: no request is longer, with nonce, associated data and tag.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.channel.longest()
    }

    /// The most messages in flight.
    #[must_use]
    pub fn depth(&self) -> usize {
        let [depth, _] = self.channel.depths();
        depth
    }
}

impl<B: AsMut<[u8]>> Client<B> {
    /// Submits a message. The daemon sees it at the next [`flush`](Self::flush),
    /// [`poll`](Self::poll) or [`wait`](Self::wait).
    ///
    /// # Errors
    ///
    /// [`Error`], with the message. Errors of the daemon are in the completion.
    #[inline]
    pub fn submit<N: AsRef<[u8]>>(
        &mut self,
        message: Message<N, B>,
    ) -> Result<Ticket, Rejected<Message<N, B>>> {
        let kept = in_flight::put(&mut self.channel, message, Owner::Message)?;
        let number = kept.number;
        if let Some(place) = self.place(number) {
            *place = Some(kept);
        }
        Ok(Ticket(number))
    }

    /// Publishes the submitted messages to the daemon, and wakes it if it sleeps.
    pub fn flush(&mut self) {
        if self.channel.check_usable().is_ok() {
            self.channel.publish();
        }
    }

    /// A completion, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Disconnected`] if the daemon has ended: [`abandoned`](Self::take_abandoned) returns
    /// the messages that it did not complete. [`Error::Forked`].
    #[inline]
    pub fn poll(&mut self) -> Result<Option<Completion<B>>, Error> {
        // A child shares the rings with its parent, which must not see the child's counters.
        self.channel.connection().ensure_open()?;
        if let Some(done) = self.done.pop_front() {
            return Ok(Some(done));
        }
        if self.channel.in_flight() == 0 {
            return Ok(None);
        }
        self.channel.publish();
        match self.channel.next()? {
            Some(done) => self.finish(&done).map(Some),
            None => Ok(None),
        }
    }

    /// Waits for a completion; `None` if nothing is in flight.
    ///
    /// # Errors
    ///
    /// Same as [`poll`](Self::poll).
    #[inline]
    pub fn wait(&mut self) -> Result<Option<Completion<B>>, Error> {
        loop {
            if let Some(done) = self.poll()? {
                return Ok(Some(done));
            }
            if self.channel.in_flight() == 0 {
                return Ok(None);
            }
            self.channel.check_usable()?;
            self.channel.wait()?;
        }
    }

    /// After the connection has ended: a message without an answer, with the outcome
    /// [`Error::Disconnected`]. It may have been served.
    pub fn take_abandoned(&mut self) -> Option<Completion<B>> {
        if let Some(done) = self.done.pop_front() {
            return Some(done);
        }
        if self.channel.check_usable() != Err(Error::Disconnected) {
            return None;
        }
        self.kept
            .iter_mut()
            .flatten()
            .find_map(Option::take)
            .map(|kept| kept.completed(Err(Error::Disconnected)))
    }

    /// The completion of a message that has been answered.
    #[inline]
    fn finish(&mut self, done: &Done) -> Result<Completion<B>, Error> {
        let kept = self.place(done.number).and_then(Option::take);
        let mut kept = kept.ok_or(Error::Malformed)?;
        let outcome = kept.read(self.channel.memory(), done.pending.offset, done.status);
        Ok(kept.completed(outcome))
    }

    #[inline]
    fn place(&mut self, number: u64) -> Option<&mut Option<InFlight<B>>> {
        let [short, long] = &mut self.kept;
        let kept = if number & ASYMMETRIC == 0 { short } else { long };
        // Only bits above the index are truncated.
        #[expect(clippy::cast_possible_truncation, reason = "only the lowest bits count")]
        let at = number as usize & (kept.len() - 1);
        kept.get_mut(at)
    }
}

impl<B> fmt::Debug for Client<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("channel", &self.channel).finish_non_exhaustive()
    }
}

/// A client may be sent to another thread.
const _: () = {
    const fn sent<T: Send>() {}
    sent::<Client>();
};
