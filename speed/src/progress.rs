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
}

/// The bar's length.
const STEPS: u64 = 1000;

impl Progress {
    /// A bar for the table `name`, which ends at `end` at the latest.
    pub(crate) fn new(name: &str, end: Option<Instant>) -> Self {
        // Four times a second: drawing takes time on the processor that measures.
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(4));
        // The template is a constant that parses; a plain bar would do as well.
        if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:40}] {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(name.to_owned());
        Self { bar, start: Instant::now(), end }
    }

    /// `done` of `all` rows are done.
    pub(crate) fn show(&self, done: usize, all: usize) {
        if self.bar.is_hidden() {
            return;
        }
        let rows = STEPS * done as u64 / all.max(1) as u64;
        let time = self.end.map_or(0, |end| share(self.start.elapsed(), end - self.start));
        self.bar.set_message(format!("{done} of {all} rows steady"));
        self.bar.set_position(rows.max(time).min(STEPS));
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
