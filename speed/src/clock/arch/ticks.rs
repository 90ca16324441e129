//! Nanoseconds.

use std::sync::LazyLock;
use std::time::Instant;

pub(super) fn ticks() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
