//! Whose turn it is, where a page serves many threads.
//!
//! Two things stand between a draw and such a page, if it is not a processor's own ([`crate::rseq`]).
//! The thread's mark says that this thread is in
//! the middle of a draw: a signal handler that finds it asks the kernel. It lies outside of all pages
//! and is *not* emptied by a fork: in the child of a handler that forks, later handlers still find
//! it. The page's lock says that somebody uses the page; it lies inside and is emptied by a fork,
//! since the thread that held it does not exist in the child.

use core::cell::Cell;
use core::sync::atomic::Ordering;

use crate::page::PagePtr;

std::thread_local!(static MARK: Mark = const { Mark(Cell::new(false)) });

/// Whether the calling thread is in the middle of a draw from a page that serves many threads.
#[derive(Debug)]
pub(crate) struct Mark(Cell<bool>);

impl Mark {
    /// The calling thread's.
    ///
    /// A plain reference, so that what follows can be a tail call.
    #[inline(always)]
    pub(crate) fn here<'call>() -> &'call Self {
        let mark: *const Self = MARK.with(core::ptr::from_ref);
        // SAFETY: the value has no destructor and stays where it is as long as the thread runs;
        // callers use it during their call only.
        unsafe { &*mark }
    }

    /// Begins a draw; false if this is a handler that interrupted one.
    #[inline(always)]
    pub(crate) fn begin(&self) -> bool {
        // SAFETY: the cell is a live byte. Volatile, because signal handlers change it, too.
        let is_drawing = unsafe { self.0.as_ptr().read_volatile() };
        if !is_drawing {
            // SAFETY: as above; cells may be written through a shared reference by their own thread.
            unsafe { self.0.as_ptr().write_volatile(true) };
        }
        !is_drawing
    }

    /// Ends the draw that was begun.
    #[inline(always)]
    pub(crate) fn end(&self) {
        // SAFETY: as in `begin`.
        unsafe { self.0.as_ptr().write_volatile(false) };
    }
}

impl PagePtr {
    /// Takes the page's lock if it is free.
    ///
    /// # Safety
    ///
    /// The page is mapped and is one that serves many threads.
    #[inline]
    pub(crate) unsafe fn try_lock(self) -> bool {
        // SAFETY: the caller's promise; the lock is only ever used as an atomic.
        let lock = unsafe { &(*self.0).lock };
        // Acquire pairs with the store in `unlock`.
        lock.load(Ordering::Relaxed) == 0
            && lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives the page's lock up.
    ///
    /// # Safety
    ///
    /// The caller holds it.
    #[inline(always)]
    pub(crate) unsafe fn unlock(self) {
        // SAFETY: the caller's promise.
        unsafe { &(*self.0).lock }.store(0, Ordering::Release);
    }
}
