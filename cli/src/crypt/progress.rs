//! The progress of one file: on standard error, and only if that is a terminal.

use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line on the terminal that is erased at the end.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// `length` is what will be read, if it is known. On the terminal that the output goes to, the
    /// two would mix.
    pub(super) fn new(name: &str, length: Option<u64>, output_is_terminal: bool) -> Self {
        let target = match output_is_terminal {
            true => ProgressDrawTarget::hidden(),
            // It shows nothing where standard error is no terminal.
            false => ProgressDrawTarget::stderr_with_hz(5),
        };
        let bar = ProgressBar::with_draw_target(length, target);
        let template = match length {
            Some(_) => "{msg} [{bar:30}] {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
            None => "{msg} {bytes}, {bytes_per_sec}",
        };
        // The template is a constant that parses; a plain bar would do as well.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        // Names must not control the terminal, nor fill it.
        let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
        bar.set_message(
            name.chars().map(|c| if c.is_control() { '?' } else { c }).collect::<String>(),
        );
        Self(bar)
    }

    pub(super) fn add(&mut self, bytes: usize) {
        self.0.inc(bytes as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
