//! What the restartable sequences of all processors have in common.

use core::mem::offset_of;

use crate::linux::table::{Entry, Place};

/// Assembly: the description of a sequence for the kernel, at label 9 (`struct rseq_cs`: version,
/// flags, start, length, abort). The sequence runs from label 2 to label 3. If it is aborted,
/// execution continues at label 4.
macro_rules! descriptor {
    () => {
        ".pushsection __rseq_cs, \"aw\"
        .balign 32
        9:
        .long 0, 0
        .quad 2f, 3f - 2f, 4f
        .popsection"
    };
}

pub(crate) use descriptor;

/// The offset of an own page's address in an entry, in bytes.
pub(crate) const fn page_at<G>(which: usize) -> usize {
    offset_of!(Entry<G>, own) + which * size_of::<Place<G>>() + offset_of!(Place<G>, page)
}

/// The offset of its lock.
pub(crate) const fn lock_at<G>(which: usize) -> usize {
    offset_of!(Entry<G>, is_locked) + which
}
