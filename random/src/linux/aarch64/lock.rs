//! Locking a processor's own page by a restartable sequence.

use core::ptr::{NonNull, with_exposed_provenance};

use super::rseq_area::{descriptor, lock_at, page_at, signature, thread_pointer};
use crate::linux::page::Page;
use crate::linux::rseq_area::Fields;
use crate::linux::table::Entry;

/// As in `arch`.
///
/// # Memory order
///
/// Threads of one processor see each other's accesses in program order, because a switch is in
/// between. A thread that moves to another processor sees its own: the switch is a barrier. What
/// orders the accesses of other processors, instruction by instruction:
///
/// - Storing the description, loading the processor's number: only this thread and the kernel
///   access them, and the kernel does so on this processor, between two instructions.
/// - Loading the page's address (`ldar`): pairs with the exchange in `Published::publish`. The address
///   may have been published on another processor.
/// - Loading the lock (`ldarb`): pairs with the release store in `Own::drop`. The last holder may
///   have moved to another processor and unlocked the page there. Accesses to the page are later
///   in program order, so they stay behind this load.
/// - Storing the lock: a plain store. Only threads on this processor read the lock to take it. It
///   is behind the load by a control dependency, so it cannot overtake the store that it read.
///   Accesses to the page may become visible before it: no thread of another processor takes the
///   lock, and a thread of this one finds it taken.
///
/// # Safety
///
/// As in `arch`.
#[inline(always)]
pub(crate) unsafe fn lock<G, const WHICH: usize>(
    offset: isize,
    entries: *const Entry<G>,
    count: usize,
) -> Option<(NonNull<Page<G>>, *const Entry<G>)> {
    let area = with_exposed_provenance::<Fields>(thread_pointer().wrapping_add_signed(offset));
    let page: *mut Page<G>;
    let place: *const Entry<G>;
    let failed: u32;
    // SAFETY: the area is this thread's own. The store names the sequence from 2 to 3 to the
    // kernel. The kernel continues at 4 if it aborts the sequence, and forgets it when it finds the
    // thread outside. The sequence only writes the lock, by its last instruction. So either all of
    // it happened on one processor without another thread in between, or nothing. The processor's
    // number is compared with the number of entries, and a published page is mapped for ever.
    // Conditional branches do not reach another section, so they only go to 3, where `failed` is
    // still set.
    unsafe {
        core::arch::asm!(
            descriptor!(),
            "adrp {scratch}, 9b",
            "add {scratch}, {scratch}, :lo12:9b",
            "str {scratch}, [{area}, {SEQUENCE}]",
            "2:",
            "ldr {scratch:w}, [{area}, {PROCESSOR}]",
            "cmp {scratch}, {count}",
            "b.hs 3f",
            "add {place}, {place}, {scratch}, lsl 7",
            "ldar {page}, [{place}]",
            "cbz {page}, 3f",
            "add {scratch}, {place}, {LOCK}",
            "ldarb {failed:w}, [{scratch}]",
            "cbnz {failed:w}, 3f",
            "strb {one:w}, [{scratch}]",
            "3:",
            ".pushsection __rseq_failure, \"ax\"",
            signature!(),
            "4:",
            "mov {failed:w}, 1",
            "b 3b",
            ".popsection",
            page = out(reg) page,
            place = inout(reg) entries.wrapping_byte_add(page_at::<G>(WHICH)) => place,
            scratch = out(reg) _,
            failed = inout(reg) 1_u32 => failed,
            one = in(reg) 1_u32,
            count = in(reg) count,
            area = in(reg) area,
            SEQUENCE = const core::mem::offset_of!(Fields, sequence),
            PROCESSOR = const core::mem::offset_of!(Fields, processor),
            LOCK = const lock_at::<G>(WHICH) - page_at::<G>(WHICH),
            options(nostack)
        );
    }
    if failed != 0 {
        return None;
    }
    // SAFETY: the sequence fails if there is no page.
    let page = unsafe { NonNull::new_unchecked(page) };
    Some((page, place.wrapping_byte_sub(page_at::<G>(WHICH))))
}
