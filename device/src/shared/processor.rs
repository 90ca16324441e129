//! The processor that a thread runs on.

/// The number of the processor that this thread runs on.
///
/// The C library returns it, not the code that the kernel maps into each process: under Valgrind
/// that code is absent, and locating it by the kernel's answers crashes.
pub(crate) fn here() -> u32 {
    // SAFETY: no argument.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(u32::MAX)
}
