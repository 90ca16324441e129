//! What the kernel offers the generators on this machine.

use crate::{pool, vdso};

/// The kernel facilities that the generators found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facilities {
    /// The kernel's generator can be asked without a system call (Linux 6.11); its bytes go into
    /// every refill.
    pub vdso: bool,
    /// The kernel empties the generators' pages in a forked child (Linux 4.14). Without it nothing
    /// is buffered and every request goes to the kernel.
    pub wipe_on_fork: bool,
    /// The pages stay out of core dumps.
    pub dont_dump: bool,
    /// All pages so far are locked in memory and never reach swap space.
    pub locked: bool,
    /// How many bytes the process may lock; `None` means without limit.
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
        lock_limit: lock_limit(),
    }
}

fn lock_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a structure of the type that the call fills in.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) };
    if result != 0 {
        return Some(0);
    }
    #[allow(clippy::useless_conversion, reason = "limits have 32 bits on some processors")]
    (limit.rlim_cur != libc::RLIM_INFINITY).then(|| limit.rlim_cur.into())
}
