//! The progress bar: on standard error, and only if that is a terminal.

use core::fmt;
use core::time::Duration;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The progress of a table. It is drawn between batches, by the measuring thread itself.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    end: Option<Instant>,
    /// The end of the whole run.
    last: Option<Instant>,
}

/// The bar's length.
const STEPS: u64 = 1000;

impl Progress {
    /// A bar for the table `name`, which ends at `end` at the latest, in a run that ends at `last`.
    pub(crate) fn new(name: &str, end: Option<Instant>, last: Option<Instant>) -> Self {
        // Four times a second: drawing takes time on the processor that measures.
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(4));
        // The template is a constant that parses; a plain bar would do as well.
        if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:40}] {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(name.to_owned());
        Self { bar, start: Instant::now(), end, last }
    }

    /// In this pass over `all` rows, `done` of them are done.
    pub(crate) fn show(&self, pass: usize, done: usize, all: usize) {
        if self.bar.is_hidden() {
            return;
        }
        let rows = STEPS * done as u64 / all.max(1) as u64;
        let time = self.end.map_or(0, |end| share(self.start.elapsed(), end - self.start));
        let left = self.last.map(|last| last.saturating_duration_since(Instant::now()));
        self.bar.set_message(message(pass, [done, all], left));
        self.bar.set_position(rows.max(time).min(STEPS));
    }
}

/// How far a table is, in words, and what is left of the whole run's time.
fn message(pass: usize, [done, all]: [usize; 2], left: Option<Duration>) -> String {
    let how_far = match pass {
        0 => format!("{all} rows are checked"),
        pass => format!("pass {pass}, {done} of {all} rows steady"),
    };
    match left.map(|left| left.as_secs()) {
        None => how_far,
        Some(seconds) if seconds < 120 => format!("{how_far}, at most {seconds} s left"),
        Some(seconds) => format!("{how_far}, at most {} min left", seconds.div_ceil(60)),
    }
}

/// `part` of `whole` in steps.
fn share(part: Duration, whole: Duration) -> u64 {
    let share = u128::from(STEPS) * part.as_nanos() / whole.as_nanos().max(1);
    u64::try_from(share).unwrap_or(STEPS)
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told() {
        let left = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(message(0, [0, 40], None), "40 rows are checked");
        assert_eq!(message(2, [3, 40], left(75)), "pass 2, 3 of 40 rows steady, at most 75 s left");
        assert!(message(7, [3, 40], left(121)).ends_with("at most 3 min left"));
    }

    #[test]
    fn shares_of_a_bar() {
        let seconds = Duration::from_secs;
        assert_eq!(share(seconds(3), seconds(4)), 750);
        assert!(share(seconds(3), seconds(0)) >= STEPS, "no time is over at once");
    }
}
