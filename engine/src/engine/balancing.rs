//! Drivers of an engine that share load.

use std::sync::Arc;

use super::{Engine, SOFTWARE};
use crate::balanced::{self, Balanced};
use crate::{Driver, DriverNameError};

#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
impl Engine {
    /// The most drivers that can share load.
    pub const MOST_BALANCED: usize = balanced::MOST;

    /// Has these drivers share load: adds the driver `balanced`, whose sessions are open on all of
    /// them that serve the algorithm. [`session_on`](Self::session_on) opens them.
    ///
    /// Which of them serves a message is decided when its batch comes. Messages of one algorithm
    /// and operation go where all of them together cost least. Drivers that [work
    /// beside](Driver::works_beside) the calling thread share them with the best of the others in
    /// proportion to their costs, so that all are done at the same time. The costs are those that a
    /// driver [says](Driver::cost); otherwise, and for the software, mean times, which are measured
    /// meanwhile. A driver that is not the best is measured
    /// again now and then, which takes less than a fiftieth of the time.
    ///
    /// Each call of a driver then has messages of one algorithm and operation. The order of messages
    /// does not matter. Adding drivers afterwards, or [`calibrate`](Self::calibrate), changes
    /// nothing for those that share load.
    ///
    /// ```
    /// use core::time::Duration;
    /// use lanecrypt_engine::{Algorithm, Driver, Engine, Error, Jobs, Load, SessionId};
    ///
    /// /// A slow way to do nothing.
    /// #[derive(Debug)]
    /// struct Slow;
    ///
    /// impl Driver for Slow {
    ///     fn name(&self) -> &str { "slow" }
    ///     fn open(&self, algorithm: Algorithm, _key: &[u8]) -> Result<SessionId, Error> {
    ///         if algorithm == Algorithm::NULL { Ok(SessionId(0)) } else { Err(Error::Unsupported) }
    ///     }
    ///     fn close(&self, _: SessionId) {}
    ///     fn process(&self, jobs: Jobs<'_, '_>) {
    ///         jobs.into_iter().for_each(|job| job.settle(Ok(())));
    ///     }
    ///     fn cost(&self, load: Load) -> Option<Duration> {
    ///         Some(Duration::from_millis(load.messages as u64))
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::new().with_driver(Slow)?.with_balancing(&["null", "slow"])?;
    /// let session = engine.session_on("balanced", Algorithm::NULL, &[])?;
    /// session.encrypt(&[], &mut [1; 100])?; // measures `null`
    /// session.encrypt(&[], &mut [1; 100])?;
    /// assert!(engine.shares().eq([("null", 2), ("slow", 0)]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`DriverNameError::Unknown`] for a name that no driver has; [`DriverNameError::Taken`] for one
    /// that comes twice, or if there is a driver `balanced`; [`DriverNameError::TooMany`].
    pub fn with_balancing(mut self, drivers: &[&str]) -> Result<Self, DriverNameError> {
        DriverNameError::check(Balanced::NAME, self.drivers())?;
        if drivers.len() > Self::MOST_BALANCED {
            return Err(DriverNameError::TooMany);
        }
        let mut members = Vec::with_capacity(drivers.len());
        for (at, &name) in drivers.iter().enumerate() {
            if drivers[..at].contains(&name) {
                return Err(DriverNameError::Taken);
            }
            let driver = match self.drivers.iter().find(|driver| driver.name() == name) {
                None if name == SOFTWARE => None,
                driver => Some(driver.ok_or(DriverNameError::Unknown)?.clone()),
            };
            members.push((name.to_owned(), driver));
        }
        let balanced = Arc::new(Balanced::new(members, self.lanes, false));
        self.drivers.push(balanced.clone());
        self.balanced = Some(balanced);
        Ok(self)
    }

    /// Has sessions move when their driver fails: those of `balanced`, and those that are opened
    /// from now on by the name of a driver that shares load. If none do yet, all drivers that the
    /// engine has now [share load](Self::with_balancing).
    ///
    /// A driver fails when it panics, settles a request with [`Error::DriverFailed`], or leaves one
    /// without an outcome. It then gets no more requests, until it is [readmitted](Self::readmit).
    /// What it has not answered is served at once by the other drivers, and so is what comes later.
    /// A request ends with [`Error::DriverFailed`] only if there is no other driver for it; nothing
    /// has been written then.
    ///
    /// A driver that fails may have destroyed a message in place, or sealed it. So the engine copies
    /// what a driver other than the software may write to before it gives it to one, and wipes the
    /// copy when the batch is served. This costs the time of two passes over the data. From the copy
    /// the message is served as if nothing had happened: the same message under the same nonce.
    ///
    /// The sessions' keys are kept as they came, to open them on other drivers: in memory that is
    /// locked, left out of core dumps and wiped. Each takes 64 bytes of what the process may lock
    /// (`RLIMIT_MEMLOCK`), for every begun 64 bytes of its length; if that is used up,
    /// [`session_on`](Self::session_on) returns [`Error::KeyMemory`].
    ///
    /// # Errors
    ///
    /// Same as [`with_balancing`](Self::with_balancing), if no drivers share load yet.
    ///
    /// [`Error::DriverFailed`]: lanecrypt_ciphers::Error::DriverFailed
    /// [`Error::KeyMemory`]: lanecrypt_ciphers::Error::KeyMemory
    pub fn with_migration(self) -> Result<Self, DriverNameError> {
        let mut engine = match &self.balanced {
            Some(_) => self,
            None => {
                let names: Vec<String> = self.drivers().map(str::to_owned).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.with_balancing(&names)?
            }
        };
        if let Some(balanced) = &engine.balanced {
            let moving = Arc::new(Balanced::new(balanced.members(), engine.lanes, true));
            let is_it = |driver: &&mut Arc<dyn Driver>| driver.name() == Balanced::NAME;
            if let Some(place) = engine.drivers.iter_mut().find(is_it) {
                *place = moving.clone();
            }
            engine.balanced = Some(moving);
        }
        Ok(engine)
    }

    /// Gives requests to a driver again that had [failed](Self::with_migration): it has been
    /// repaired. Its sessions are closed, or later, with the session, if another thread still waits
    /// for it to answer requests. They are opened on it anew when requests for them come. False if
    /// there is no such driver or it had not failed.
    pub fn readmit(&self, driver: &str) -> bool {
        let found = self.balanced.as_ref().and_then(|all| Some((all, all.find(driver)?)));
        found.is_some_and(|(all, at)| all.readmit(at))
    }

    /// The names of the drivers that have [failed](Self::with_migration) and have not been
    /// readmitted.
    pub fn failed_drivers(&self) -> impl Iterator<Item = &str> {
        self.balanced.iter().flat_map(|all| all.failed())
    }

    /// The drivers that [share load](Self::with_balancing), and how many messages each has been given
    /// by it so far.
    pub fn shares(&self) -> impl Iterator<Item = (&str, u64)> {
        self.balanced.iter().flat_map(|all| all.shares())
    }
}
