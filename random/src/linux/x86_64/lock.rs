//! Locking a processor's own page by a restartable sequence.

use core::mem::offset_of;
use core::ptr::NonNull;

use super::rseq_area::{descriptor, lock_at, page_at, signature};
use crate::linux::page::Page;
use crate::linux::rseq_area::Fields;
use crate::linux::table::Entry;

/// As in `arch`.
///
/// The processor keeps loads in order, and stores behind them. So the load of the page's address
/// pairs with the exchange in `Published::publish`, and that of the lock with the store in
/// `Own::drop`.
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
    let (page, entry): (*mut Page<G>, *const Entry<G>);
    // SAFETY: the area is this thread's own. The store names the sequence from 2 to 3 to the
    // kernel. The kernel continues at 4 if it aborts the sequence, and forgets it when it finds the
    // thread outside. The sequence only writes the lock, by its last instruction. So either all of
    // it happened on one processor without another thread in between, or nothing. The processor's
    // number is compared with the number of entries, and a published page is mapped for ever.
    unsafe {
        core::arch::asm!(
            descriptor!(),
            "lea {page}, [rip + 9b]",
            "mov qword ptr fs:[{offset} + {SEQUENCE}], {page}",
            "2:",
            "mov {page:e}, dword ptr fs:[{offset} + {PROCESSOR}]",
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
            entry = inout(reg) entries => entry,
            count = in(reg) count,
            offset = in(reg) offset,
            SEQUENCE = const offset_of!(Fields, sequence),
            PROCESSOR = const offset_of!(Fields, processor),
            PAGE = const page_at::<G>(WHICH),
            LOCK = const lock_at::<G>(WHICH),
            options(nostack)
        );
    }
    Some((NonNull::new(page)?, entry))
}
