//! No area for restartable sequences is known on these processors.

use core::ptr::null;

/// The addresses of the C library's `__rseq_offset` and `__rseq_size`; null where it has none.
pub(crate) fn exported() -> (*const isize, *const u32) {
    (null(), null())
}

/// The thread pointer, which is used together with an area.
pub(crate) fn thread_pointer() -> usize {
    0
}

/// The description of a sequence in which no thread ever is.
pub(crate) fn unentered() -> usize {
    0
}
