//! Where threads cannot be pinned: they run where the system lets them.

use std::thread::available_parallelism;

/// The processors, highest first.
#[must_use]
pub(crate) fn allowed() -> Vec<usize> {
    (0..available_parallelism().map_or(1, usize::from)).rev().collect()
}

#[derive(Debug)]
pub(crate) struct Pinned;

impl Pinned {
    pub(crate) const fn to(_cpu: usize) -> Self {
        Self
    }
}
