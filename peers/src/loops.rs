//! The measured loops over messages, written once for every cipher.

use crate::{Direction, Failed};

/// The way messages are passed to a cipher.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Run<'k> {
    /// The total number of requests: the messages in order, starting again from the first if
    /// necessary.
    pub requests: usize,
    /// The number of messages that the API gets before the first result is needed: in one call, or
    /// in several and a last one that waits for all. The last batch of a round through the
    /// messages, and the last of all, may be shorter. `None` leaves the number to the API. An API
    /// that takes one message at a time ignores it.
    pub batch: Option<usize>,
    /// Keys: each message sets the next one, starting again from the first if necessary. Without
    /// them, sessions have their own keys.
    pub keys: Option<&'k [&'k [u8]]>,
}

impl Run<'_> {
    /// This many requests under the keys of the sessions.
    #[must_use]
    pub const fn of(requests: usize) -> Self {
        Self { requests, batch: None, keys: None }
    }
}

impl<'k> Run<'k> {
    /// The same in batches of this many messages.
    #[must_use]
    pub const fn in_batches(self, batch: usize) -> Self {
        Self { batch: Some(batch), ..self }
    }

    /// The same, each message with a key of its own, if there are `keys`.
    #[must_use]
    pub const fn with_keys<'n>(self, keys: Option<&'n [&'n [u8]]>) -> Run<'n> {
        Run { requests: self.requests, batch: self.batch, keys }
    }
}

/// Runs messages of one kind, in one or more sessions, each with its own key.
///
/// The loops are inside the implementation, so that there is one dynamic call for each batch and
/// only the request itself inside the loop.
pub trait Messages<M>: Send {
    /// Makes the requests of `run`. Each message is served by its session, with one call, or one
    /// for each of its parts, depending on the API. It ends at the first request that fails.
    ///
    /// # Errors
    ///
    /// [`Failed`] if a request or a key is refused, there is no such session, or there are no
    /// messages or no keys. An API with batches also refuses batches of zero.
    fn messages(&mut self, messages: &mut [M], run: Run<'_>) -> Result<(), Failed>;
}

/// A message with the index of its session.
pub trait Addressed {
    /// The index of the session, counted from zero.
    fn session(&self) -> usize;
}

/// Sessions in one direction, at least one, that differ only in their keys.
pub(crate) struct Loops<S> {
    pub(crate) sessions: Vec<S>,
    pub(crate) direction: Direction,
}

impl<S> Loops<S> {
    pub(crate) fn new(direction: Direction, sessions: Vec<S>) -> Option<Self> {
        (!sessions.is_empty()).then_some(Self { sessions, direction })
    }

    pub(crate) fn first(&mut self) -> Result<&mut S, Failed> {
        self.sessions.first_mut().ok_or(Failed)
    }

    /// One `call` for each message, after a `rekey` if messages bring their keys.
    #[inline]
    pub(crate) fn each<M: Addressed>(
        &mut self,
        messages: &mut [M],
        run: Run<'_>,
        rekey: impl Fn(&mut S, &[u8]) -> Result<(), Failed>,
        call: impl Fn(&mut S, &mut M) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let sessions = self.sessions.as_mut_slice();
        let Some(keys) = run.keys else {
            return rounds(messages.len(), run.requests, |count| {
                for message in &mut messages[..count] {
                    call(sessions.get_mut(message.session()).ok_or(Failed)?, message)?;
                }
                Ok(())
            });
        };
        let mut keys = keys.iter().cycle();
        rounds(messages.len(), run.requests, |count| {
            for message in &mut messages[..count] {
                let session = sessions.get_mut(message.session()).ok_or(Failed)?;
                rekey(session, keys.next().ok_or(Failed)?)?;
                call(session, message)?;
            }
            Ok(())
        })
    }
}

/// Divides `requests` into rounds through `len` things. It calls `round` with the number of things,
/// counted from the first, that the round takes.
///
/// # Errors
///
/// [`Failed`] if `round` failed, or if there are requests but no things.
#[inline]
pub fn rounds(
    len: usize,
    requests: usize,
    mut round: impl FnMut(usize) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut left = requests;
    while left > 0 {
        let count = left.min(len);
        if count == 0 {
            return Err(Failed);
        }
        round(count)?;
        left -= count;
    }
    Ok(())
}
