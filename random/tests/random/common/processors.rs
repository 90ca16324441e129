//! Which processor a thread runs on.

/// The processors that this thread may run on.
pub(crate) fn allowed() -> Vec<usize> {
    // SAFETY: all zeros make an empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: the pointer is to a set of the size given.
    let result = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
    assert_eq!(result, 0);
    let size = usize::try_from(libc::CPU_SETSIZE).expect("a small number");
    // SAFETY: the numbers are within the set.
    (0..size).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Moves the calling thread to one processor. Safe in a signal handler.
pub(crate) fn stay_on(cpu: usize) {
    // SAFETY: all zeros make an empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: the number is within the set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: the pointer is to a set of the size given.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    assert_eq!(result, 0, "the processor is one of those allowed");
}
