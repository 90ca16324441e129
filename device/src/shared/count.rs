//! The number of entries of a ring that its writer has published.
//!
//! Its atomic types are those of the module `sync`, so that a test can include it with
//! those of `loom` (`tests/memory_order.rs`).

use crate::sync::{AtomicU32, Ordering};

/// The number of entries that one side claims to have published in its ring, modulo 2^32.
///
/// Both rings together also order the reuse of places and of the arena. A client that has read a
/// completion may overwrite the request, which the daemon read before it published the completion.
/// The daemon may overwrite a completion when it finds requests that the client published after it
/// had read that completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count<'m>(&'m AtomicU32);

impl<'m> Count<'m> {
    pub(crate) fn new(word: &'m AtomicU32) -> Self {
        Self(word)
    }

    #[inline]
    pub(crate) fn get(self) -> u32 {
        // Acquire: pairs with `publish`, so that the entries are seen, too.
        self.0.load(Ordering::Acquire)
    }

    /// Publishes the entries before this number.
    #[inline]
    pub(crate) fn publish(self, number: u32) {
        // Release: pairs with `get`. Earlier reads of the other ring come before it, too.
        self.0.store(number, Ordering::Release);
    }
}
