//! How a thread sleeps until another one has something for it, and no wake-up is lost.
//!
//! Its atomic types come from the module `sync` beside it, so that a test can take it with those of
//! `loom` (`tests/queue_loom.rs`).

use super::sync::{AtomicBool, Ordering, fence};

/// Whether a sleeper is to be woken.
///
/// The sleeper says that it goes to sleep, looks once more, and sleeps. The other side publishes,
/// and then asks whether to wake. Of the two fences one comes first. If it is the sleeper's, the
/// other side sees that somebody sleeps. If it is that of the other side, the sleeper sees what was
/// published when it looks once more.
#[derive(Debug)]
pub(crate) struct Wakeup {
    asleep: AtomicBool,
}

impl Wakeup {
    pub(crate) fn new() -> Self {
        Self { asleep: AtomicBool::new(false) }
    }

    /// Says that the caller goes to sleep, unless `found` finds something now. Answers whether it
    /// may sleep; it must then be woken by whoever [`wakes`](Self::wakes).
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

    /// Says that the caller is awake, whoever woke it.
    pub(crate) fn wakes_up(&self) {
        // Relaxed: if it comes late, somebody wakes a thread that is awake.
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// Whether the sleeper is still said to be asleep, because nobody has rung.
    #[inline]
    pub(crate) fn is_asleep(&self) -> bool {
        // Relaxed: if it is false, somebody rings or has rung.
        self.asleep.load(Ordering::Relaxed)
    }

    /// Whether somebody may sleep who must see what the caller has published. Then the caller asks
    /// whether it is the one that [`wakes`](Self::wakes).
    #[inline]
    pub(crate) fn may_be_to_ring(&self) -> bool {
        // It pairs with that in `falls_asleep`. What the sleeper is to see was published before.
        fence(Ordering::SeqCst);
        self.is_asleep()
    }

    /// Whether the caller, which has published something, must wake the sleeper.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.may_be_to_ring() && self.wakes()
    }

    /// Whether the caller is the one that wakes the sleeper. Of several callers one is.
    #[cold]
    pub(crate) fn wakes(&self) -> bool {
        let was = self.asleep.compare_exchange(true, false, Ordering::Relaxed, Ordering::Relaxed);
        was.is_ok()
    }
}
