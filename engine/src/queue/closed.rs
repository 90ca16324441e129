//! The end of a queue, for its worker.
//!
//! Its atomic type is that of the module `sync`, so that a test can include it with that of `loom`
//! (`tests/memory_order.rs`).

use crate::sync::{AtomicBool, Ordering};

/// Whether the queue is closed: nothing is submitted after that.
#[derive(Debug)]
pub(crate) struct Closed(AtomicBool);

impl Closed {
    pub(crate) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Closes the queue, after the last submission.
    pub(crate) fn set(&self) {
        // Release: pairs with `is_set`, so that the worker then sees all submissions.
        self.0.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        // Acquire: pairs with `set`.
        self.0.load(Ordering::Acquire)
    }
}
