//! The time-stamp counter, whose frequency has to be measured.

/// The clock: cycles of the time-stamp counter, at a constant frequency, or on other processors
/// than x86-64 of the core, at its rate at the first call.
///
/// Earlier instructions have finished before the counter is read, and later ones begin after.
#[expect(unsafe_code, reason = "the counter is read by an instruction, the only one needed here")]
#[inline]
#[must_use]
pub fn now() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: the instructions read a counter into the two registers named here and touch neither
    // memory nor the stack. A process that was forbidden the counter is killed by the kernel.
    unsafe {
        core::arch::asm!(
            "lfence", "rdtsc", "lfence",
            out("rax") low, out("rdx") high,
            options(nomem, nostack, preserves_flags)
        );
    }
    high << 32 | low
}

/// How the core's cycles were found, if [`now`] has them.
pub(crate) const fn source() -> Option<&'static str> {
    None
}

/// Core cycles of eight steps, three each on processors of Intel and AMD.
pub(super) const fn link() -> f64 {
    24.0
}

/// A multiplication of 32 bits.
#[inline]
pub(super) fn step(x: u32, _: u32) -> u32 {
    x.wrapping_mul(x)
}
