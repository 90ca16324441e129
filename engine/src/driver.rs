//! Drivers, which serve requests.

use core::fmt;

use lanecrypt_ciphers::{Algorithm, Error};

use crate::Jobs;

/// A driver's identifier for one of its sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct SessionId(pub u64);

/// Serves requests in place of this processor's software: a card, or another process, for example.
///
/// A driver gets whole batches: one virtual call for many requests. It may serve them in any order
/// and in parallel, on the calling thread or on others, and returns when all of them have an
/// outcome.
pub trait Driver: fmt::Debug + Send + Sync {
    /// The driver's name, by which [`Engine::session_on`](crate::Engine::session_on) finds it:
    /// ASCII in lower case, without spaces, different from the names of all other drivers, and
    /// always the same.
    fn name(&self) -> &str;

    /// Makes a session with this key.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], [`Error::WeakKey`], or [`Error::Unsupported`] if the driver does not
    /// serve the algorithm.
    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error>;

    /// Ends a session and wipes its key. It is called once for each session that was opened, on the
    /// thread that drops it.
    fn close(&self, session: SessionId);

    /// Serves each request and [settles](crate::Job::settle) it. All requests are of sessions of
    /// this driver. A request that is left without an outcome counts as [`Error::Unsupported`].
    ///
    /// If a message is not authentic ([`Error::Authentication`]), its output must be wiped. With
    /// any other error nothing must be written. A panic propagates to the caller. A request that
    /// has no outcome then must not be processed again, because it may have been sealed already.
    fn process(&self, jobs: Jobs<'_, '_>);
}
