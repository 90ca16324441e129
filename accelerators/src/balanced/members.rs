//! The drivers that share load.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use lanecrypt_engine::{Driver, Lanes};

/// A driver that is to share load with others, in a [`Balanced`](super::Balanced) driver.
#[derive(Debug)]
pub struct Member {
    pub(super) server: Server,
    pub(super) is_asynchronous: bool,
    // Relaxed everywhere, except for `runs`: the following publish no other memory. Sessions are
    // opened, and members readmitted, under the lock of the sessions.
    failed: AtomicBool,
    /// The number of readmissions.
    times_readmitted: AtomicU32,
    /// The nanoseconds of its unfinished work, on all threads.
    busy: AtomicU64,
    given: AtomicU64,
    /// The number of runs that have identifiers of its sessions, with migration. It is incremented
    /// under the lock of the sessions. It is decremented with release, and loaded with acquire
    /// before sessions are closed, so that closing them follows all uses.
    runs: AtomicU32,
}

/// The implementation of a member.
#[derive(Debug)]
pub(super) enum Server {
    /// This processor, with these lanes. It has the keys of all sessions.
    Software(Box<Lanes>),
    Driver(Box<dyn Driver>),
}

impl Member {
    /// This driver, which the member owns. Copies of it may be used elsewhere.
    #[must_use]
    pub fn new(driver: impl Driver + 'static) -> Self {
        Self::of(driver.is_asynchronous(), Server::Driver(Box::new(driver)))
    }

    /// The software of this processor, as an engine with these
    /// [lanes](lanecrypt_engine::Engine::lanes) uses it. Its name is `software`.
    #[must_use]
    pub fn software(lanes: &Lanes) -> Self {
        Self::of(false, Server::Software(Box::new(*lanes)))
    }

    fn of(is_asynchronous: bool, server: Server) -> Self {
        Self {
            server,
            is_asynchronous,
            failed: AtomicBool::new(false),
            times_readmitted: AtomicU32::new(0),
            busy: AtomicU64::new(0),
            given: AtomicU64::new(0),
            runs: AtomicU32::new(0),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.server {
            Server::Software(_) => "software",
            Server::Driver(driver) => driver.name(),
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

    /// The number of its current life. A session that was opened in an earlier one may be closed.
    pub(super) fn life(&self) -> u32 {
        self.times_readmitted.load(Ordering::Relaxed)
    }

    /// Counts a run that has identifiers of its sessions. The sessions are locked.
    pub(super) fn enter(&self) {
        self.runs.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the end of the run.
    pub(super) fn leave(&self) {
        self.runs.fetch_sub(1, Ordering::Release);
    }

    /// Whether its sessions are unused, which is constant while the sessions are locked for
    /// writing.
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

    /// Counts messages that it receives, and their nanoseconds.
    pub(super) fn begin(&self, messages: usize, nanoseconds: u64) {
        self.given.fetch_add(messages as u64, Ordering::Relaxed);
        if self.is_asynchronous {
            self.busy.fetch_add(nanoseconds, Ordering::Relaxed);
        }
    }

    /// Counts them as completed.
    pub(super) fn end(&self, nanoseconds: u64) {
        if self.is_asynchronous {
            self.busy.fetch_sub(nanoseconds, Ordering::Relaxed);
        }
    }
}
