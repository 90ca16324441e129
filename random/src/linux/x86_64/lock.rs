//! Locking a processor's own page by a restartable sequence.

use core::mem::offset_of;
use core::sync::atomic::Ordering;

use super::rseq_area::{descriptor, layout, signature};
use crate::linux::page::Page;
use crate::linux::table::{Entry, Place, Table};

/// See [`rseq::lock`](crate::linux::rseq::lock).
#[inline(always)]
pub(crate) fn lock<G, const WHICH: usize>(
    table: &'static Table<G>,
) -> Option<(&'static Page<G>, &'static Entry<G>)> {
    // Pairs with the store when the table was ready.
    let area = table.area.load(Ordering::Acquire);
    if area == 0 {
        return None;
    }
    let (page, entry): (*const Page<G>, *const Entry<G>);
    let (entries, count) = table.entries.parts();
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
            entry = inout(reg) entries.cast_const() => entry,
            count = in(reg) count,
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
    Some((page, entry))
}

// `lock` multiplies by this size; a processor's number has 32 bits.
const _: () = assert!(size_of::<Entry<()>>() == 128);
