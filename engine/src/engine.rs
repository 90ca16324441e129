//! What opens sessions and serves batches.

use std::sync::Arc;

use lanecrypt_ciphers::{Algorithm, Error, Isa};

use crate::cost::Costs;
use crate::drivers::Null;
use crate::entry::Entry;
use crate::{BatchError, Driver, DriverNameError, Request, Room, Session, scheduler};

/// The driver of this processor.
const SOFTWARE: &str = "software";

/// Opens sessions and serves batches of requests.
///
/// It has the drivers `software` and `null`; [`with_driver`](Self::with_driver) adds others. It is
/// made in a moment, holds no key, and any number of threads may share it.
#[derive(Debug)]
pub struct Engine {
    isa: Isa,
    costs: Costs,
    /// All but the software, in the order in which they were added.
    drivers: Vec<Arc<dyn Driver>>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// With the best kernels that this processor can run.
    #[must_use]
    pub fn new() -> Self {
        Self::with_isa(Isa::detect())
    }

    /// With the kernels of `isa`.
    #[must_use]
    pub fn with_isa(isa: Isa) -> Self {
        let costs = Costs::built_in(isa.level());
        Self { isa, costs, drivers: vec![Arc::new(Null)] }
    }

    /// Adds a driver. Its [name](Driver::name) is looked at once, here.
    ///
    /// # Errors
    ///
    /// [`DriverNameError`] if a driver of this engine has the name, such as `software` or `null`, or
    /// if it is not a name in lower case without spaces.
    pub fn with_driver(mut self, driver: impl Driver + 'static) -> Result<Self, DriverNameError> {
        DriverNameError::check(driver.name(), self.drivers())?;
        self.drivers.push(Arc::new(driver));
        Ok(self)
    }

    /// The names of its drivers.
    pub fn drivers(&self) -> impl Iterator<Item = &str> {
        [SOFTWARE].into_iter().chain(self.drivers.iter().map(|driver| driver.name()))
    }

    /// Opens a session of an algorithm that [authenticates](Algorithm::is_aead), served by this
    /// processor: expands the key, once.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`]; [`Error::Unsupported`] if the algorithm does not authenticate:
    /// [`open_hazmat`](Self::open_hazmat) takes those.
    pub fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<Session, Error> {
        Session::sealed(self.isa, algorithm, key)
    }

    /// Opens a session of an algorithm without authentication, which is not safe by itself: see
    /// [`hazmat`](lanecrypt_ciphers::hazmat). This processor serves it.
    ///
    /// # Errors
    ///
    /// As [`hazmat::Cipher::new`](lanecrypt_ciphers::hazmat::Cipher::new).
    pub fn open_hazmat(&self, algorithm: Algorithm, key: &[u8]) -> Result<Session, Error> {
        Session::raw(self.isa, algorithm, key)
    }

    /// As [`open`](Self::open), on the heap: the key is expanded there, once the session is in its
    /// place, so that no copy of it is left elsewhere when it is wiped. It takes as long as opening two.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_boxed(&self, algorithm: Algorithm, key: &[u8]) -> Result<Box<Session>, Error> {
        Session::boxed(|key| self.open(algorithm, key), key)
    }

    /// As [`open_hazmat`](Self::open_hazmat), on the heap: see [`open_boxed`](Self::open_boxed).
    ///
    /// # Errors
    ///
    /// As [`open_hazmat`](Self::open_hazmat).
    pub fn open_hazmat_boxed(
        &self,
        algorithm: Algorithm,
        key: &[u8],
    ) -> Result<Box<Session>, Error> {
        Session::boxed(|key| self.open_hazmat(algorithm, key), key)
    }

    /// Opens a session, of whatever kind, on the driver of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such driver or it does not serve the algorithm, and
    /// otherwise as [`open`](Self::open) and [`open_hazmat`](Self::open_hazmat).
    pub fn open_on(
        &self,
        driver: &str,
        algorithm: Algorithm,
        key: &[u8],
    ) -> Result<Session, Error> {
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

    /// Memory for batches of about so many messages, which are served while they are given: for an
    /// event loop, which makes one [`Batch`](crate::Batch) in each turn.
    ///
    /// It goes by the [costs](Self::costs) as they are now.
    #[must_use]
    pub fn room(&self, messages: usize) -> Room {
        Room::new(*self.costs.lanes(), messages)
    }

    /// Serves each request of a batch: of any sessions, algorithms, lengths and directions, side by
    /// side where that is faster. One that fails changes nothing for the others.
    ///
    /// No allocation, no lock, no waiting for more: what is here is served. An empty batch is
    /// served at once.
    ///
    /// It takes up to 40 KiB of stack, 64 KiB with the feature `legacy`, for the keys of lanes of
    /// Serpent and of 3DES. A thread of 64 KiB has room for that without `legacy`, one of 128 KiB
    /// (musl's default) with it.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if at least one request failed; its [`outcome`](Request::outcome) says why.
    //
    // A request that is made and served in one place need not be in memory at all: read there in
    // other pieces than it was just stored in, it would wait for the stores.
    #[inline(always)]
    pub fn process(&self, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
        let failed = match batch {
            [] => 0,
            [one] if one.outcome().is_some() => usize::from(one.outcome() != Some(Ok(()))),
            [one] if one.class().is_here() => usize::from(!one.serve()),
            _ => scheduler::serve(self.costs.lanes(), batch),
        };
        if failed == 0 { Ok(()) } else { Err(BatchError { failed }) }
    }

    /// What requests cost on this processor, one by one and side by side, and from which lengths on
    /// [`process`](Self::process) has them go side by side.
    #[must_use]
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Measures [what requests cost](Self::costs) here and now, and goes by that from now on.
    ///
    /// It takes about 40 milliseconds, best while nothing else runs; what there is no time for then
    /// keeps its built-in figures. Nothing but the speed of
    /// [`process`](Self::process) depends on it, which without it goes by what was measured on
    /// another processor with the same instructions. No file is written: a program that wants the
    /// figures again measures again.
    pub fn calibrate(&mut self) {
        self.costs = Costs::measured(self.isa);
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Engine>();
};
