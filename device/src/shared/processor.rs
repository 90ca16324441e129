//! The processor that a thread runs on, and its turns there.

use core::mem::size_of;

/// The number of the processor that this thread runs on.
///
/// The C library returns it, not the code that the kernel maps into each process: under Valgrind
/// that code is absent, and locating it by the kernel's answers crashes.
pub(crate) fn here() -> u32 {
    // SAFETY: no argument.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(u32::MAX)
}

/// The length of a turn in nanoseconds: the shortest that the scheduler knows.
const TURN: u64 = 100_000;

/// Asks the scheduler for short turns of this thread, and of those that it starts. When such a
/// thread has work again, it runs before others have finished their longer turns; it gets no more
/// time than they do. Linux before 6.12 ignores it.
pub(crate) fn take_short_turns() {
    let usual = [libc::SCHED_OTHER, libc::SCHED_BATCH].map(i32::cast_unsigned);
    let Some(mut attributes) = attributes() else { return };
    if usual.contains(&attributes.sched_policy) {
        attributes.sched_runtime = TURN;
        let from = &raw const attributes;
        // SAFETY: the call reads as many bytes as `size` says. If it fails, nothing changes.
        let _ = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, from, 0) };
    }
}

/// How this thread is scheduled.
fn attributes() -> Option<libc::sched_attr> {
    let length = u32::try_from(size_of::<libc::sched_attr>()).ok()?;
    let mut attributes = libc::sched_attr {
        size: length,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    let to = &raw mut attributes;
    // SAFETY: there is room for `length` bytes, and the call writes no more.
    let got = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, to, length, 0) };
    (got == 0).then_some(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_short_and_nothing_else_changes() {
        let turns = std::thread::spawn(|| {
            let before = attributes().expect("the kernel tells it");
            take_short_turns();
            let after = attributes().expect("the kernel tells it");
            assert_eq!(after.sched_nice, before.sched_nice);
            assert_eq!(after.sched_policy, before.sched_policy);
            (before.sched_runtime, after.sched_runtime)
        });
        let (before, after) = turns.join().expect("nothing panics");
        // Kernels that know no turns have zeros.
        assert_eq!(after, if before == 0 { 0 } else { TURN });
    }
}
