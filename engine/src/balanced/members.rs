//! The drivers that share load.

use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::panic::catch_unwind;
use std::sync::Arc;

use lanecrypt_ciphers::{Algorithm, Error};

use super::{Balanced, MOST};
use crate::{Driver, SessionId};

/// One of the drivers.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    /// None is the software.
    pub(super) driver: Option<Arc<dyn Driver>>,
    /// Whether it works beside the calling thread.
    pub(super) beside: bool,
    // Relaxed everywhere, except where `runs` says more: the following tell nothing about other
    // memory. Sessions are seated, and members readmitted, under the lock of the sessions.
    failed: AtomicBool,
    /// How often it has been readmitted.
    times_readmitted: AtomicU32,
    /// The nanoseconds of work that it has been given and has not answered, on all threads.
    busy: AtomicU64,
    given: AtomicU64,
    /// How many runs have identifiers of its sessions, with migration. It is raised under the lock
    /// of the sessions. It is lowered with release, and loaded with acquire before sessions are
    /// closed, so that whoever closes them comes after those who have used them.
    runs: AtomicU32,
}

impl Member {
    pub(super) fn new(name: String, driver: Option<Arc<dyn Driver>>) -> Self {
        Self {
            name,
            beside: driver.as_ref().is_some_and(|driver| driver.works_beside()),
            driver,
            failed: AtomicBool::new(false),
            times_readmitted: AtomicU32::new(0),
            busy: AtomicU64::new(0),
            given: AtomicU64::new(0),
            runs: AtomicU32::new(0),
        }
    }

    pub(super) fn is_live(&self) -> bool {
        !self.failed.load(Ordering::Relaxed)
    }

    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(super) fn readmit(&self) {
        self.times_readmitted.fetch_add(1, Ordering::Relaxed);
        self.failed.store(false, Ordering::Relaxed);
    }

    /// Which of its lives this is. A session that was opened in an earlier one may be gone.
    pub(super) fn life(&self) -> u32 {
        self.times_readmitted.load(Ordering::Relaxed)
    }

    /// Notes that a run has identifiers of its sessions. The sessions are locked.
    pub(super) fn enter(&self) {
        self.runs.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the run has ended.
    pub(super) fn leave(&self) {
        self.runs.fetch_sub(1, Ordering::Release);
    }

    /// Whether nobody uses its sessions. That stays so while the sessions are locked for writing.
    pub(super) fn is_idle(&self) -> bool {
        self.runs.load(Ordering::Acquire) == 0
    }

    pub(super) fn given(&self) -> u64 {
        self.given.load(Ordering::Relaxed)
    }

    #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
    pub(super) fn busy(&self) -> f64 {
        self.busy.load(Ordering::Relaxed) as f64
    }

    /// Counts messages that it is given, and their nanoseconds.
    pub(super) fn begin(&self, messages: usize, nanoseconds: u64) {
        self.given.fetch_add(messages as u64, Ordering::Relaxed);
        if self.beside {
            self.busy.fetch_add(nanoseconds, Ordering::Relaxed);
        }
    }

    /// Counts them as answered.
    pub(super) fn end(&self, nanoseconds: u64) {
        if self.beside {
            self.busy.fetch_sub(nanoseconds, Ordering::Relaxed);
        }
    }
}

impl Balanced {
    /// Opens a session on a member. With migration, a member that panics has failed.
    pub(super) fn open_member(
        &self,
        member: &Member,
        algorithm: Algorithm,
        key: &[u8],
    ) -> Result<SessionId, Error> {
        // The software has the keys of all sessions.
        let Some(driver) = &member.driver else { return Ok(SessionId::default()) };
        if !self.migrates() {
            return driver.open(algorithm, key);
        }
        let opened = catch_unwind(AssertUnwindSafe(|| driver.open(algorithm, key)));
        let opened = opened.unwrap_or(Err(Error::DriverFailed));
        if opened == Err(Error::DriverFailed) {
            member.fail();
        }
        opened
    }

    /// The members that have not failed.
    pub(super) fn live(&self) -> Mask {
        if !self.migrates() {
            return Mask::first(self.members.len());
        }
        let each = self.members.iter().enumerate();
        let live = each.filter(|(_, member)| member.is_live());
        live.fold(Mask::default(), |mask, (at, _)| mask.with(at))
    }
}

/// Some of the members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mask(u16);

const _: () = assert!(MOST == u16::BITS as usize);

impl Mask {
    /// The first `count`.
    pub(super) fn first(count: usize) -> Self {
        (0..count).fold(Self(0), Self::with)
    }

    /// One of them.
    pub(super) fn of(at: usize) -> Self {
        Self(0).with(at)
    }

    pub(super) fn with(self, at: usize) -> Self {
        debug_assert!(at < MOST, "there are no more");
        Self(self.0 | 1 << (at % MOST))
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, at: usize) -> bool {
        !self.and(Self::of(at)).is_empty()
    }

    /// The members, in their order.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..MOST).filter(move |&at| self.has(at))
    }
}
