//! Sleeping until another thread publishes something, without lost wake-ups.
//!
//! Its atomic types are those of the module `sync`, so that a test can include it with
//! those of `loom` (`tests/memory_order.rs`).

use crate::sync::{AtomicBool, Ordering, fence};

/// Whether a sleeper is to be woken.
///
/// The sleeper sets its flag, checks once more, and sleeps. The other side publishes, and then
/// checks the flag. One of the two fences is first. If it is the sleeper's, the other side sees the
/// flag. If it is that of the other side, the sleeper's last check finds the published data.
#[derive(Debug)]
pub(crate) struct Wakeup {
    asleep: AtomicBool,
}

impl Wakeup {
    pub(crate) fn new() -> Self {
        Self { asleep: AtomicBool::new(false) }
    }

    /// Sets the caller's flag, unless `found` finds something now. Returns whether it may sleep; it
    /// must then be woken by the caller of [`wakes`](Self::wakes).
    pub(crate) fn falls_asleep(&self, found: impl FnOnce() -> bool) -> bool {
        // Relaxed: the fence pairs with that in `may_be_to_ring`.
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if found() {
            self.wakes_up();
            return false;
        }
        true
    }

    /// Clears the flag, after any wake-up.
    pub(crate) fn wakes_up(&self) {
        // Relaxed: if it is seen late, a thread that is awake is woken.
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// Whether the sleeper's flag is still set, because no thread has woken it.
    #[inline]
    pub(crate) fn is_asleep(&self) -> bool {
        // Relaxed: if it is false, another thread is waking it or has woken it.
        self.asleep.load(Ordering::Relaxed)
    }

    /// Whether a thread may sleep that must see the data published by the caller. The caller then
    /// checks whether it is the one that [`wakes`](Self::wakes).
    #[inline]
    pub(crate) fn may_be_to_ring(&self) -> bool {
        // It pairs with that in `falls_asleep`. The data for the sleeper was published before.
        fence(Ordering::SeqCst);
        self.is_asleep()
    }

    /// Whether the caller, which has published something, must wake the sleeper.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.may_be_to_ring() && self.wakes()
    }

    /// Whether the caller is the one that wakes the sleeper. Exactly one of several callers is.
    #[cold]
    pub(crate) fn wakes(&self) -> bool {
        let was = self.asleep.compare_exchange(true, false, Ordering::Relaxed, Ordering::Relaxed);
        was.is_ok()
    }
}
