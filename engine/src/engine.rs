//! What opens sessions and serves batches.

use std::sync::Arc;

use lanecrypt_ciphers::{Algorithm, Error, Isa};

use crate::cost::Costs;
use crate::drivers::{Null, Software};
use crate::{BatchError, Driver, DriverNameError, Operation, Request, Session};

/// Opens sessions and serves batches of requests.
///
/// It has the drivers `software` and `null`; [`with_driver`](Self::with_driver) adds others. It is
/// made in a moment, holds no key, and any number of threads may share it.
#[derive(Debug)]
pub struct Engine {
    software: Software,
    /// All others, in the order in which they were added.
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
        Self { software: Software::new(isa), drivers: vec![Arc::new(Null)] }
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
        [self.software.name()].into_iter().chain(self.drivers.iter().map(|driver| driver.name()))
    }

    /// Opens a session of an algorithm that [authenticates](Algorithm::is_aead): expands the key,
    /// once, and picks the driver that costs least; the software here, if that one refuses.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`]; [`Error::Unsupported`] if the algorithm does not authenticate:
    /// [`open_hazmat`](Self::open_hazmat) takes those.
    pub fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<Session, Error> {
        let session = Session::sealed(self.software.isa(), algorithm, key)?;
        self.cheapest(session, Operation::Seal, key)
    }

    /// Opens a session of an algorithm without authentication, which is not safe by itself: see
    /// [`hazmat`](lanecrypt_ciphers::hazmat).
    ///
    /// # Errors
    ///
    /// As [`hazmat::Cipher::new`](lanecrypt_ciphers::hazmat::Cipher::new).
    pub fn open_hazmat(&self, algorithm: Algorithm, key: &[u8]) -> Result<Session, Error> {
        let session = Session::raw(self.software.isa(), algorithm, key)?;
        self.cheapest(session, Operation::Encrypt, key)
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
            true => Session::sealed(self.software.isa(), algorithm, key)?,
            false => Session::raw(self.software.isa(), algorithm, key)?,
        };
        if driver == self.software.name() {
            return Ok(session);
        }
        let named = self.drivers.iter().find(|named| named.name() == driver);
        let named = named.ok_or(Error::Unsupported)?;
        let id = named.open(algorithm, key)?;
        Ok(session.on(named.clone(), id))
    }

    /// The session on the driver that serves a usual request for least.
    fn cheapest(
        &self,
        session: Session,
        operation: Operation,
        key: &[u8],
    ) -> Result<Session, Error> {
        /// What is usual.
        const BYTES: usize = 1024;
        const BATCH: usize = 32;
        let algorithm = session.algorithm();
        let cost = |driver: &dyn Driver| driver.cost(algorithm, operation, BYTES, BATCH);
        let mut least = cost(&self.software);
        let mut best = None;
        for driver in &self.drivers {
            if let Some(cost) = cost(driver.as_ref())
                && least.is_none_or(|least| cost < least)
            {
                (least, best) = (Some(cost), Some(driver));
            }
        }
        let Some(driver) = best else { return Ok(session) };
        match driver.open(algorithm, key) {
            Ok(id) => Ok(session.on(driver.clone(), id)),
            // The key is good, for it has been expanded: the driver has no room, or has gone.
            Err(_) => Ok(session),
        }
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
            [one] if one.state().class.is_here() => usize::from(one.alone().is_err()),
            [one] => self.one_elsewhere(one),
            _ => self.software.serve(batch),
        };
        if failed == 0 { Ok(()) } else { Err(BatchError { failed }) }
    }

    /// A request that this processor has nothing to do with.
    ///
    /// It is only lent, so that one that is served here need not be in memory.
    #[inline(always)]
    fn one_elsewhere(&self, request: &mut Request<'_>) -> usize {
        let mut lent = request.lent();
        let failed = self.software.serve(core::slice::from_mut(&mut lent));
        let outcome = lent.state().outcome;
        request.settle(outcome);
        failed
    }

    /// What requests cost on this processor, one by one and side by side, and from which lengths on
    /// [`process`](Self::process) has them go side by side.
    #[must_use]
    pub fn costs(&self) -> &Costs {
        &self.software.costs
    }

    /// Measures [what requests cost](Self::costs) here and now, and goes by that from now on.
    ///
    /// It takes about 40 milliseconds, best while nothing else runs; what there is no time for then
    /// keeps its built-in figures. Nothing but the speed of
    /// [`process`](Self::process) depends on it, which without it goes by what was measured on
    /// another processor with the same instructions. No file is written: a program that wants the
    /// figures again measures again.
    pub fn calibrate(&mut self) {
        self.software.costs = Costs::measured(self.software.isa());
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Engine>();
};
