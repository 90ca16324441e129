//! How the program ends: one line for an error, quietly when nobody listens any more.

use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;

use lanecrypt_speed::streams;

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

/// Whether there is a standard output; one that was closed takes all, and nobody gets it.
///
/// # Errors
///
/// The code to end with; the reason is on standard error.
pub(crate) fn needs_output() -> Result<(), ExitCode> {
    match streams::output_was_closed() {
        true => Err(failure("standard output is closed")),
        false => Ok(()),
    }
}

/// Whether there is a standard input; one that was closed reads as empty.
///
/// # Errors
///
/// As for [`needs_output`].
pub(crate) fn needs_input() -> Result<(), ExitCode> {
    match streams::input_was_closed() {
        true => Err(failure("standard input is closed")),
        false => Ok(()),
    }
}

/// Writes `text` to standard output and ends with 0, or as [`after`] says.
pub(crate) fn print(text: &str) -> ExitCode {
    if let Err(code) = needs_output() {
        return code;
    }
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
