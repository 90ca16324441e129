//! Running the built program.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// The program with these arguments, without settings of the caller's.
pub(crate) fn lanecrypt(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanecrypt"));
    command.args(arguments).env_remove("LANECRYPT_ISA").stdin(Stdio::null());
    command
}

/// Runs it to its end with `input` on standard input.
pub(crate) fn run(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program that does not read its input may end first.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().expect("the program ends")
    })
}

/// Standard error as text.
pub(crate) fn errors(output: &Output) -> &str {
    str::from_utf8(&output.stderr).expect("messages are UTF-8")
}

/// Asserts one clear line on standard error and nothing on standard output.
pub(crate) fn assert_one_line(output: &Output, code: i32, about: &str) {
    let text = errors(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.starts_with("lanecrypt: ") && text.ends_with('\n'), "{text:?}");
    assert_eq!(text.matches('\n').count(), 1, "{text:?}");
    assert!(text.contains(about), "{text:?} does not say {about:?}");
}
