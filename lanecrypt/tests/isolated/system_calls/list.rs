//! The system calls that are allowed: those of the library stand in SECURITY.md, too.

use libc::c_long;

/// A call of the library.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) number: c_long,
    /// Whether every program that draws from each placement makes it; else it depends on the
    /// kernel, the C library or on other threads.
    pub(crate) always: bool,
    /// Whether everything works without it, where it is refused with an error.
    pub(crate) spared: bool,
}

const fn call(name: &'static str, number: c_long, always: bool, spared: bool) -> Call {
    Call { name, number, always, spared }
}

/// What the library calls, in the order of SECURITY.md.
pub(crate) const LIBRARY: &[Call] = &[
    // Seeds, refills where the vDSO has no generator, and draws that find the generator in use.
    call("getrandom", libc::SYS_getrandom, true, false),
    // Pages, and states of the vDSO's generator.
    call("mmap", libc::SYS_mmap, true, false),
    // A page that another thread was first to make, or that the kernel does not empty on fork.
    call("munmap", libc::SYS_munmap, false, true),
    // Empties pages on fork and leaves them out of core dumps.
    call("madvise", libc::SYS_madvise, true, true),
    // Tells a forked child where `madvise` is refused.
    call("getpid", libc::SYS_getpid, false, false),
    // Keeps pages in memory.
    call("mlock2", libc::SYS_mlock2, true, true),
    // The limit of what may be locked.
    call("prlimit64", libc::SYS_prlimit64, true, true),
    // No handler runs while the list of pages changes.
    call("rt_sigprocmask", libc::SYS_rt_sigprocmask, true, true),
    // Another thread holds a lock for long.
    call("sched_yield", libc::SYS_sched_yield, false, true),
    // Where the vDSO has no clock.
    call("clock_gettime", libc::SYS_clock_gettime, false, true),
    // The environment of the start; the first draw from `PerCpu`: the number of processors (glibc).
    call("openat", libc::SYS_openat, true, true),
    call("close", libc::SYS_close, true, true),
    // Newer versions read a file, older ones a folder.
    call("read", libc::SYS_read, false, true),
    call("newfstatat", libc::SYS_newfstatat, false, true),
    call("getdents64", libc::SYS_getdents64, false, true),
    // The same with other C libraries, or where the file is not there.
    call("sched_getaffinity", libc::SYS_sched_getaffinity, false, true),
    // `PerCpu`, where the C library registers no restartable sequences and the vDSO has no call.
    call("getcpu", libc::SYS_getcpu, false, true),
];

/// What a program of one thread needs that allocates a little, says why it fails, and ends.
pub(crate) const BARE: &[c_long] =
    &[libc::SYS_brk, libc::SYS_write, libc::SYS_exit_group, libc::SYS_rt_sigreturn];

/// What a program needs besides that starts threads and processes and waits for them.
pub(crate) const THREADS: &[c_long] = &[
    // A thread begins (the last five: Rust's guard of the stack, and the thread's name).
    libc::SYS_clone3,
    libc::SYS_clone,
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_rt_sigprocmask,
    libc::SYS_gettid,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_sched_getaffinity,
    libc::SYS_prctl,
    // It is waited for, and ends.
    libc::SYS_futex,
    libc::SYS_madvise,
    libc::SYS_munmap,
    libc::SYS_exit,
    // A process is waited for.
    libc::SYS_wait4,
    // Larger allocations.
    libc::SYS_mremap,
];
