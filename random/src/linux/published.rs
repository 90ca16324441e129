//! What one of several threads makes and publishes, once, for all of them. It stays for ever.
//!
//! Its atomic types are those of the module `sync`, so that a test can include it with those of
//! `loom` (`tests/memory_order.rs`).

use core::ptr::null_mut;

use crate::sync::{AtomicPtr, AtomicUsize, Ordering};

/// A pointer, null before it is published.
#[repr(transparent)]
pub(crate) struct Published<T>(pub(crate) AtomicPtr<T>);

impl<T> Published<T> {
    /// What was published, with everything that its publisher did before; or null.
    #[inline]
    pub(crate) fn get(&self) -> *mut T {
        // Acquire: pairs with the exchange in `publish`.
        self.0.load(Ordering::Acquire)
    }

    /// Publishes a pointer. If another thread was first, the error is what it has published.
    pub(crate) fn publish(&self, new: *mut T) -> Result<*mut T, *mut T> {
        // Release: pairs with `get` and with the acquire of those who come later.
        let before = self.0.compare_exchange(null_mut(), new, Ordering::Release, Ordering::Acquire);
        before.map(|_| new)
    }
}

/// A slice, empty before it is published. The threads agree on its length first.
pub(crate) struct PublishedSlice<T> {
    pub(crate) first: Published<T>,
    /// Zero before they agree. Relaxed: the publisher has read it before, and who finds the slice
    /// then reads the same.
    pub(crate) length: AtomicUsize,
}

impl<T> PublishedSlice<T> {
    /// The length: that of the first caller.
    pub(crate) fn agree(&self, length: usize) -> usize {
        let before = self.length.compare_exchange(0, length, Ordering::Relaxed, Ordering::Relaxed);
        before.err().unwrap_or(length)
    }

    /// Publishes a slice. False if another thread was first.
    ///
    /// # Safety
    ///
    /// It is valid for ever, and has the length on which this thread has [agreed](Self::agree).
    pub(crate) unsafe fn publish(&self, first: *mut T) -> bool {
        self.first.publish(first).is_ok()
    }

    /// The first element, or null; and the length, if there is a first one.
    #[inline(always)]
    pub(crate) fn parts(&self) -> (*mut T, usize) {
        let first = self.first.get();
        (first, self.length.load(Ordering::Relaxed))
    }

    pub(crate) fn get(&self) -> &'static [T] {
        let (first, length) = self.parts();
        if first.is_null() {
            return &[];
        }
        // SAFETY: what was published is valid for ever and has this length.
        unsafe { core::slice::from_raw_parts(first, length) }
    }
}
