//! Operations that wait for each other.
//!
//! In an asynchronous job, an operation goes into a queue of its thread, and the job pauses. The
//! program continues with others, which do the same. The first job that it resumes does all the
//! operations that wait, side by side. The others find theirs done.
//!
//! What waits belongs to the queue, not to the job: a job that is never resumed, together with its
//! keys and contexts, may be freed meanwhile. A job that another thread resumes keeps its queue.

mod job;

use core::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use self::job::{Job, Jobs};

/// The most operations that are done at once. More would make the first one wait and save nothing.
const MOST: usize = 32;

/// An operation that can wait for others.
pub(crate) trait Work: Send + Sync + Sized + 'static {
    /// What becomes of it.
    type Outcome: Send;

    /// Does operations together. There is an outcome for each.
    fn serve(batch: &[&Self]) -> Vec<Self::Outcome>;
}

/// The operations that wait in a thread. The lock is held while they are done.
pub(crate) struct Queue<W: Work>(Mutex<Vec<Arc<Waiting<W>>>>);

/// An operation that waits, or is done.
struct Waiting<W: Work> {
    work: W,
    outcome: Mutex<Option<W::Outcome>>,
}

impl<W: Work> Default for Queue<W> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<W: Work> Queue<W> {
    /// Does an operation together with others, when the program resumes the job. None if it was
    /// lost.
    pub(crate) fn wait(self: &Arc<Self>, work: W, job: &Job<'_>) -> Option<W::Outcome> {
        let waiting = Arc::new(Waiting { work, outcome: Mutex::new(None) });
        self.lock().push(Arc::clone(&waiting));
        let (queue, abandoned) = (Arc::clone(self), Arc::clone(&waiting));
        job.pause(Box::new(move || {
            queue.lock().retain(|other| !Arc::ptr_eq(other, &abandoned));
        }));
        waiting.take().or_else(|| {
            self.serve(&waiting);
            waiting.take()
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Waiting<W>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does one operation and others that wait.
    fn serve(&self, first: &Arc<Waiting<W>>) {
        let mut waiting = self.lock();
        // Another thread may have done it until the lock was free.
        let Some(own) = waiting.iter().position(|other| Arc::ptr_eq(other, first)) else { return };
        waiting.swap(0, own);
        let now = waiting.len().min(MOST);
        let others = waiting.split_off(now);
        let batch = mem::replace(&mut *waiting, others);
        let works: Vec<_> = batch.iter().map(|waiting| &waiting.work).collect();
        for (waiting, outcome) in batch.iter().zip(W::serve(&works)) {
            *waiting.outcome() = Some(outcome);
        }
    }
}

impl<W: Work> Waiting<W> {
    fn outcome(&self) -> MutexGuard<'_, Option<W::Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<W::Outcome> {
        self.outcome().take()
    }
}
