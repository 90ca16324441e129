//! Several drivers as one: each batch goes to the driver with the lowest cost.
//!
//! Its sessions are open on several drivers. It groups the messages of a batch by algorithm and
//! operation, divides each group by its cost on each driver (`plan`), lends the jobs and calls the
//! drivers, asynchronous ones first (`run`). With migration it keeps the keys (`keys`) and the data
//! that a driver might destroy (`snapshots`); messages that a driver has not completed repeat these
//! steps without that driver (`failover`).

mod cost_model;
mod drivers;
mod failover;
mod group;
mod keys;
mod mask;
mod members;
mod members_error;
mod migration;
mod plan;
mod run;
mod session_map;
mod slot;
mod snapshots;
mod split;

use std::sync::Arc;

use lanecrypt_engine::{Algorithm, Driver, Error, Jobs, SessionId};

use self::drivers::Drivers;
pub use self::members::Member;
pub use self::members_error::MembersError;

/// Several drivers that share load, as one driver, whose name is `balanced`. Its sessions are open
/// on all of its members that serve the algorithm. Copies refer to the same members.
///
/// The member for a message is selected when its batch is processed. Messages of one algorithm and
/// operation go to the members on which their total cost is lowest. Drivers that [are
/// asynchronous](Driver::is_asynchronous) share them with the best of the others in proportion to
/// their costs, so that all finish at the same time. The costs are those that a driver
/// [returns](Driver::cost); otherwise, and for the software, measured mean times. A driver that is
/// not the best is measured again periodically, which takes less than a fiftieth of the time.
///
/// Each call of a driver then has messages of one algorithm and operation. The order of messages
/// does not matter. Sessions with RSA keys are not shared. It takes up to 40 KiB of stack, in
/// addition to that of the drivers.
///
/// ```
/// use core::time::Duration;
/// use lanecrypt_accelerators::{Balanced, Member};
/// use lanecrypt_engine::{Algorithm, Driver, Engine, Error, Jobs, Load, Null, SessionId};
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
/// let balanced = Balanced::new([Member::new(Null::default()), Member::new(Slow)])?;
/// let engine = Engine::new().with_driver(balanced.clone())?;
/// let session = engine.session_on("balanced", Algorithm::NULL, &[])?;
/// session.encrypt(&[], &mut [1; 100])?; // measures `null`
/// session.encrypt(&[], &mut [1; 100])?;
/// assert!(balanced.shares().eq([("null", 2), ("slow", 0)]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Balanced {
    drivers: Arc<Drivers>,
    /// The member that serves the sessions that are opened by this copy, unless it has failed.
    only: Option<usize>,
}

impl Balanced {
    /// The most drivers that can share load.
    pub const MAX_MEMBERS: usize = mask::MOST;

    /// Combines these drivers.
    ///
    /// # Errors
    ///
    /// [`MembersError::Taken`] for a name that occurs twice; [`MembersError::TooMany`].
    pub fn new(members: impl IntoIterator<Item = Member>) -> Result<Self, MembersError> {
        Ok(Self { drivers: Arc::new(Drivers::new(members, false)?), only: None })
    }

    /// The same, and sessions move when their driver fails.
    ///
    /// A driver fails when it panics, settles a request with [`Error::DriverFailed`], or leaves one
    /// without an outcome. It then receives no more requests, until it is
    /// [readmitted](Self::readmit). The other drivers immediately serve its unfinished requests,
    /// and all later ones. A request ends with [`Error::DriverFailed`] only if there is no other
    /// driver for it; then nothing is written.
    ///
    /// A driver that fails may have destroyed a message in place, or sealed it. So data that a
    /// driver other than the software may write to is copied first, and the copy is wiped when the
    /// batch is served. This costs the time of two passes over the data. After a failure the
    /// message is served from the copy: the same message under the same nonce.
    ///
    /// The sessions' keys are stored unexpanded, to open them on other drivers: in memory that is
    /// locked, excluded from core dumps and wiped. Each takes its length, rounded up to 64 bytes,
    /// of the limit of locked memory (`RLIMIT_MEMLOCK`); if that is exhausted, opening a session
    /// fails with [`Error::KeyMemory`]. If all members that serve its algorithm have failed, it
    /// fails with [`Error::DriverFailed`].
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    pub fn with_migration(members: impl IntoIterator<Item = Member>) -> Result<Self, MembersError> {
        Ok(Self { drivers: Arc::new(Drivers::new(members, true)?), only: None })
    }

    /// The same drivers under the name of a member, which serves the sessions that are opened by
    /// this name alone; with [migration](Self::with_migration), until it fails. None if there is no
    /// such member.
    #[must_use]
    pub fn with_preference(&self, member: &str) -> Option<Self> {
        let only = Some(self.drivers.find(member)?);
        Some(Self { only, ..self.clone() })
    }

    /// Readmits a driver that had [failed](Self::with_migration) and was repaired. Its sessions are
    /// closed now, or with the session if another thread still waits for requests on it. They are
    /// reopened when there are requests for them. False if there is no such driver or it had not
    /// failed.
    pub fn readmit(&self, member: &str) -> bool {
        self.drivers.find(member).is_some_and(|at| self.drivers.readmit(at))
    }

    /// The names of the members that have [failed](Self::with_migration) and have not been
    /// readmitted.
    pub fn failed(&self) -> impl Iterator<Item = &str> {
        self.drivers.failed()
    }

    /// The names of its members, and the number of messages that each has received.
    pub fn shares(&self) -> impl Iterator<Item = (&str, u64)> {
        self.drivers.shares()
    }
}

impl Driver for Balanced {
    fn name(&self) -> &str {
        self.only.map_or("balanced", |at| self.drivers.name(at))
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        self.drivers.open_on(self.only, algorithm, key)
    }

    fn close(&self, session: SessionId) {
        self.drivers.close(session);
    }

    fn process(&self, jobs: Jobs<'_, '_>) {
        self.drivers.serve(jobs);
    }
}
