//! Drivers, which serve requests.

use core::fmt;
use core::time::Duration;

use lanecrypt_ciphers::{Algorithm, Error};

use super::SessionId;
use super::job::Jobs;
#[cfg(feature = "_asymmetric")]
use crate::AsymmetricKey;
use crate::Operation;

/// Requests of one algorithm and operation, for which a driver computes the [cost](Driver::cost).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// The algorithm of all requests.
    pub algorithm: Algorithm,
    /// The operation of all requests.
    pub operation: Operation,
    /// The number of requests, at least 1.
    pub messages: usize,
    /// The total length of their data and associated data in bytes.
    pub bytes: usize,
}

impl Load {
    /// This number of requests of one algorithm and operation, with this total number of bytes.
    #[must_use]
    pub const fn new(
        algorithm: Algorithm,
        operation: Operation,
        messages: usize,
        bytes: usize,
    ) -> Self {
        Self { algorithm, operation, messages, bytes }
    }
}

/// Serves requests instead of this processor's software: a card, or another process, for example.
///
/// A driver receives whole batches: one virtual call for many requests. It may serve them in any
/// order and in parallel, on the calling thread or on others, and returns when all of them have an
/// outcome.
pub trait Driver: fmt::Debug + Send + Sync {
    /// The driver's name, by which [`Engine::session_on`](crate::Engine::session_on) finds it:
    /// ASCII in lower case, without spaces, different from the names of all other drivers, and
    /// always the same.
    fn name(&self) -> &str;

    /// Opens a session with this key.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], [`Error::WeakKey`], or [`Error::Unsupported`] if the driver does not
    /// serve the algorithm.
    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error>;

    /// Opens a session with this asymmetric key. Its requests have the
    /// [operations](AsymmetricKey::operations) of the key: sign, verify, agree.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], or [`Error::Unsupported`] if the driver does not serve such keys,
    /// which is the default. More kinds of keys may come: refuse those that you do not know.
    #[cfg(feature = "_asymmetric")]
    #[cfg_attr(docsrs, doc(cfg(any(feature = "pk", feature = "rsa"))))]
    fn open_asymmetric(&self, key: &AsymmetricKey) -> Result<SessionId, Error> {
        let _ = key;
        Err(Error::Unsupported)
    }

    /// Closes a session and wipes its key. It is called once for each open session, on the thread
    /// that drops it.
    fn close(&self, session: SessionId);

    /// Serves each request and [settles](crate::Job::settle) it. All requests are of sessions of
    /// this driver. A request that is left without an outcome counts as [`Error::Unsupported`].
    ///
    /// If a message is not authentic ([`Error::Authentication`]), its output must be wiped. With
    /// any other error nothing must be written. A panic propagates to the caller. A request that
    /// has no outcome then must not be processed again, because it may have been sealed already.
    ///
    /// [`Error::DriverFailed`] means that the driver has failed, not the request, whose data may be
    /// destroyed.
    fn process(&self, jobs: Jobs<'_, '_>);

    /// The time from handing these requests over, all at once, until the last is done, for an idle
    /// driver. `None` if it is not known.
    ///
    /// The engine does not use it. A driver that divides batches among others, such as those of
    /// `lanecrypt-accelerators`, calls it for every batch, so it should compute and not measure.
    fn cost(&self, load: Load) -> Option<Duration> {
        let _ = load;
        None
    }

    /// Whether the calling thread can serve other requests meanwhile: see
    /// [`process_async`](Self::process_async). The answer must never change.
    fn is_asynchronous(&self) -> bool {
        false
    }

    /// Same as [`process`](Self::process), but it calls `meanwhile` when the requests have been
    /// handed over, and waits for them afterwards. `meanwhile` serves other requests, on the
    /// calling thread, and does not panic.
    ///
    /// The engine does not call it. A driver that divides batches among others does, if the driver
    /// [is asynchronous](Self::is_asynchronous) and its [cost](Self::cost) is known.
    fn process_async(&self, jobs: Jobs<'_, '_>, meanwhile: &mut dyn FnMut()) {
        self.process(jobs);
        meanwhile();
    }
}
