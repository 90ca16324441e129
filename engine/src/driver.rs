//! Who serves requests.

use core::fmt;

use lanecrypt_ciphers::{Algorithm, Error};

use crate::Jobs;

/// What a [`Driver`] calls a session of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct SessionId(pub u64);

/// Who serves requests besides the software of this processor: a card, another process.
///
/// A driver gets whole batches: one virtual call for many requests. It may serve them in any order
/// and side by side, on the thread that calls or on others, and comes back when all of them have an
/// outcome.
pub trait Driver: fmt::Debug + Send + Sync {
    /// Its name, by which [`Engine::open_on`](crate::Engine::open_on) finds it: ASCII in lower case,
    /// without spaces, not that of another driver, and always the same.
    fn name(&self) -> &str;

    /// Makes a session with this key.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], [`Error::WeakKey`], or [`Error::Unsupported`] if the driver does not
    /// serve the algorithm.
    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error>;

    /// Ends a session and wipes what it held. It is called once for each session that was opened,
    /// on whatever thread drops it.
    fn close(&self, session: SessionId);

    /// Serves each request, which is of a session of this driver, and
    /// [settles](crate::Job::settle) it. One that the driver leaves without an outcome counts as
    /// [`Error::Unsupported`].
    ///
    /// The output of a message that is not authentic ([`Error::Authentication`]) must be wiped, and
    /// where there is another error nothing must be written. A panic goes on to whoever called; what
    /// has no outcome then must not be processed again, for it may have been sealed already.
    fn process(&self, jobs: Jobs<'_, '_>);
}
