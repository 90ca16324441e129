//! Nanoseconds.

use std::sync::LazyLock;
use std::time::Instant;

/// The time-stamp counter, in cycles of its own constant frequency; elsewhere nanoseconds.
#[inline]
#[must_use]
pub fn now() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Cycles of [`now`] in a nanosecond, if that is known.
pub(super) const GHZ: Option<f64> = Some(1.0);

/// Core cycles of eight steps.
pub(super) const LINK: f64 = 16.0;

/// A rotation and an addition, which take a cycle each.
#[inline]
pub(super) fn step(x: u32, turn: u32) -> u32 {
    x.rotate_left(turn).wrapping_add(0x1234_5677)
}
