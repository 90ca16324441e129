//! Locking the page of the processor that the thread runs on, without an atomic instruction.
//!
//! A *restartable sequence* (Linux 4.18) is a series of instructions that the kernel aborts if the
//! thread is preempted, moved to another processor or interrupted by a signal before the last one.
//! Threads on one processor never run at the same time. So "read the processor's number, find its
//! page, check that the lock is free, set it" is as good as atomic among the threads of that
//! processor. It costs a few plain instructions, while an atomic exchange costs more than the rest
//! of a draw.
//!
//! If threads have no area for that ([`crate::linux::rseq_area`]), callers take an ordinary lock.

use core::sync::atomic::Ordering;

use crate::linux::arch;
use crate::linux::page::{Page, PageMut};
use crate::linux::table::{Entry, Place, Table};

/// One of a processor's own pages, the first or the second, locked by this thread. Dropping it
/// unlocks the page, on any processor.
///
/// Two words, so that it is passed in registers.
pub(crate) struct Own<G: 'static, const WHICH: usize> {
    page: &'static Page<G>,
    entry: &'static Entry<G>,
}

impl<G, const WHICH: usize> Own<G, WHICH> {
    /// The place in which the page is published.
    pub(crate) fn place(&self) -> &'static Place<G> {
        &self.entry.own[WHICH]
    }

    #[inline(always)]
    pub(crate) fn page(&mut self) -> PageMut<'_, G> {
        // SAFETY: the lock is held, and nobody uses an own page without it.
        unsafe { PageMut::new(self.page) }
    }
}

impl<G, const WHICH: usize> Drop for Own<G, WHICH> {
    #[inline(always)]
    fn drop(&mut self) {
        // Pairs with the load in `arch::lock`.
        self.entry.is_locked[WHICH].store(false, Ordering::Release);
    }
}

/// Locks an own page, the first or the second, of the processor on which this thread runs. `None`
/// if there is no page yet, if it is locked, or if the thread was interrupted meanwhile.
#[inline(always)]
pub(crate) fn lock<G, const WHICH: usize>(table: &'static Table<G>) -> Option<Own<G, WHICH>> {
    // Pairs with the store when the table was ready.
    let area = table.area.load(Ordering::Acquire);
    if area == 0 {
        return None;
    }
    let (entries, count) = table.entries.parts();
    // SAFETY: the offset is not zero, so the table is ready. Entries and pages stay mapped.
    let (page, entry) = unsafe { arch::lock::<G, WHICH>(area, entries, count) }?;
    // SAFETY: published pages stay mapped.
    let page = unsafe { page.as_ref() };
    // SAFETY: entries stay mapped, and everything in them is atomic.
    let entry = unsafe { &*entry };
    Some(Own { page, entry })
}

#[cfg(test)]
mod tests;
