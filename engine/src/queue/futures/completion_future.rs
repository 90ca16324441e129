//! The completion of a message, as a future.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::super::{Completion, QueueError};
use super::AsyncQueue;

/// The completion of a message of an [`AsyncQueue`].
///
/// Its error is [`QueueError::Forked`], in a child of the process that created the queue. Dropping
/// it cancels the message, or drops its buffer when it has been served.
#[must_use = "dropping it cancels the message"]
pub struct CompletionFuture<'q, B> {
    queue: &'q AsyncQueue<B>,
    place: u64,
    number: u64,
    is_long: bool,
    answered: bool,
}

impl<'q, B> CompletionFuture<'q, B> {
    pub(super) fn new(queue: &'q AsyncQueue<B>, place: u64, number: u64, is_long: bool) -> Self {
        Self { queue, place, number, is_long, answered: false }
    }

    /// Cancels the message: if the worker has not taken it yet, it completes with
    /// [`MessageError::Cancelled`](super::super::MessageError::Cancelled). Otherwise nothing
    /// changes.
    pub fn cancel(&self) {
        if !self.answered
            && self.queue.ensure_not_forked().is_ok()
            && let Some(worker) = self.queue.hand(self.is_long)
        {
            worker.shared.cancel(self.number);
        }
    }
}

impl<B> Future for CompletionFuture<'_, B> {
    type Output = Result<Completion<B>, QueueError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.answered {
            return Poll::Pending;
        }
        let (polled, has_waiting) = match self.queue.places() {
            None => return Poll::Ready(Err(QueueError::Forked)),
            Some(mut state) => (state.poll(self.place, context.waker()), state.has_waiting()),
        };
        self.answered = polled.is_ready();
        if self.answered && has_waiting {
            self.queue.places.wake_waiting();
        }
        polled.map(Ok)
    }
}

impl<B> Drop for CompletionFuture<'_, B> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        self.cancel();
        let Some(mut state) = self.queue.places() else { return };
        let done = state.abandon(self.place);
        // Code of buffers and of the executor runs without the lock.
        drop(state);
        if done.is_some() {
            self.queue.places.wake_waiting();
        }
    }
}

impl<B> fmt::Debug for CompletionFuture<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionFuture").field("answered", &self.answered).finish_non_exhaustive()
    }
}
