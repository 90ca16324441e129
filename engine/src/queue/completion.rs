//! The results of queues: completions of messages, and messages that were rejected.

use core::fmt;

use lanecrypt_ciphers::Error;

use super::Message;

/// A message that a queue accepted, with its outcome and its buffer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Completion<B, E = MessageError> {
    /// The message's buffer.
    pub buffer: B,
    /// The message's [number](Message::with_user).
    pub user: u64,
    /// Whether the message has been served.
    pub outcome: Result<(), E>,
}

impl<B, E> Completion<B, E> {
    /// For Lanecrypt's other crates that serve messages.
    #[doc(hidden)]
    #[inline(always)]
    pub fn new(buffer: B, user: u64, outcome: Result<(), E>) -> Self {
        Self { buffer, user, outcome }
    }
}

/// The reason for which a message of a queue was not served.
///
/// The buffer is as it was submitted, except after [`Panicked`](Self::Panicked), and after
/// [`Error::Authentication`], which wipes the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MessageError {
    /// The operation was refused, with the error of the session's method of the same name.
    Refused(Error),
    /// The queue has no such session, or it was detached.
    UnknownSession,
    /// The message was cancelled.
    Cancelled,
    /// The queue was closed before the message was begun.
    Closed,
    /// A driver or the buffer's code panicked. The content of the buffer is unspecified. Do not
    /// submit the message again under the same nonce: it may have been sealed already.
    Panicked,
}

impl From<Error> for MessageError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::UnknownSession => f.pad("no such session in the queue"),
            Self::Cancelled => f.pad("cancelled"),
            Self::Closed => f.pad("the queue was closed"),
            Self::Panicked => f.pad("a driver panicked"),
        }
    }
}

impl core::error::Error for MessageError {}

/// The reason for which a queue rejected a message or a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueueError {
    /// The maximum number of messages is in flight: take completions first. For sessions: the
    /// worker has not yet processed others, or the queue has half a million of them.
    Full,
    /// The queue was closed.
    Closed,
    /// The system could not create a thread for [long operations](super::WorkerQueue::attach_slow).
    NoThread,
    /// The process is a child of the one that created the queue. Only the parent has the worker.
    Forked,
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Full => "the queue is full",
            Self::Closed => "the queue was closed",
            Self::NoThread => "no thread for long operations",
            Self::Forked => "the queue belongs to the parent process",
        })
    }
}

impl core::error::Error for QueueError {}

/// A rejected message or session, with the reason.
pub struct Rejected<T, E = QueueError> {
    /// What was not taken, as it was given.
    pub value: T,
    /// Why.
    pub reason: E,
}

impl<N, B> Rejected<Message<N, B>> {
    #[cold]
    #[inline(never)]
    pub(super) fn full(given: Message<N, B>) -> Self {
        Self { value: given, reason: QueueError::Full }
    }
}

impl<T, E: fmt::Debug> fmt::Debug for Rejected<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<T, E: fmt::Display> fmt::Display for Rejected<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<T, E: fmt::Debug + fmt::Display> core::error::Error for Rejected<T, E> {}
