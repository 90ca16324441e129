//! The completion of a message, as a future.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::AsyncClient;
use crate::{Completion, Error};

/// The completion of a message of an [`AsyncClient`].
///
/// Its error is [`Error::Forked`], in a child of the process that connected. Dropping it drops the
/// message's buffer; the message is served anyway.
#[must_use = "dropping it drops the answer"]
pub struct CompletionFuture<'c, B> {
    client: &'c AsyncClient<B>,
    place: usize,
    is_answered: bool,
}

impl<'c, B> CompletionFuture<'c, B> {
    pub(super) fn new(client: &'c AsyncClient<B>, place: usize) -> Self {
        Self { client, place, is_answered: false }
    }
}

impl<B: AsMut<[u8]>> Future for CompletionFuture<'_, B> {
    type Output = Result<Completion<B>, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.is_answered {
            return Poll::Pending;
        }
        if let Err(error) = self.client.connection.ensure_open() {
            return Poll::Ready(Err(error));
        }
        let mut places = self.client.shared.lock();
        // Available completions need not wait for the thread.
        let answered = places.look();
        let polled = places.poll(self.place, context.waker());
        drop(places);
        answered.wake();
        match polled {
            Poll::Ready((done, answered)) => {
                self.is_answered = true;
                answered.wake();
                Poll::Ready(Ok(done))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<B> Drop for CompletionFuture<'_, B> {
    fn drop(&mut self) {
        if self.is_answered || self.client.connection.ensure_open().is_err() {
            return;
        }
        let (answered, dropped) = self.client.shared.lock().abandon(self.place);
        // The code of buffers and of the executor runs without the lock.
        drop(dropped);
        answered.wake();
    }
}

impl<B> fmt::Debug for CompletionFuture<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionFuture")
            .field("is_answered", &self.is_answered)
            .finish_non_exhaustive()
    }
}
