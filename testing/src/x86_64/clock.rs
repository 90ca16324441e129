//! What examples measure by.

use crate::on_x86_64;

/// The unit of [`now`].
pub const UNIT: &str = on_x86_64!("cycles", "ns");

/// The time since some moment: cycles of the time-stamp counter, elsewhere nanoseconds.
#[inline]
pub fn now() -> u64 {
    on_x86_64!(
        // SAFETY: every x86-64 processor has the instruction.
        unsafe { core::arch::x86_64::_rdtsc() },
        {
            static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
            let time = START.get_or_init(std::time::Instant::now).elapsed();
            u64::try_from(time.as_nanos()).expect("it has not run for centuries")
        }
    )
}
