//! A thread for work of the system that can take long: making, filling and freeing shared memory,
//! closing sockets, writing files.

use core::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use super::worker::{CompletionNotifier, Work, Worker};
use crate::RejectReason;
use crate::shared::{Layout, Mapping};

/// The thread, which starts with the first job.
#[derive(Debug)]
pub(super) struct Background(Worker<Job, Done>);

/// One piece of work.
enum Job {
    /// Make the shared memory of a client.
    Make(Layout),
    /// Drop something: unmapping long memory takes milliseconds, and closing a socket takes as
    /// long as the sender of the descriptors in it has chosen.
    Drop { _what: Box<dyn Send> },
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

/// Shared memory that was made for a client: with the descriptors that it receives.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) mapping: Mapping,
    pub(super) memory: OwnedFd,
    pub(super) doorbell: OwnedFd,
}

/// The memory, or the reason that there is none; `None` for other jobs.
type Done = Option<Result<Offer, RejectReason>>;

impl Background {
    pub(super) fn new(notifier: &Arc<CompletionNotifier>) -> Self {
        Self(Worker::new("lanecrypt-memory", notifier))
    }

    /// Makes the shared memory of a client.
    ///
    /// # Errors
    ///
    /// [`RejectReason::Memory`] if there is no thread.
    pub(super) fn make(&mut self, client: u64, layout: Layout) -> Result<(), RejectReason> {
        self.0.begin(|| Doer).map_err(|_| RejectReason::Memory)?;
        self.0.give(client, layout.length() as u64, Job::Make(layout));
        Ok(())
    }

    /// Drops something of a client, with this many bytes of shared memory, on the thread. If there
    /// is none, at once.
    pub(super) fn discard(&mut self, client: u64, memory: u64, what: impl Send + 'static) {
        if self.0.begin(|| Doer).is_ok() {
            self.0.give(client, memory, Job::Drop { _what: Box::new(what) });
        }
    }

    /// The finished memory, with its clients.
    pub(super) fn made(&self) -> impl Iterator<Item = (u64, Result<Offer, RejectReason>)> {
        self.0.done().into_iter().filter_map(|(client, done)| Some((client, done?)))
    }

    /// Drops jobs of a disconnected client that are not begun.
    pub(super) fn forget(&self, client: u64) {
        self.0.forget(client);
    }
}

struct Doer;

impl Work<Job, Done> for Doer {
    const TOGETHER: usize = 1;

    fn work(&mut self, jobs: &mut Vec<(u64, Job)>, done: &mut Vec<(u64, Done)>) {
        for (client, job) in jobs.drain(..) {
            match job {
                Job::Make(layout) => done.push((client, Some(make(layout)))),
                Job::Drop { .. } => {}
            }
        }
    }

    fn failed(_job: Job) -> Done {
        Some(Err(RejectReason::Memory))
    }
}

fn make(layout: Layout) -> Result<Offer, RejectReason> {
    let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
    let made = Mapping::make(layout).and_then(|made| Ok((made, eventfd(0, flags)?)));
    match made {
        Ok(((mapping, memory), doorbell)) => Ok(Offer { mapping, memory, doorbell }),
        Err(error) => Err(refusal(&error)),
    }
}

fn refusal(error: &io::Error) -> RejectReason {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::MFILE | Errno::NFILE) => RejectReason::Descriptors,
        _ => RejectReason::Memory,
    }
}
