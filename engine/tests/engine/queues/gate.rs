//! A driver that waits until the test lets it go on.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use lanecrypt_engine::{Algorithm, Driver, Error, Jobs, SessionId};

/// Serves the null cipher, one call after another, each when the test says so.
#[derive(Debug)]
pub(crate) struct Gate {
    begun: Mutex<Sender<usize>>,
    go_on: Mutex<Receiver<()>>,
    /// Dropped with the driver, so that the test sees who still has it.
    _alive: Arc<()>,
}

/// The test's side of a gate.
pub(crate) struct Keeper {
    begun: Receiver<usize>,
    go_on: Sender<()>,
    pub(crate) alive: Arc<()>,
}

impl Gate {
    pub(crate) const NAME: &str = "gate";

    pub(crate) fn new() -> (Self, Keeper) {
        let (begin, begun) = channel();
        let (go_on, gone) = channel();
        let alive = Arc::new(());
        let gate =
            Self { begun: Mutex::new(begin), go_on: Mutex::new(gone), _alive: alive.clone() };
        (gate, Keeper { begun, go_on, alive })
    }
}

impl Keeper {
    /// Waits until the driver has begun with a batch, and returns the number of its jobs.
    pub(crate) fn begun(&self) -> usize {
        self.begun.recv().expect("the driver lives")
    }

    /// Lets it go on.
    pub(crate) fn open(&self) {
        self.go_on.send(()).expect("the driver lives");
    }
}

impl Driver for Gate {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn open(&self, _: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        Ok(SessionId(1))
    }

    fn close(&self, _: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.send(jobs.len()).expect("the test lives");
        drop(begun);
        self.go_on.lock().unwrap_or_else(PoisonError::into_inner).recv().expect("the test lives");
        for job in jobs {
            job.settle(Ok(()));
        }
    }
}
