//! The measurement of one kind, and the number of changes.
//!
//! Its atomic types are those of the module `sync`, so that a test can include it with those of
//! `loom` (`tests/memory_order.rs`).

use super::AtDepths;
use crate::sync::{AtomicU8, AtomicUsize, OnceLock, Ordering};

/// The measurement of a kind.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// Zero before a session was opened. Relaxed everywhere: it only selects the thread that
    /// measures.
    pub(super) state: AtomicU8,
    pub(super) lengths: OnceLock<AtDepths>,
}

/// One session has been opened. A program with a single session may never fill a batch.
const USED: u8 = 1;
/// The measurement has begun, and has perhaps ended.
const BEGUN: u8 = 2;

impl Measured {
    #[inline]
    pub(crate) fn lengths(&self) -> Option<&AtDepths> {
        self.lengths.get()
    }

    pub(crate) fn set(&self, lengths: AtDepths, changes: &Changes) {
        // Only the thread that begins a measurement sets them.
        let _ = self.lengths.set(lengths);
        changes.add();
    }

    /// Counts a session. True for the second one, whose thread measures.
    #[inline]
    pub(crate) fn is_second_session(&self) -> bool {
        self.state.load(Ordering::Relaxed) != BEGUN && self.advance() == USED
    }

    /// True for the first caller: the measurement has not begun before.
    pub(crate) fn begin(&self) -> bool {
        self.state.swap(BEGUN, Ordering::Relaxed) != BEGUN
    }

    /// Makes the next step, unless the measurement has begun. Returns the state before.
    #[cold]
    fn advance(&self) -> u8 {
        let next = |state| (state != BEGUN).then_some(state + 1);
        let before = self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        before.unwrap_or(BEGUN)
    }
}

/// The number of measurements that have ended.
#[derive(Debug, Default)]
pub(crate) struct Changes(pub(super) AtomicUsize);

impl Changes {
    fn add(&self) {
        // Release: pairs with `get`, so that who sees the change finds the lengths.
        self.0.fetch_add(1, Ordering::Release);
    }

    #[inline]
    pub(crate) fn get(&self) -> usize {
        // Acquire: pairs with `add`. It is read before the lengths.
        self.0.load(Ordering::Acquire)
    }
}
