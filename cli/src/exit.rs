//! How the program ends: one line for an error, quietly when nobody listens any more.

use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;

/// Ends with 2 and one line on standard error.
pub(crate) fn bad_arguments(reason: &str) -> ExitCode {
    say(reason);
    ExitCode::from(2)
}

/// Ends with 1 and one line on standard error.
pub(crate) fn failure(reason: &str) -> ExitCode {
    say(reason);
    ExitCode::FAILURE
}

/// Writes `text` to standard output and ends with 0, or as [`after`] says.
pub(crate) fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    after(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Ends as writing went: a reader that has seen enough is no failure.
pub(crate) fn after(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => failure(&error.to_string()),
    }
}

/// Writes one line on standard error.
pub(crate) fn say(reason: &str) {
    // Arguments are repeated in messages: nothing of them may steer the terminal or make more
    // lines of one.
    let clean: String = reason.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    // When standard error cannot be written to, there is nobody left to tell.
    let _ = writeln!(io::stderr(), "lanecrypt: {clean}");
}
