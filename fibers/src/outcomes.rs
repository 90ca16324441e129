//! What became of the closures.

use core::any::Any;
use core::panic::AssertUnwindSafe;
use std::panic::{catch_unwind, resume_unwind};

/// What became of the closures so far.
pub(crate) struct Outcomes<R> {
    pub(crate) results: Vec<Option<R>>,
    /// The first one.
    panic: Option<Box<dyn Any + Send>>,
}

impl<R> Outcomes<R> {
    pub(crate) const fn new() -> Self {
        Self { results: Vec::new(), panic: None }
    }

    /// Runs a closure on the caller's stack.
    pub(crate) fn alone(&mut self, closure: impl FnOnce() -> R) {
        // The caller gets the panic, and nothing here has invariants to break.
        let result = catch_unwind(AssertUnwindSafe(closure));
        let result = result.map_err(|panic| self.panicked(panic)).ok();
        self.results.push(result);
    }

    pub(crate) fn panicked(&mut self, panic: Box<dyn Any + Send>) {
        self.panic.get_or_insert(panic);
    }

    /// The results, or the first panic.
    pub(crate) fn finish(self) -> Vec<R> {
        if let Some(panic) = self.panic {
            drop(self.results);
            resume_unwind(panic);
        }
        // Without a panic, each closure has a result.
        self.results.into_iter().flatten().collect()
    }
}
