//! The engine opens sessions and serves batches.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use lanecrypt_ciphers::{Algorithm, Error, Isa};

#[cfg(feature = "_asymmetric")]
use crate::AsymmetricKey;
use crate::drivers::Null;
use crate::lanes::Lanes;
#[cfg(feature = "_asymmetric")]
use crate::session::Route;
use crate::session::entry::Entry;
use crate::{BatchBuffer, BatchError, Driver, DriverNameError, Request, Session, scheduler};

/// The driver of this processor.
const SOFTWARE: &str = "software";

/// Opens sessions and serves batches of requests.
///
/// It has the drivers `software` and `null`; [`with_driver`](Self::with_driver) adds others. It is
/// cheap to create, holds no key, and can be shared by any number of threads.
#[derive(Debug)]
pub struct Engine {
    isa: Isa,
    lanes: Lanes,
    /// All drivers except the software, in the order in which they were added.
    drivers: Vec<Arc<dyn Driver>>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine with the best kernels that this processor can run.
    #[must_use]
    pub fn new() -> Self {
        Self::with_isa(Isa::detect())
    }

    /// An engine with the kernels of `isa`.
    #[must_use]
    pub fn with_isa(isa: Isa) -> Self {
        #[cfg(feature = "std")]
        let lanes = Lanes::measured(isa.level());
        #[cfg(not(feature = "std"))]
        let lanes = Lanes::built_in(isa.level());
        Self { isa, lanes, drivers: vec![Arc::new(Null)] }
    }

    /// The same engine with the [built-in](crate::LaneSource::BuiltIn) lanes: none of its sessions
    /// [measures](Self::session), and the choice of lanes is the same in each process. Lanes may
    /// then be slower than a loop on a processor that differs much from those measured beforehand.
    /// Without the feature `std` there is no clock, and engines have these lanes in any case.
    #[must_use]
    pub fn with_built_in_lanes(mut self) -> Self {
        self.lanes = Lanes::built_in(self.isa.level());
        self
    }

    /// Adds a driver. Its [name](Driver::name) is read only once, here.
    ///
    /// # Errors
    ///
    /// [`DriverNameError`] if a driver of this engine has the name already (such as `software` or
    /// `null`), or if it is not a name in lower case without spaces.
    pub fn with_driver(mut self, driver: impl Driver + 'static) -> Result<Self, DriverNameError> {
        DriverNameError::check(driver.name(), self.drivers())?;
        self.drivers.push(Arc::new(driver));
        Ok(self)
    }

    /// Adds the driver `openssl`: OpenSSL's libcrypto, which this call searches for.
    ///
    /// # Errors
    ///
    /// [`OpenSslError`](crate::OpenSslError) if there is no libcrypto, or if the engine has the
    /// driver already.
    #[cfg(feature = "openssl")]
    #[cfg_attr(docsrs, doc(cfg(feature = "openssl")))]
    pub fn with_openssl(self) -> Result<Self, crate::OpenSslError> {
        Ok(self.with_driver(crate::OpenSsl::open()?)?)
    }

    /// The names of its drivers.
    pub fn drivers(&self) -> impl Iterator<Item = &str> {
        [SOFTWARE].into_iter().chain(self.drivers.iter().map(|driver| driver.name()))
    }

    /// Opens a session of an algorithm that [authenticates](Algorithm::is_aead), served by this
    /// processor. The key is expanded here, once.
    ///
    /// If messages of the algorithm can run in lanes, the second session in this process measures
    /// at which lengths these are faster on this processor. That takes about a millisecond once (up
    /// to 6 milliseconds for triple DES) and as much stack as [`process`](Self::process).
    /// [`calibrate`](Self::calibrate) measures all algorithms in advance;
    /// [`with_built_in_lanes`](Self::with_built_in_lanes) prevents it.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`]; [`Error::Unsupported`] if the algorithm does not authenticate: use
    /// [`raw_session`](Self::raw_session) for such algorithms.
    pub fn session(&self, algorithm: Algorithm, key: &[u8]) -> Result<Session, Error> {
        self.count_session(algorithm);
        Session::sealed(self.isa, algorithm, key)
    }

    /// Counts a session that is about to be opened; the second one measures its lanes.
    #[inline]
    fn count_session(&self, algorithm: Algorithm) {
        #[cfg(feature = "std")]
        if self.lanes.are_measured() {
            crate::measure::count_session(self.isa, Lanes::kinds(algorithm));
        }
        #[cfg(not(feature = "std"))]
        let _ = (&self.lanes, algorithm);
    }

    /// Opens a session of an algorithm without authentication, which is not secure on its own: see
    /// [`hazmat`](lanecrypt_ciphers::hazmat). This processor serves it.
    ///
    /// # Errors
    ///
    /// Same as [`hazmat::RawCipher::new`](lanecrypt_ciphers::hazmat::RawCipher::new).
    pub fn raw_session(&self, algorithm: Algorithm, key: &[u8]) -> Result<Session, Error> {
        self.count_session(algorithm);
        Session::raw(self.isa, algorithm, key)
    }

    /// Same as [`session`](Self::session), but on the heap. The key is expanded in its final place,
    /// so that no other copy of it remains after it is wiped. It takes as long as opening two
    /// sessions.
    ///
    /// # Errors
    ///
    /// Same as [`session`](Self::session).
    pub fn boxed_session(&self, algorithm: Algorithm, key: &[u8]) -> Result<Box<Session>, Error> {
        Session::boxed(|key| self.session(algorithm, key), key)
    }

    /// Same as [`raw_session`](Self::raw_session), but on the heap: see
    /// [`boxed_session`](Self::boxed_session).
    ///
    /// # Errors
    ///
    /// Same as [`raw_session`](Self::raw_session).
    pub fn boxed_raw_session(
        &self,
        algorithm: Algorithm,
        key: &[u8],
    ) -> Result<Box<Session>, Error> {
        Session::boxed(|key| self.raw_session(algorithm, key), key)
    }

    /// Opens a session of any algorithm on the driver of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such driver or it does not serve the algorithm;
    /// otherwise the same as [`session`](Self::session) and [`raw_session`](Self::raw_session), or
    /// the driver's own error.
    pub fn session_on(
        &self,
        driver: &str,
        algorithm: Algorithm,
        key: &[u8],
    ) -> Result<Session, Error> {
        if driver == SOFTWARE {
            self.count_session(algorithm);
        }
        let session = match algorithm.is_aead() {
            true => Session::sealed(self.isa, algorithm, key)?,
            false => Session::raw(self.isa, algorithm, key)?,
        };
        if driver == SOFTWARE {
            return Ok(session);
        }
        let named = self.drivers.iter().find(|named| named.name() == driver);
        let named = named.ok_or(Error::Unsupported)?;
        let id = named.open(algorithm, key)?;
        Ok(session.on(named.clone(), id))
    }

    /// Opens a session with an asymmetric key on this processor: it signs and verifies, or only
    /// verifies if the key is public, or [agrees](Session::agree) on shared secrets.
    ///
    /// These requests take up to milliseconds each. Those of a batch are served together: with
    /// AVX-512, four RSA signatures of one size, or eight requests of any other kind, cost little
    /// more than one. A [`WorkerQueue`](crate::queue::WorkerQueue) has a separate worker for them.
    ///
    /// The kernels are those of the key.
    ///
    /// ```
    /// use lanecrypt_engine::{Engine, Error};
    /// use lanecrypt_rsa::{Hash, Padding, PrivateKey};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let pem = include_str!("../../rsa/tests/key.pem");
    /// let engine = Engine::new();
    /// let key = PrivateKey::from_pem(pem)?;
    /// let session = engine.asymmetric_session((key, Padding::pss(Hash::SHA256)));
    ///
    /// let mut signatures = [[0; 256]; 4];
    /// let mut buffer = engine.batch_buffer(4);
    /// let mut batch = buffer.batch();
    /// for signature in &mut signatures {
    ///     batch.sign(&session, b"message", signature); // they wait for each other
    /// }
    /// batch.finish()?;
    ///
    /// session.verify(b"message", &signatures[3])?;
    /// assert_eq!(session.verify(b"another", &signatures[3]), Err(Error::Authentication));
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "_asymmetric")]
    #[cfg_attr(docsrs, doc(cfg(any(feature = "pk", feature = "rsa"))))]
    #[must_use]
    pub fn asymmetric_session(&self, key: impl Into<AsymmetricKey>) -> Session {
        Session::asymmetric(key.into(), None)
    }

    /// Opens a session with an asymmetric key on the driver of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such driver or it does not serve such keys; otherwise
    /// the driver's error.
    #[cfg(feature = "_asymmetric")]
    #[cfg_attr(docsrs, doc(cfg(any(feature = "pk", feature = "rsa"))))]
    pub fn asymmetric_session_on(
        &self,
        driver: &str,
        key: impl Into<AsymmetricKey>,
    ) -> Result<Session, Error> {
        let key = key.into();
        if driver == SOFTWARE {
            return Ok(Session::asymmetric(key, None));
        }
        let named = self.drivers.iter().find(|named| named.name() == driver);
        let driver = named.ok_or(Error::Unsupported)?.clone();
        let id = driver.open_asymmetric(&key)?;
        Ok(Session::asymmetric(key, Some(Route { driver, id })))
    }

    /// Allocates memory for batches of about this many messages that are served while they are
    /// added. It is for an event loop, which fills one [`Batch`](crate::Batch) per iteration.
    #[must_use]
    pub fn batch_buffer(&self, messages: usize) -> BatchBuffer {
        BatchBuffer::new(self.lanes, messages)
    }

    /// Serves each request of a batch. The requests may be of any sessions, algorithms, lengths and
    /// directions, and run in lanes where that is faster. A request that fails does not affect the
    /// others.
    ///
    /// It does not allocate, takes no lock, and does not wait for more requests. An empty batch
    /// returns at once.
    ///
    /// It takes up to 40 KiB of stack, or 64 KiB with the feature `legacy`, for the keys in lanes
    /// of 3DES. A thread with a stack of 64 KiB is large enough without `legacy`, and one of 128
    /// KiB (musl's default) with it. Requests of Ed25519, P-256, X25519 and ML-KEM take up to 256
    /// KiB.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if at least one request failed; see its [`outcome`](Request::outcome).
    //
    // A request that is built and served in one place then need not be in memory at all. Otherwise
    // its loads would differ in width from the preceding stores, and stall on them.
    #[inline(always)]
    pub fn process(&self, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
        let failed = match batch {
            [] => 0,
            [one] if one.outcome().is_some() => usize::from(one.outcome() != Some(Ok(()))),
            [one] if one.class().is_here() => usize::from(!one.serve()),
            _ => self.serve(batch),
        };
        if failed == 0 { Ok(()) } else { Err(BatchError { failed }) }
    }

    /// The rest of `process`, compiled in this crate and not in that of its caller.
    #[inline(never)]
    fn serve(&self, batch: &mut [Request<'_>]) -> usize {
        scheduler::serve(&self.lanes, batch)
    }

    /// The requests that [`process`](Self::process) runs in lanes.
    #[must_use]
    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// Measures now at which lengths [lanes](Self::lanes) are faster on this processor, for each
    /// algorithm that has not been measured in this process. Otherwise the second
    /// [session](Self::session) of an algorithm does so.
    ///
    /// It takes about 30 milliseconds and is most accurate while nothing else runs. Only the speed
    /// of batches depends on it. No file is written: each process measures.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn calibrate(&mut self) {
        crate::measure::measure_all(self.isa);
        self.lanes = Lanes::measured(self.isa.level());
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Engine>();
};
