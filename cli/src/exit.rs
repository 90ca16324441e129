//! Exit codes and messages: one line for an error; a closed reader is not an error.

use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;

use lanecrypt_speed::streams;

/// Exits with 2 and one line on standard error.
pub(crate) fn bad_arguments(reason: &str) -> ExitCode {
    say(reason);
    ExitCode::from(2)
}

/// Exits with 2 and a text on standard error: output that somebody keeps has none of it.
pub(crate) fn no_command(text: &str) -> ExitCode {
    // If standard error cannot be written, nothing can be reported.
    let _ = io::stderr().write_all(text.as_bytes());
    ExitCode::from(2)
}

/// Exits with 1 and one line on standard error.
pub(crate) fn failure(reason: &str) -> ExitCode {
    say(reason);
    ExitCode::FAILURE
}

/// Checks that there is a standard output. A closed one would accept everything and lose it.
///
/// # Errors
///
/// The exit code; the reason is on standard error.
pub(crate) fn needs_output() -> Result<(), ExitCode> {
    match streams::output_was_closed() {
        true => Err(failure("standard output is closed")),
        false => Ok(()),
    }
}

/// Checks that there is a standard input. A closed one would read as empty.
///
/// # Errors
///
/// Same as [`needs_output`].
pub(crate) fn needs_input() -> Result<(), ExitCode> {
    match streams::input_was_closed() {
        true => Err(failure("standard input is closed")),
        false => Ok(()),
    }
}

/// Writes `text` to standard output and exits with 0, or as [`after`] says.
pub(crate) fn print(text: &str) -> ExitCode {
    if let Err(code) = needs_output() {
        return code;
    }
    let mut out = io::stdout().lock();
    after(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// The exit code after writing. A reader that has closed its end is no failure.
pub(crate) fn after(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => failure(&error.to_string()),
    }
}

/// Writes one line on standard error.
pub(crate) fn say(reason: &str) {
    // Messages repeat arguments, which must not control the terminal or add lines.
    let clean: String = reason.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    // If standard error cannot be written, nothing can be reported.
    let _ = writeln!(io::stderr(), "lanecrypt: {clean}");
}
