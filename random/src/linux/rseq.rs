//! Locking the page of the processor that the thread runs on, without an atomic instruction.
//!
//! A *restartable sequence* (Linux 4.18) is a series of instructions that the kernel aborts if the
//! thread is preempted, moved to another processor or interrupted by a signal before the last one.
//! Threads on one processor never run at the same time. So "read the processor's number, find its
//! page, check that the lock is free, set it" is as good as atomic among the threads of that
//! processor. It costs a few plain instructions, while an atomic exchange costs more than the rest
//! of a draw.
//!
//! If threads have no area for that ([`crate::linux::area`]), callers take an ordinary lock.

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
use core::mem::offset_of;
use core::sync::atomic::Ordering;

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
use crate::linux::area::{descriptor, layout, signature};
use crate::linux::page::{Page, PageMut};
use crate::linux::table::{Entry, Place, Table};

/// One of a processor's own pages, the first or the second, locked by this thread. Dropping it
/// unlocks the page, on whichever processor the thread runs then.
///
/// Two words, so that it is passed in registers.
pub(crate) struct Own<G: 'static, const WHICH: usize> {
    page: &'static Page<G>,
    entry: &'static Entry<G>,
}

impl<G, const WHICH: usize> Own<G, WHICH> {
    /// Where the page is published.
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
        // Pairs with the sequence in `lock`, which reads it in order, because this processor is
        // x86-64.
        self.entry.is_locked[WHICH].store(false, Ordering::Release);
    }
}

/// Locks an own page, the first or the second, of the processor on which this thread runs. `None`
/// if there is no page yet, if it is locked, or if the thread was interrupted meanwhile.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
#[inline(always)]
pub(crate) fn lock<G, const WHICH: usize>(table: &'static Table<G>) -> Option<Own<G, WHICH>> {
    // Pairs with the store when the table was ready.
    let area = table.area.load(Ordering::Acquire);
    if area == 0 {
        return None;
    }
    let (page, entry): (*const Page<G>, *const Entry<G>);
    // SAFETY: the area is this thread's own. The store names the sequence from 2 to 3 to the
    // kernel. The kernel continues at 4 if it aborts the sequence, and forgets it when it finds the
    // thread outside. The sequence only writes the lock, by its last instruction. So either all of
    // it happened on one processor without another thread in between, or nothing. The processor's
    // number is compared with the number of entries, and a published page is mapped for ever.
    unsafe {
        core::arch::asm!(
            descriptor!(),
            "lea {page}, [rip + 9b]",
            "mov qword ptr fs:[{area} + {SEQUENCE}], {page}",
            "2:",
            "mov {page:e}, dword ptr fs:[{area} + {CPU_ID}]",
            "cmp {page}, {count}",
            "jae 4f",
            "shl {page:e}, 7",
            "add {entry}, {page}",
            "mov {page}, [{entry} + {PAGE}]",
            "test {page}, {page}",
            "jz 3f",
            "cmp byte ptr [{entry} + {LOCK}], 0",
            "jne 4f",
            "mov byte ptr [{entry} + {LOCK}], 1",
            "3:",
            ".pushsection __rseq_failure, \"ax\"",
            signature!(),
            "4:",
            "xor {page:e}, {page:e}",
            "jmp 3b",
            ".popsection",
            page = out(reg) page,
            entry = inout(reg) table.entries.load(Ordering::Relaxed).cast_const() => entry,
            count = in(reg) table.count.load(Ordering::Relaxed),
            area = in(reg) area,
            SEQUENCE = const layout::SEQUENCE,
            CPU_ID = const layout::CPU_ID,
            SIGNATURE = const layout::SIGNATURE,
            PAGE = const offset_of!(Entry<G>, own) + WHICH * size_of::<Place<G>>() + offset_of!(Place<G>, page),
            LOCK = const offset_of!(Entry<G>, is_locked) + WHICH,
            options(nostack)
        );
    }
    // SAFETY: published pages stay mapped.
    let page = unsafe { page.as_ref() }?;
    // SAFETY: entries stay mapped, and everything in them is atomic.
    let entry = unsafe { &*entry };
    Some(Own { page, entry })
}

/// Elsewhere the processor's number takes a call.
#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64")))]
#[inline(always)]
pub(crate) fn lock<G, const WHICH: usize>(_: &'static Table<G>) -> Option<Own<G, WHICH>> {
    None
}

// `lock` multiplies by this size; a processor's number has 32 bits.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
const _: () = assert!(size_of::<Entry<()>>() == 128);
