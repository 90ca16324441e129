//! Sleeping until the other side publishes something, without lost wake-ups.
//!
//! Its atomic types are those of the module `sync`, so that a test can include it with
//! those of `loom` (`tests/memory_order.rs`).

use crate::sync::{AtomicU32, Ordering, fence};

/// A flag: whether its sleeper is to be woken.
///
/// The sleeper sets its word, checks once more, and sleeps. The other side publishes, and then
/// checks the word. One of the two fences is first. If it is the sleeper's, the other side sees the
/// word. If it is that of the other side, the sleeper's last check finds the published data.
///
/// Both sides write the word. A side that writes an invalid value misses a wake-up or gets a vain
/// one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wakeup<'m>(&'m AtomicU32);

impl<'m> Wakeup<'m> {
    /// The value of the word while its owner sleeps.
    pub(crate) const ASLEEP: u32 = 1;

    pub(crate) fn new(word: &'m AtomicU32) -> Self {
        Self(word)
    }

    /// The word, to wait for a change of it.
    pub(crate) fn word(self) -> &'m AtomicU32 {
        self.0
    }

    /// Sets the caller's word. Before it sleeps it must [settle](settle) and check once more for
    /// published data.
    #[inline]
    pub(crate) fn falls_asleep(self) {
        // Relaxed: the fence of `settle` pairs with that in `is_due`.
        self.0.store(Self::ASLEEP, Ordering::Relaxed);
    }

    /// Clears the word, after any wake-up.
    #[inline]
    pub(crate) fn wakes_up(self) {
        // Relaxed: if it is seen late, a side that is awake is woken.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Whether the caller, which has published something and has [settled](settle) since, must wake
    /// the other side.
    #[inline]
    pub(crate) fn is_due(self) -> bool {
        // Relaxed: the fence of `settle` pairs with that of the sleeper. An invalid value counts as
        // asleep, which costs its writer a vain wake-up.
        //
        // If the sleeper has just woken without a wake-up, the exchange does not write the word. A
        // write would be correct even then, because the exchange directly follows the value that
        // was read, and cannot hide that the sleeper goes to sleep again. `loom` does not model
        // that.
        let word = self.0.load(Ordering::Relaxed);
        word != 0 && self.0.compare_exchange(word, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// The fence between setting the word and the last check; and between publishing and checking the
/// word. It pairs with itself on the other side.
#[inline]
pub(crate) fn settle() {
    fence(Ordering::SeqCst);
}
