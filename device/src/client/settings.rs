//! Settings of a client.

use core::time::Duration;

use crate::spin;

/// The longest time of spinning. Together with one of sleeping it is less than 100 ms.
const LONGEST_SPIN: Duration = Duration::from_millis(40);

/// Settings of a client.
#[derive(Clone, Debug)]
#[must_use]
pub struct Settings {
    pub(super) depth: u32,
    pub(super) arena: u32,
    pub(super) spin: Duration,
    pub(super) max_sleep: Duration,
}

impl Default for Settings {
    /// 256 requests in flight, an arena of 1 MiB, and 100 µs of spinning before it sleeps.
    fn default() -> Self {
        let max_sleep = Duration::from_millis(40);
        Self { depth: 256, arena: 1 << 20, spin: spin::USUAL, max_sleep }
    }
}

impl Settings {
    /// For up to this many requests in flight: rounded up to a power of two, at most 4096.
    pub fn depth(self, requests: u32) -> Self {
        Self { depth: requests, ..self }
    }

    /// For this many bytes of data in flight: rounded up to whole pages, at most as many as the
    /// daemon grants. No request may be longer.
    pub fn arena(self, bytes: u32) -> Self {
        Self { arena: bytes, ..self }
    }

    /// The time to sleep before checking whether the daemon is alive: for tests, in which a client
    /// must not detect a missing wake-up.
    #[doc(hidden)]
    pub fn max_sleep(self, longest: Duration) -> Self {
        Self { max_sleep: longest, ..self }
    }

    /// The time to spin for a completion before sleeping. After each unsuccessful spin it is
    /// shorter, down to zero. While the daemon runs on the same processor, the client yields
    /// between two checks. At most 40 ms: a spinning client does not detect the daemon's end.
    pub fn spin(self, longest: Duration) -> Self {
        Self { spin: longest.min(LONGEST_SPIN), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_looks_in_time_whether_the_daemon_lives() {
        let settings = Settings::default().spin(Duration::MAX);
        assert!(settings.spin + settings.max_sleep <= Duration::from_millis(90));
        let short = Duration::from_micros(5);
        assert_eq!(Settings::default().spin(short).spin, short);
    }
}
