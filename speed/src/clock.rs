//! The clock: time-stamp-counter cycles, their length in nanoseconds, and the ratio to the core
//! clock.

use core::hint::black_box;
use core::time::Duration;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Instant;

/// The time-stamp counter, in cycles of its own constant frequency; elsewhere nanoseconds.
///
/// Earlier instructions have finished before the counter is read, and later ones begin after.
#[cfg(target_arch = "x86_64")]
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

/// The time-stamp counter, in cycles of its own constant frequency; elsewhere nanoseconds.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
#[must_use]
pub fn now() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Cycles of [`now`] in a nanosecond, measured once against the monotonic clock.
#[must_use]
pub fn ghz() -> f64 {
    static GHZ: LazyLock<f64> = LazyLock::new(|| calibrate(Duration::from_millis(60)));
    *GHZ
}

/// Compares the counter with the monotonic clock over `span`.
fn calibrate(span: Duration) -> f64 {
    if cfg!(not(target_arch = "x86_64")) {
        return 1.0;
    }
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
    f64::from(links) * CYCLES / as_f64((now() - start).max(1))
}

/// Core cycles of a link of [`chain`].
const CYCLES: f64 = if cfg!(target_arch = "x86_64") { 24.0 } else { 16.0 };

/// Eight dependent multiplications of 32 bits a link, which a second thread of the core does not
/// slow down. Each takes three cycles on processors of Intel and AMD. On other architectures, eight
/// rotations and eight additions take one each.
pub(crate) fn chain(links: u32) -> u32 {
    let mut x = black_box(3_u32);
    for _ in 0..links {
        for turn in 1..9 {
            x = match cfg!(target_arch = "x86_64") {
                true => x.wrapping_mul(x),
                false => x.rotate_left(turn).wrapping_add(0x1234_5677),
            };
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
