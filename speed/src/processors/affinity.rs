//! Affinities of threads, by Linux.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors that the calling thread may use, highest first.
///
/// The highest comes first because the lowest serves most interrupts.
#[must_use]
pub(crate) fn allowed() -> Vec<usize> {
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).rev().filter(|&cpu| set.is_set(cpu)).collect(),
        Err(_) => vec![0],
    }
}

/// Keeps the calling thread on one processor until this is dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    before: Option<CpuSet>,
}

impl Pinned {
    /// Pins the calling thread. If that is refused, it stays unpinned: the figures are then
    /// noisier, not wrong.
    pub(crate) fn to(cpu: usize) -> Self {
        let before = sched_getaffinity(None).ok();
        let mut set = CpuSet::new();
        set.set(cpu);
        let done = sched_setaffinity(None, &set).is_ok();
        Self { before: before.filter(|_| done) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // After a failure the thread stays where it is, and nothing depends on that.
            let _ = sched_setaffinity(None, before);
        }
    }
}
