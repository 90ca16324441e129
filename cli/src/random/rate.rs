//! The rate of output: a line on the terminal that is updated and erased at the end.

use core::time::Duration;
use std::io::{self, Write as _};
use std::time::Instant;

/// Nothing is shown before this time has passed.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two updates.
const INTERVAL: Duration = Duration::from_millis(200);

/// Carriage return and "erase to the end of the line".
const ERASE: &str = "\r\x1b[K";

/// A line on standard error that shows how much has been written, and how fast.
pub(crate) struct Rate {
    total: Option<u128>,
    start: Instant,
    next: Instant,
    shown: bool,
}

impl Rate {
    /// Starts the clock; `total` is the expected number of bytes.
    pub(crate) fn new(total: Option<u128>) -> Self {
        let start = Instant::now();
        Self { total, start, next: start + PATIENCE, shown: false }
    }

    /// Shows the state after `written` bytes, if an update is due.
    pub(crate) fn show(&mut self, written: u64) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        self.shown = true;
        let line = self.line(written, now.duration_since(self.start));
        // A lost terminal is no reason to stop.
        let _ = write!(io::stderr(), "{ERASE}{line}");
    }

    /// Erases the line.
    pub(crate) fn erase(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "{ERASE}");
            self.shown = false;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    fn line(&self, written: u64, elapsed: Duration) -> String {
        let done = written as f64;
        let mut line = format!("{}, {}/s", human(done), human(done / elapsed.as_secs_f64()));
        if let Some(total) = self.total {
            line += &format!(", {:.0} %", 100.0 * done / total as f64);
        }
        line
    }
}

/// Bytes with three digits and a decimal unit.
fn human(mut n: f64) -> String {
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB", "PB"] {
        if n < 999.5 {
            break;
        }
        n /= 1000.0;
        unit = larger;
    }
    let decimals = if unit == "B" || n >= 99.95 { 0 } else { 1 };
    format!("{n:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        let cases = [
            (0.0, "0 B"),
            (999.0, "999 B"),
            (1000.0, "1.0 kB"),
            (99_940.0, "99.9 kB"),
            (123_456.0, "123 kB"),
            (999_600.0, "1.0 MB"),
            (4.2e9, "4.2 GB"),
            (5e18, "5000 PB"),
        ];
        for (n, text) in cases {
            assert_eq!(human(n), text);
        }
    }

    #[test]
    fn a_line_says_how_much_and_how_fast() {
        let rate = Rate::new(Some(4_000_000_000));
        let line = rate.line(3_000_000_000, Duration::from_secs(2));
        assert_eq!(line, "3.0 GB, 1.5 GB/s, 75 %");
    }
}
