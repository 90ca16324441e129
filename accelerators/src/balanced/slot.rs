//! Messages of a batch that no driver has completed.

use lanecrypt_engine::{Error, Job, SessionId};

/// One message.
pub(super) struct Slot<'j, 'a> {
    pub(super) job: Job<'j, 'a>,
    pub(super) place: Place,
    /// The start of its snapshot.
    pub(super) snapshot: Option<usize>,
}

/// The place of a message in a plan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Its group while the plan is made, and then its run.
    At(usize),
    /// It waits for another plan.
    Later,
    /// No member can serve it.
    Lost,
}

impl<'j, 'a> Slot<'j, 'a> {
    pub(super) fn new(job: Job<'j, 'a>) -> Self {
        Self { job, place: Place::Later, snapshot: None }
    }

    /// Whether a driver has completed it.
    pub(super) fn is_answered(&self) -> bool {
        !matches!(self.job.outcome(), None | Some(Err(Error::DriverFailed)))
    }

    /// Settles it instead of a driver.
    pub(super) fn refuse(&mut self, error: Error) {
        self.job.lend(SessionId::default()).settle(Err(error));
    }
}
