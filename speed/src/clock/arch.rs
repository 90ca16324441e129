//! Cycles of the core, as it runs when the clock is first read: for processors whose counter's
//! frequency says nothing about the core.

#[cfg_attr(target_arch = "aarch64", path = "arch/aarch64.rs")]
mod ticks;

use core::hint::black_box;
use std::sync::LazyLock;

use self::ticks::ticks;
use super::{as_f64, chain};

/// How the cycles of [`now`] were found; none on x86-64.
pub(crate) fn source() -> Option<&'static str> {
    Some(if LINK.is_counted { "perf_event" } else { "a timed chain" })
}

/// Core cycles of eight steps.
pub(super) fn link() -> f64 {
    LINK.cycles
}

struct Link {
    cycles: f64,
    /// Whether the processor has counted them.
    is_counted: bool,
}

static LINK: LazyLock<Link> = LazyLock::new(|| {
    #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
    if let Some(cycles) = super::perf::link() {
        return Link { cycles, is_counted: true };
    }
    Link { cycles: 16.0, is_counted: false }
});

/// Links of the chain that is timed: about 30 us.
const LINKS: u32 = 8_000;

/// Where the clock begins.
struct Start {
    ticks: u64,
    /// Core cycles in a tick, times 2^32.
    cycles: u128,
}

static START: LazyLock<Start> = LazyLock::new(|| {
    let times = (0..300).map(|_| {
        let start = ticks();
        black_box(chain(black_box(LINKS)));
        (ticks() - start).max(1)
    });
    let mut times: Vec<u64> = times.collect();
    times.sort_unstable();
    // The highest clock, but no glitch of the counter.
    let cycles = f64::from(LINKS) * link() / as_f64(times[times.len() / 10]);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^64")]
    Start { ticks: ticks(), cycles: (cycles * 4_294_967_296.0) as u128 }
});

/// The clock: cycles of the core at its rate at the first call, or on x86-64 of the time-stamp
/// counter, at a constant frequency.
#[inline]
#[must_use]
pub fn now() -> u64 {
    let Start { ticks: start, cycles } = *START;
    u64::try_from(u128::from(ticks().saturating_sub(start)) * cycles >> 32).unwrap_or(u64::MAX)
}

/// A rotation and an addition, which take a cycle each on most processors.
#[inline]
pub(super) fn step(x: u32, turn: u32) -> u32 {
    x.rotate_left(turn).wrapping_add(0x1234_5677)
}
