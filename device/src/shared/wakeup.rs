//! How one side sleeps until the other has something for it, and no wake-up is lost.
//!
//! Its atomic types come from the module `sync` beside it, so that a test can take it with those of
//! `loom` (`tests/wake_loom.rs`).

use super::sync::{AtomicU32, Ordering, fence};

/// A word that says whether its sleeper is to be woken.
///
/// The sleeper says that it goes to sleep, looks once more, and sleeps. The other side publishes,
/// and then asks whether to wake. Of the two fences one comes first. If it is the sleeper's, the
/// other side sees that somebody sleeps. If it is that of the other side, the sleeper sees what was
/// published when it looks once more.
///
/// Both sides write the word. One that writes nonsense is not woken, or wakes in vain.
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

    /// Says that the caller goes to sleep. Before it sleeps it must [settle](settle) and look once
    /// more for what was published.
    #[inline]
    pub(crate) fn falls_asleep(self) {
        // Relaxed: the fence of `settle` pairs with that in `is_due`.
        self.0.store(Self::ASLEEP, Ordering::Relaxed);
    }

    /// Says that the caller is awake, whoever woke it.
    #[inline]
    pub(crate) fn wakes_up(self) {
        // Relaxed: if it comes late, somebody wakes a side that is awake.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Whether the caller, which has published something and has [settled](settle) since, must wake
    /// the other side.
    #[inline]
    pub(crate) fn is_due(self) -> bool {
        // Relaxed: the fence of `settle` pairs with that of the sleeper. Nonsense counts as asleep,
        // which costs whoever wrote it a vain wake-up.
        //
        // Of one that has just woken up by itself, the exchange leaves the word alone. To write it
        // even then would be right as well, because what is exchanged directly follows what was
        // read, so that it cannot hide that the sleeper goes to sleep again. `loom` does not know
        // that, and could not show it.
        let word = self.0.load(Ordering::Relaxed);
        word != 0 && self.0.compare_exchange(word, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// Stands between saying that one sleeps and looking once more; and between publishing and asking
/// whether to wake. It pairs with itself on the other side.
#[inline]
pub(crate) fn settle() {
    fence(Ordering::SeqCst);
}
