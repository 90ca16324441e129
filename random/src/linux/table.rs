//! The pages of the processors: their publication, and the allocation for a processor.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicIsize, AtomicPtr, AtomicUsize, Ordering};

use crate::linux::page::{Page, PageMut};
use crate::linux::pool::{self, Slot};
use crate::linux::published::{Published, PublishedSlice};
use crate::linux::rseq_area;
use crate::linux::slab::User;
use crate::linux::vdso::State;

/// The pages of one processor. A fork empties the pages, but not this entry.
///
/// Two cache lines, because processors fetch them in pairs and each entry is written by one
/// processor.
#[repr(C, align(128))]
pub(crate) struct Entry<G> {
    /// The pages that are locked only by [`rseq::lock`](crate::linux::rseq::lock), by threads on
    /// this processor. The second one is used if the holder of the first one is preempted.
    pub(crate) own: [Place<G>; 2],
    /// Whether they are in use.
    pub(crate) is_locked: [AtomicBool; 2],
    /// The page that any thread may lock atomically.
    pub(crate) common: Place<G>,
}

// `arch::lock` multiplies by this size a processor's number, which has 32 bits.
const _: () = assert!(size_of::<Entry<()>>() == 128);

/// The place in which a page and its state of the kernel's generator are published.
#[repr(C)]
pub(crate) struct Place<G> {
    pub(crate) page: Published<Page<G>>,
    /// The state in the vDSO that belongs to the page, or null. Set after `page`, by the same
    /// thread, and used only by the page's user. Relaxed: the state passes from user to user with
    /// the page, and a user that finds null does without it.
    vdso: AtomicPtr<u8>,
}

impl<G: 'static> Place<G> {
    /// The page that was published here.
    pub(crate) fn page(&self) -> Option<&'static Page<G>> {
        // SAFETY: published pages stay mapped.
        unsafe { self.page.get().as_ref() }
    }

    /// The state of the kernel's generator that belongs to the page, for the page's user.
    pub(crate) fn vdso(&self, _user: &PageMut<'_, G>) -> State {
        // SAFETY: nothing but the page's state is put there.
        unsafe { State::from_ptr(self.vdso.load(Ordering::Relaxed)) }
    }

    /// Whether no page has been published here.
    pub(crate) fn is_vacant(&self) -> bool {
        self.page.get().is_null()
    }

    /// Publishes a page. If threads race, one page is published and the others are returned.
    pub(crate) fn publish(&self, slot: Slot<G>) {
        let (page, vdso) = slot.into_parts();
        let new = core::ptr::from_ref(page).cast_mut();
        match self.page.publish(new) {
            Ok(_) => self.vdso.store(vdso.as_ptr(), Ordering::Relaxed),
            // SAFETY: both are parts of the slot, and nobody else has seen them.
            Err(_) => drop(unsafe { Slot::from_parts(page, vdso) }),
        }
    }
}

/// The data for [`rseq::lock`](crate::linux::rseq::lock). Every draw reads it, and it is written
/// once. It has its own cache line, so that writes of other threads do not disturb it.
#[repr(align(64))]
pub(crate) struct Table<G> {
    /// An entry for each processor.
    pub(crate) entries: PublishedSlice<Entry<G>>,
    /// The offset of a thread's area from the thread pointer, in bytes; zero as long as the table
    /// is not ready, or if there is no area. Released after the other fields.
    pub(crate) area: AtomicIsize,
}

impl<G: 'static> Table<G> {
    /// A table before the first draw.
    pub(crate) const fn new() -> Self {
        Self {
            entries: PublishedSlice {
                first: Published(AtomicPtr::new(null_mut())),
                length: AtomicUsize::new(0),
            },
            area: AtomicIsize::new(0),
        }
    }

    /// The published entries.
    pub(crate) fn entries(&self) -> &'static [Entry<G>] {
        self.entries.get()
    }

    /// Maps the entries, and allocates this processor's missing pages, as far as the kernel allows.
    #[cold]
    pub(crate) fn prepare(&self) {
        if self.entries().is_empty() {
            self.map();
        }
        let entries = self.entries();
        let cpu = this_processor();
        let Some(entry) = entries.get(cpu % entries.len().max(1)) else { return };
        // A processor beyond the end of the table has no pages of its own.
        // Relaxed: it only says whether own pages will be used.
        let has_own = cpu < entries.len() && self.area.load(Ordering::Relaxed) != 0;
        let own = if has_own { &entry.own[..] } else { &[] };
        for place in own.iter().chain([&entry.common]) {
            if place.is_vacant()
                && let Ok(slot) = pool::take(User::Value)
            {
                place.publish(slot);
            }
        }
    }

    /// Maps the entries and publishes them. If memory is short, the next draw tries again.
    fn map(&self) {
        // SAFETY: asks for a number.
        let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        let count = usize::try_from(count).unwrap_or(1).max(1);
        // Threads may get different numbers.
        let count = self.entries.agree(count);
        let length = count * size_of::<Entry<G>>();
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // Mapped and not allocated, because this may be a signal handler.
        // SAFETY: a fresh anonymous mapping touches no memory that is in use.
        let base = unsafe { libc::mmap(null_mut(), length, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return;
        }
        // SAFETY: the mapping holds this many entries. They are all zero at first, which is valid.
        // The mapping stays for ever, and everything in it is atomic.
        if !unsafe { self.entries.publish(base.cast()) } {
            // SAFETY: this mapping was made above and nobody else has seen it.
            unsafe { libc::munmap(base, length) };
        }
        // Release: pairs with the load in `rseq::lock`. Both threads that race store the same.
        self.area.store(rseq_area::offset(), Ordering::Release);
    }
}

/// The number of the processor on which this thread is running at this moment.
pub(crate) fn this_processor() -> usize {
    // SAFETY: asks for a number.
    usize::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn threads_that_race_get_the_same_entries() {
        static TABLE: Table<()> = Table::new();
        let threads = [(); 3].map(|()| {
            thread::spawn(|| {
                if TABLE.entries().is_empty() {
                    TABLE.map();
                }
                TABLE.entries().iter().all(|entry| entry.common.is_vacant())
            })
        });
        assert!(threads.map(|thread| thread.join().expect("it only maps")).iter().all(|it| *it));
        assert!(!TABLE.entries().is_empty());
    }
}
