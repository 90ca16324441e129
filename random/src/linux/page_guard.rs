//! Page locking, for pages that serve many threads.
//!
//! Two things protect such a page, unless it is a processor's own ([`crate::linux::rseq`]). The
//! thread's mark is set during a draw of this thread: a signal handler that finds the mark draws
//! from the kernel. The mark is outside of all pages and is *not* emptied by a fork. In the child
//! of a handler that forks, later handlers still find it. The page's lock is set while the page is
//! in use. It is inside the page and emptied by a fork, because the thread that held it does not
//! exist in the child.

use core::sync::atomic::{Ordering, compiler_fence};

use crate::linux::page::{Page, PageMut};
use crate::linux::volatile::Volatile;

/// Whether a draw is in progress, for signal handlers of the same thread. A compiler fence at each
/// end of the draw keeps all its accesses between them.
#[derive(Debug)]
pub(crate) struct Mark(Volatile<bool>);

impl Mark {
    pub(crate) const fn new() -> Self {
        Self(Volatile::new(false))
    }

    /// Begins a draw; `None` if this is a handler that interrupted one.
    #[inline(always)]
    pub(crate) fn begin(&self) -> Option<Marked<'_>> {
        if self.0.get() {
            return None;
        }
        self.0.set(true);
        compiler_fence(Ordering::SeqCst);
        Some(Marked(self))
    }
}

/// The draw in progress. It ends when this is dropped.
pub(crate) struct Marked<'a>(&'a Mark);

impl Drop for Marked<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.0.0.set(false);
    }
}

std::thread_local!(static MARK: Mark = const { Mark::new() });

impl Marked<'static> {
    /// Begins a draw from a page that serves many threads; `None` if this is a handler that
    /// interrupted one.
    #[inline(always)]
    pub(crate) fn of_thread() -> Option<Self> {
        let mark: *const Mark = MARK.with(core::ptr::from_ref);
        // SAFETY: the value has no destructor and stays in its place as long as the thread runs,
        // and the draw ends in this thread. A plain reference, so that the following code can be a
        // tail call.
        unsafe { &*mark }.begin()
    }

    /// Makes this draw the page's user, if the page is free.
    ///
    /// # Safety
    ///
    /// The page is only used in this way.
    #[inline(always)]
    pub(crate) unsafe fn try_lock<G>(self, page: &Page<G>) -> Result<PageGuard<'_, G>, Self> {
        if page.try_lock() { Ok(PageGuard { page, _draw: self }) } else { Err(self) }
    }
}

/// A page that this thread has locked. Dropping it unlocks the page.
pub(crate) struct PageGuard<'a, G> {
    page: &'a Page<G>,
    /// The mark ends after the page is unlocked.
    _draw: Marked<'static>,
}

impl<G> PageGuard<'_, G> {
    #[inline(always)]
    pub(crate) fn page(&mut self) -> PageMut<'_, G> {
        // SAFETY: the lock is held, and nobody uses the page without it. Handlers find the mark.
        unsafe { PageMut::new(self.page) }
    }
}

impl<G> Drop for PageGuard<'_, G> {
    #[inline(always)]
    fn drop(&mut self) {
        self.page.unlock();
    }
}
