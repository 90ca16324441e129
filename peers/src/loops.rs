//! The measured loops over messages, written once for every cipher.

use crate::{Direction, Failed};

/// How messages are handed to a cipher.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Run<'k> {
    /// Requests in all: the messages in their order, and from the first again as often as needed.
    pub requests: usize,
    /// Messages that the API is handed before the first result is needed: in one call, or in several
    /// and a last one that waits for all. The last batch of a round through the messages, and the
    /// last of all, may be shorter. `None` leaves it to the API, and one that takes one message at
    /// a time does so in any case.
    pub batch: Option<usize>,
    /// Keys of which each message sets the next, from the first again as often as needed. Without,
    /// sessions have their own.
    pub keys: Option<&'k [&'k [u8]]>,
}

impl Run<'_> {
    /// So many requests under the keys of the sessions.
    #[must_use]
    pub const fn of(requests: usize) -> Self {
        Self { requests, batch: None, keys: None }
    }
}

impl<'k> Run<'k> {
    /// The same in batches of so many messages.
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

/// What runs messages of one kind, in one or more sessions that have each a key of their own.
///
/// The loops are inside the implementation, so that a dynamic call happens once a batch and nothing
/// but the request itself is inside the loop.
pub trait Messages<M>: Send {
    /// Makes the requests that `run` asks for. Each message goes to its session, and is one call,
    /// or one for each part of it, as the API has it. Ends at the first request that fails.
    ///
    /// # Errors
    ///
    /// [`Failed`] when a request or a key is refused, when there is no such session, and when there
    /// are no messages or no keys; an API that knows batches also refuses those of zero.
    fn messages(&mut self, messages: &mut [M], run: Run<'_>) -> Result<(), Failed>;
}

/// What belongs to a session, counted from zero.
pub trait Addressed {
    /// Which one it is.
    fn session(&self) -> usize;
}

/// Sessions that differ in their keys only, one at least, in one direction.
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

    /// One `call` for each message, behind a `rekey` where messages bring their keys.
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

/// Divides `requests` into rounds through `len` things: calls `round` with how many of them, from
/// the first, to go through.
///
/// # Errors
///
/// [`Failed`] as `round`, or when there are requests but no things.
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
