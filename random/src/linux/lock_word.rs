//! A lock that a thread takes if it is free.
//!
//! Its atomic type is that of the module `sync`, so that a test can include it with that of `loom`
//! (`tests/memory_order.rs`).

use crate::sync::{AtomicU8, Ordering};

/// One while it is held, and zero in memory that the kernel has emptied.
#[derive(Default)]
#[repr(transparent)]
pub(crate) struct LockWord(AtomicU8);

impl LockWord {
    /// Takes the lock if it is free.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        // Acquire: pairs with the store in `unlock`, so that what its last holder did is seen.
        self.0.load(Ordering::Relaxed) == 0
            && self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Releases the lock.
    #[inline(always)]
    pub(crate) fn unlock(&self) {
        // Release: pairs with the exchange in `try_lock`.
        self.0.store(0, Ordering::Release);
    }
}
