//! The kernel capabilities for the generators on this machine.

use crate::linux::{memlock, pool, vdso};

/// The kernel capabilities that the generators found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The kernel's generator can be called without a system call (Linux 6.11). Its bytes are mixed
    /// into each key that gets no bytes of a system call.
    pub vdso: bool,
    /// The kernel empties the generators' pages in a forked child (Linux 4.14). Otherwise nothing
    /// is buffered, and every request is passed to the kernel.
    pub wipe_on_fork: bool,
    /// Core dumps do not contain the pages.
    pub dont_dump: bool,
    /// All pages so far are locked in memory and never reach swap space.
    pub locked: bool,
    /// The number of bytes of pages that are locked in memory.
    pub locked_bytes: usize,
    /// The most bytes that the generators lock: a quarter of `lock_limit`, so that the program can
    /// use the rest. `None` means no limit (`CAP_IPC_LOCK`).
    pub lock_budget: Option<u64>,
    /// The most bytes that the process may lock (`RLIMIT_MEMLOCK`). `None` means no limit.
    pub lock_limit: Option<u64>,
}

/// Queries the kernel.
#[must_use]
pub fn capabilities() -> Capabilities {
    let protection = pool::protection();
    Capabilities {
        vdso: vdso::is_present(),
        wipe_on_fork: protection.wipe_on_fork,
        dont_dump: protection.dont_dump,
        locked: protection.locked,
        locked_bytes: protection.locked_bytes,
        lock_budget: protection.lock_budget,
        lock_limit: memlock::limit(),
    }
}
