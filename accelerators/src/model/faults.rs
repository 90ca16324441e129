//! Faults that a test injects into a model.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lanecrypt_engine::Error;

/// A fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is refused with this error and not served. With [`Error::Authentication`] its output is
    /// wiped, with any other it is unchanged.
    Fail(Error),
    /// It is returned without an outcome, not served.
    Lose,
    /// It is served, this much later.
    Delay(Duration),
}

/// The faults of a [`Model`](super::Model), which may be set while it is in use: copies refer to
/// the same faults. Requests are counted from 0, in the order in which the model takes them.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<Plan>>);

#[derive(Debug, Default)]
struct Plan {
    taken: u64,
    at: BTreeMap<u64, Fault>,
    from: Option<(u64, Fault)>,
}

impl Faults {
    /// The fault of one request, by its number.
    pub fn at(&self, request: u64, fault: Fault) {
        self.plan().at.insert(request, fault);
    }

    /// The fault of all requests from this number on without an individual one.
    pub fn from(&self, request: u64, fault: Fault) {
        self.plan().from = Some((request, fault));
    }

    /// The fault of all requests from now on.
    pub fn set_for_all(&self, fault: Fault) {
        let mut plan = self.plan();
        plan.from = Some((plan.taken, fault));
    }

    /// No faults from now on.
    pub fn heal(&self) {
        let mut plan = self.plan();
        plan.at.clear();
        plan.from = None;
    }

    /// The number of requests that the model has received.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.plan().taken
    }

    /// The fault of the next request.
    pub(super) fn next(&self) -> Option<Fault> {
        let mut plan = self.plan();
        let request = plan.taken;
        plan.taken += 1;
        let later = plan.from.filter(|&(from, _)| from <= request).map(|(_, fault)| fault);
        plan.at.remove(&request).or(later)
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
