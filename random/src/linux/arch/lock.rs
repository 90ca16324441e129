//! No page is locked without an atomic instruction on these processors: the number of the processor
//! takes a call.

use core::ptr::NonNull;

use crate::linux::page::Page;
use crate::linux::table::Entry;

/// Locks a page: see [`rseq::lock`](crate::linux::rseq::lock).
///
/// # Safety
///
/// `offset` is that of the calling thread's area. There are `count` entries at `entries`. They stay
/// mapped, and so do the pages that are published there.
#[inline(always)]
pub(crate) unsafe fn lock<G, const WHICH: usize>(
    _offset: isize,
    _entries: *const Entry<G>,
    _count: usize,
) -> Option<(NonNull<Page<G>>, *const Entry<G>)> {
    None
}
