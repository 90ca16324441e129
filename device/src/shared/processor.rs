//! The processor that a thread runs on.

/// The number of the processor that this thread runs on.
///
/// It is asked of the C library, not of the code that the kernel maps into each process: Valgrind
/// has a program without that, and who looks for it by the kernel's answers then crashes.
pub(crate) fn here() -> u32 {
    // SAFETY: no argument.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(u32::MAX)
}
