//! What the kernel offers the generators on this machine.

use crate::{memlock, pool, vdso};

/// The kernel facilities that the generators found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facilities {
    /// The kernel's generator can be asked without a system call (Linux 6.11); its bytes go into
    /// each key that takes none of a system call, which every 64 KiB and every second do.
    pub vdso: bool,
    /// The kernel empties the generators' pages in a forked child (Linux 4.14). Without it nothing
    /// is buffered and every request goes to the kernel.
    pub wipe_on_fork: bool,
    /// The pages stay out of core dumps.
    pub dont_dump: bool,
    /// All pages so far are locked in memory and never reach swap space.
    pub locked: bool,
    /// Bytes of pages that are locked in memory.
    pub locked_bytes: usize,
    /// How many bytes the generators lock at most: a quarter of `lock_limit`, so that the program
    /// finds the rest for itself; `None` means without limit (`CAP_IPC_LOCK`).
    pub lock_budget: Option<u64>,
    /// How many bytes the process may lock (`RLIMIT_MEMLOCK`); `None` means without limit.
    pub lock_limit: Option<u64>,
}

/// Asks the kernel what it offers.
#[must_use]
pub fn facilities() -> Facilities {
    let protection = pool::protection();
    Facilities {
        vdso: vdso::is_present(),
        wipe_on_fork: protection.wipe_on_fork,
        dont_dump: protection.dont_dump,
        locked: protection.locked,
        locked_bytes: protection.locked_bytes,
        lock_budget: protection.lock_budget,
        lock_limit: memlock::limit(),
    }
}
