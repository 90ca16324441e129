//! Pages that are locked in memory, within a budget: a quarter of the limit of the process, so that
//! the program can use the rest.
//!
//! The kernel locks and counts whole pages of the system. If these are larger than 4 KiB,
//! neighbouring pages of generators share some. Therefore a slab ([`crate::linux::slab`]) is locked
//! in *units*, each of them once: a page of a generator with the gap after it, or a page of the
//! system. The first generator's page that begins in a unit has its mark.

use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use crate::linux::page::{Page, SIZE, STRIDE};

/// The tally of locked pages. It is in memory that is zero in a forked child, which inherits no
/// locks. Relaxed everywhere: the numbers publish nothing else.
#[repr(C)]
pub(crate) struct Tally {
    bytes: AtomicUsize,
    /// Whether the limit applies to this process; zero before that was tested.
    limited: AtomicU8,
    /// Whether some page could not be locked.
    is_short: AtomicBool,
}

const LIMITED: u8 = 1;
const PRIVILEGED: u8 = 2;
/// The generators' share of the limit.
const PART: u64 = 4;

/// The most bytes that the process may lock. `None` means no limit.
pub(crate) fn limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a structure of the type that the call fills in.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) };
    if result != 0 {
        return Some(0);
    }
    #[allow(clippy::useless_conversion, reason = "limits have 32 bits on some processors")]
    (limit.rlim_cur != libc::RLIM_INFINITY).then(|| limit.rlim_cur.into())
}

impl Tally {
    /// The number of bytes that are locked.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether all pages could be locked.
    pub(crate) fn has_locked_all(&self) -> bool {
        !self.is_short.load(Ordering::Relaxed)
    }

    /// The most bytes that the generators may lock. `None` means no limit.
    pub(crate) fn budget(&self) -> Option<u64> {
        let limit = limit()?;
        (!self.is_privileged(limit)).then_some(limit / PART)
    }

    /// Locks a page, as far as it is not locked yet and the budget allows it.
    ///
    /// The gap after it is locked, too, so that locked pages form one mapping.
    ///
    /// # Safety
    ///
    /// The page is one of the slab that begins at `base`.
    pub(crate) unsafe fn lock<G>(&self, page: &Page<G>, base: NonNull<u8>) {
        let page = NonNull::from(page).cast();
        // SAFETY: the page is one of that slab.
        if !unsafe {
            lock_units(base, page, system_page(), |at, length| self.lock_unit(at, length))
        } {
            self.is_short.store(true, Ordering::Relaxed);
        }
    }

    /// Locks a unit, if the budget allows it.
    fn lock_unit(&self, at: NonNull<u8>, length: usize) -> bool {
        if !self.admit(length) {
            return false;
        }
        // SAFETY: the unit is part of a mapping, whose length the kernel has rounded up to pages of
        // the system.
        let is_locked =
            unsafe { libc::mlock2(at.as_ptr().cast(), length, libc::MLOCK_ONFAULT) } == 0;
        if !is_locked {
            self.bytes.fetch_sub(length, Ordering::Relaxed);
        }
        is_locked
    }

    /// Counts `length` bytes, if the budget allows that many more.
    fn admit(&self, length: usize) -> bool {
        let limit = limit();
        let with_these = |locked: usize| {
            let more = locked + length;
            let fits =
                limit.is_none_or(|limit| more as u64 <= limit / PART || self.is_privileged(limit));
            fits.then_some(more)
        };
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with_these).is_ok()
    }

    /// Whether the limit does not apply to this process (`CAP_IPC_LOCK`). This is tested once, by
    /// locking more than the limit of memory that is never touched. Having the capability does not
    /// suffice, because it is valid only in the first user namespace.
    fn is_privileged(&self, limit: u64) -> bool {
        let mut known = self.limited.load(Ordering::Relaxed);
        if known == 0 {
            known = if exceeds(limit) { PRIVILEGED } else { LIMITED };
            self.limited.store(known, Ordering::Relaxed);
        }
        known == PRIVILEGED
    }
}

/// The size of the system's pages.
fn system_page() -> usize {
    // SAFETY: asks for a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0).max(1)
}

/// Calls `lock` for the units with a part of a page, as far as they are not marked, and marks those
/// that it locks. Returns whether all are locked.
///
/// # Safety
///
/// The page is one of the slab that begins at `base`.
unsafe fn lock_units(
    base: NonNull<u8>,
    page: NonNull<u8>,
    system_page: usize,
    mut lock: impl FnMut(NonNull<u8>, usize) -> bool,
) -> bool {
    let length = STRIDE.next_multiple_of(system_page);
    let offset = page.addr().get() - base.addr().get();
    let mut units = offset / length..=(offset + SIZE - 1) / length;
    units.all(|unit| {
        let begin = unit * length;
        // SAFETY: a unit is not shorter than the distance of pages, so one of them begins in it.
        let first = unsafe { base.add(begin.next_multiple_of(STRIDE)).cast::<Page<()>>() };
        // SAFETY: it is a page of any kind, of which only an atomic number is used.
        let mark = unsafe { first.as_ref() }.locked();
        // If another thread is about to lock it and fails, that thread notes it.
        if mark.swap(true, Ordering::Relaxed) {
            return true;
        }
        // SAFETY: the unit begins in the slab.
        let is_locked = lock(unsafe { base.add(begin) }, length);
        // If it was locked in a child that a handler forked meanwhile, the mark stays zero there,
        // as does the count, until the child seeds the page.
        if !is_locked {
            mark.store(false, Ordering::Relaxed);
        }
        is_locked
    })
}

/// Whether more than `limit` bytes can be locked.
fn exceeds(limit: u64) -> bool {
    let Some(length) = usize::try_from(limit).ok().and_then(|limit| limit.checked_add(STRIDE))
    else {
        return false;
    };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping touches no memory that is in use.
    let base = unsafe { libc::mmap(null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return false;
    }
    // SAFETY: the range is exactly the fresh mapping. This brings none of it into memory.
    let is_locked = unsafe { libc::mlock2(base, length, libc::MLOCK_ONFAULT) } == 0;
    // SAFETY: nobody else knows of the mapping.
    unsafe { libc::munmap(base, length) };
    is_locked
}

#[cfg(test)]
mod tests {
    use core::alloc::Layout;
    use std::alloc::{alloc_zeroed, dealloc};
    use std::collections::BTreeSet;

    use super::*;

    const PAGES: usize = 16;
    const SLAB: usize = PAGES * STRIDE;

    /// Locks the pages with these numbers. Returns the pages of the system that were locked, by
    /// their numbers, each of them once.
    fn locked(system_page: usize, pages: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        let layout = Layout::from_size_align(SLAB.next_multiple_of(system_page), 1 << 18);
        let layout = layout.expect("a small slab");
        // SAFETY: the size is not zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).expect("there is memory");
        let mut locked = BTreeSet::new();
        for page in pages {
            let begin = page * STRIDE;
            let lock = |at: NonNull<u8>, length: usize| {
                let at = at.addr().get() - base.addr().get();
                assert!(at.is_multiple_of(system_page) && length.is_multiple_of(system_page));
                assert!(at + length <= layout.size(), "the unit is mapped");
                for number in at / system_page..(at + length) / system_page {
                    assert!(locked.insert(number), "{number} is locked twice");
                }
                true
            };
            // SAFETY: there are so many pages.
            let page = unsafe { base.add(begin) };
            // SAFETY: all of them are zero.
            assert!(unsafe { lock_units(base, page, system_page, lock) });
            let touched = begin / system_page..=(begin + SIZE - 1) / system_page;
            assert!(touched.into_iter().all(|number| locked.contains(&number)), "at {begin}");
            // SAFETY: as above.
            assert!(unsafe { lock_units(base, page, system_page, |_, _| false) });
        }
        // SAFETY: allocated above, and no longer used.
        unsafe { dealloc(base.as_ptr(), layout) };
        locked
    }

    #[test]
    fn each_page_of_the_system_is_locked_once() {
        for system_page in (12..=18).map(|bits| 1 << bits) {
            let whole = SLAB.div_ceil(system_page);
            assert_eq!(locked(system_page, 0..PAGES).len(), whole, "{system_page}");
            assert_eq!(locked(system_page, (0..PAGES).rev()).len(), whole, "{system_page}");
            let shuffled = (0..PAGES).map(|i| i * 7 % PAGES);
            assert_eq!(locked(system_page, shuffled).len(), whole, "{system_page}");
        }
        for page in 0..PAGES {
            let with_gap: BTreeSet<usize> = (page * 3..page * 3 + 3).collect();
            assert_eq!(locked(4096, core::iter::once(page)), with_gap);
        }
        // Those of 16 KiB that the second page is in; five pages are in the first one of 64 KiB.
        assert_eq!(locked(16 << 10, core::iter::once(1)), BTreeSet::from([0, 1]));
        assert_eq!(locked(64 << 10, 0..5), BTreeSet::from([0]));
    }

    #[test]
    fn a_unit_that_is_refused_is_tried_again() {
        for system_page in [4 << 10, 16 << 10, 64 << 10] {
            let layout = Layout::from_size_align(SLAB, 1 << 18).expect("a small slab");
            // SAFETY: the size is not zero.
            let base = NonNull::new(unsafe { alloc_zeroed(layout) }).expect("there is memory");
            for answer in [false, false, true] {
                let mut calls = 0;
                let lock = |_: NonNull<u8>, _: usize| {
                    calls += 1;
                    answer
                };
                // SAFETY: the first page, which is zero.
                assert_eq!(unsafe { lock_units(base, base, system_page, lock) }, answer);
                assert_eq!(calls, 1);
            }
            // SAFETY: allocated above, and no longer used.
            unsafe { dealloc(base.as_ptr(), layout) };
        }
    }
}
