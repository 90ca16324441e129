//! What was made of the parts of other providers.
//!
//! Rustls needs references that live forever. A list of what was made, found by the address of the
//! base's part, bounds its size.

use std::sync::{Mutex, PoisonError};

/// Values that live forever, by the base's.
pub(crate) struct Known<T: ?Sized + 'static>(Mutex<Vec<Pair<T>>>);

struct Pair<T: ?Sized + 'static> {
    base: &'static T,
    ours: &'static T,
}

impl<T: ?Sized> Known<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Ours in place of `base`, which may be ours already.
    pub(crate) fn of(&self, base: &'static T, make: impl FnOnce() -> &'static T) -> &'static T {
        // A panic while the lock was held left the list whole.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |pair: &&Pair<T>| {
            // Not by name, which parts of several providers share.
            core::ptr::eq(pair.base, base) || core::ptr::eq(pair.ours, base)
        };
        if let Some(pair) = known.iter().find(is_it) {
            return pair.ours;
        }
        let ours = make();
        known.push(Pair { base, ours });
        ours
    }
}
