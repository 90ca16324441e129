//! The clock: cycles of the time-stamp counter on x86-64, of the core elsewhere; their length in
//! nanoseconds, and the ratio to the core's clock now.

#[cfg_attr(target_arch = "x86_64", path = "clock/x86_64.rs")]
mod arch;
#[cfg(all(target_os = "linux", any(test, target_arch = "aarch64")))]
mod perf;

use core::hint::black_box;
use core::time::Duration;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Instant;

use arch::{link, step};

pub use arch::now;
pub(crate) use arch::source;

/// Cycles of [`now`] in a nanosecond, measured once against the monotonic clock.
#[must_use]
pub fn ghz() -> f64 {
    static GHZ: LazyLock<f64> = LazyLock::new(|| calibrate(Duration::from_millis(60)));
    *GHZ
}

/// Compares the counter with the monotonic clock over `span`.
fn calibrate(span: Duration) -> f64 {
    let (cycles, time) = both();
    sleep(span);
    let (cycles_after, time_after) = both();
    as_f64(cycles_after - cycles) / (time_after - time).as_secs_f64() / 1e9
}

/// Both clocks at the same instant: the fastest of twenty readings.
fn both() -> (u64, Instant) {
    let mut best = (u64::MAX, 0, Instant::now());
    for _ in 0..20 {
        let before = now();
        let time = Instant::now();
        let width = now() - before;
        if width < best.0 {
            best = (width, before + width / 2, time);
        }
    }
    (best.1, best.2)
}

/// Cycles of the core in a cycle of [`now`].
///
/// Measured on the calling thread's processor, in about 60 ms. Above 1 while the core runs
/// faster than its nominal clock. In a build without optimisation the figure means nothing.
#[must_use]
pub fn core_ratio() -> f64 {
    let mut ratios: Vec<f64> = (0..300).map(|_| core_ratio_of(32_000)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    // The highest clock, but no glitch of the counter.
    ratios[ratios.len() * 9 / 10]
}

/// The same over a chain of so many links.
pub(crate) fn core_ratio_of(links: u32) -> f64 {
    let start = now();
    black_box(chain(black_box(links)));
    f64::from(links) * link() / as_f64((now() - start).max(1))
}

/// Eight dependent steps a link, which a second thread of the core does not slow down.
pub(crate) fn chain(links: u32) -> u32 {
    let mut x = black_box(3_u32);
    for _ in 0..links {
        for turn in 1..9 {
            x = step(x, turn);
        }
    }
    x
}

/// A count as a floating-point number; exact below 2^53, which no measurement here reaches.
#[expect(clippy::cast_precision_loss, reason = "counts of cycles stay far below 2^53")]
#[must_use]
pub(crate) const fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_forward_at_a_sensible_rate() {
        let first = now();
        let second = now();
        assert!(second >= first);
        assert!(ghz() > 0.01 && ghz() < 20.0, "{}", ghz());
        assert!(core_ratio() > 0.0);
    }
}
