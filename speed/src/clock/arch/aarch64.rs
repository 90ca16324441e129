//! The generic timer's virtual counter, in cycles of the core.

/// The counter: 24 MHz to 1 GHz, the same on all cores.
///
/// Earlier instructions have finished before the counter is read, and later ones begin after.
#[expect(unsafe_code, reason = "the counter is read by an instruction, the only one needed here")]
#[inline]
pub(super) fn ticks() -> u64 {
    let ticks;
    // SAFETY: the instructions read a counter into a register and touch neither memory nor the
    // stack. Operating systems let programs read it.
    unsafe {
        core::arch::asm!(
            "isb", "mrs {}, cntvct_el0", "isb",
            out(reg) ticks,
            options(nomem, nostack, preserves_flags)
        );
    }
    ticks
}
