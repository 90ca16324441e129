//! Drivers, which serve requests.

use core::fmt;
use core::time::Duration;

use lanecrypt_ciphers::{Algorithm, Error};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::Padding;

use super::SessionId;
use super::job::Jobs;
use crate::Operation;
#[cfg(feature = "rsa")]
use crate::RsaKey;

/// Requests of one algorithm and operation, by which a driver says [what they
/// cost](Driver::cost).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// The algorithm of all requests.
    pub algorithm: Algorithm,
    /// The operation of all requests.
    pub operation: Operation,
    /// The number of requests, at least 1.
    pub messages: usize,
    /// The length of their data and associated data, all together, in bytes.
    pub bytes: usize,
}

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

    /// Makes a session with an RSA key, for signatures with this padding. Its requests
    /// [sign](crate::Operation::Sign) and [verify](crate::Operation::Verify); without a private key
    /// they only verify.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], or [`Error::Unsupported`] if the driver does not serve such keys, which
    /// is what it does if a driver does not say otherwise.
    #[cfg(feature = "rsa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
    fn open_rsa(&self, key: &RsaKey, padding: Padding) -> Result<SessionId, Error> {
        let _ = (key, padding);
        Err(Error::Unsupported)
    }

    /// Ends a session and wipes its key. It is called once for each session that was opened, on the
    /// thread that drops it, or that [readmits](crate::Engine::readmit) the driver.
    fn close(&self, session: SessionId);

    /// Serves each request and [settles](crate::Job::settle) it. All requests are of sessions of
    /// this driver. A request that is left without an outcome counts as [`Error::Unsupported`].
    ///
    /// If a message is not authentic ([`Error::Authentication`]), its output must be wiped. With
    /// any other error nothing must be written. A panic propagates to the caller. A request that
    /// has no outcome then must not be processed again, because it may have been sealed already.
    ///
    /// [`Error::DriverFailed`] says that the driver itself has failed, not the request, whose data
    /// may be destroyed. With [migration](crate::Engine::with_migration) such a request is given to
    /// another driver, and so is one without an outcome, after a panic or not.
    fn process(&self, jobs: Jobs<'_, '_>);

    /// The time that it takes for these requests, all handed over at once, from then until the last
    /// is done; for an idle driver. Where several drivers [share load](crate::Engine::with_balancing)
    /// this decides. The time of a driver that does not say is measured.
    ///
    /// It is called for every batch, so it should compute and not measure.
    fn cost(&self, load: Load) -> Option<Duration> {
        let _ = load;
        None
    }

    /// Whether it works beside the calling thread, which then has time for others: see
    /// [`process_beside`](Self::process_beside). It must always answer the same.
    fn works_beside(&self) -> bool {
        false
    }

    /// Same as [`process`](Self::process), but it calls `meanwhile` when the requests have been
    /// handed over, and waits for them afterwards. `meanwhile` serves other requests, on the calling
    /// thread, and does not panic.
    ///
    /// It is only called if the driver [works beside](Self::works_beside) the calling thread and
    /// says [what requests cost](Self::cost).
    fn process_beside(&self, jobs: Jobs<'_, '_>, meanwhile: &mut dyn FnMut()) {
        self.process(jobs);
        meanwhile();
    }
}
