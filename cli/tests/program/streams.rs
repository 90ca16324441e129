//! Standard streams that are closed, or that take nothing.

use crate::support::{Folder, assert_one_line, errors, shell};

/// Every command that writes; the last one within a second.
const COMMANDS: [&str; 8] = [
    "random 1G",
    "random 32 --format hex --threads 2",
    "info",
    "info --json",
    "check --self-test",
    "check",
    "--help",
    SPEED,
];
const SPEED: &str = "speed --peers none --budget 1s --only 'random/*/u32/4/t1'";

#[test]
fn without_standard_output_nothing_is_done() {
    for command in COMMANDS {
        let output = shell(&format!("exec $lanecrypt {command} >&-"));
        assert_one_line(&output, 1, "standard output is closed");
    }
    let output = shell(&format!("exec $lanecrypt {SPEED} --json - >&-"));
    assert_one_line(&output, 1, "standard output is closed");
    // Bad arguments are bad whatever is closed.
    assert_one_line(&shell("exec $lanecrypt random 1X >&-"), 2, "units are");
}

/// However it was opened: shells write only, Python and daemons read and write.
#[test]
fn output_that_nobody_wants_is_no_error() {
    for command in COMMANDS {
        let command = command.replace("1G", "1M");
        for target in [">/dev/null", "1<>/dev/null", ">>/dev/null"] {
            let output = shell(&format!("exec $lanecrypt {command} {target}"));
            assert_eq!(output.status.code(), Some(0), "{command}: {}", errors(&output));
            assert!(output.stderr.is_empty(), "{command}: {}", errors(&output));
        }
    }
}

#[test]
fn a_full_device_is_an_error_of_every_command() {
    for command in COMMANDS {
        let output = shell(&format!("echo '{{}}' | $lanecrypt {command} >/dev/full"));
        assert_one_line(&output, 1, "No space left on device");
    }
    let output = shell(&format!("exec $lanecrypt {SPEED} --json - >/dev/full"));
    assert_one_line(&output, 1, "No space left on device");
}

#[test]
fn without_standard_input_there_is_nothing_to_check() {
    assert_one_line(&shell("exec $lanecrypt check <&-"), 1, "standard input is closed");
    for command in
        ["check </dev/null", "check 0<>/dev/null", "check --self-test <&-", "random 9 <&-"]
    {
        let output = shell(&format!("exec $lanecrypt {command}"));
        assert_eq!(output.status.code(), Some(0), "{command}: {}", errors(&output));
    }
}

/// The code is all that is left to say it by.
#[test]
fn without_standard_error_the_code_is_the_same() {
    for (command, code) in [("random 1X", 2), ("random 9 >/dev/full", 1), ("random 9", 0)] {
        let output = shell(&format!("exec $lanecrypt {command} 2>&-"));
        assert_eq!(output.status.code(), Some(code), "{command}");
    }
}

#[test]
fn closed_streams_are_no_empty_files() {
    let folder = Folder::new("crypt-closed-streams");
    let key = folder.path("key");
    assert!(shell(&format!("exec $lanecrypt keygen {key}")).status.success());
    for command in ["encrypt", "decrypt"] {
        let output = shell(&format!("exec $lanecrypt {command} -k {key} <&- >/dev/null"));
        assert_one_line(&output, 1, "standard input is closed");
        let output = shell(&format!("exec $lanecrypt {command} -k {key} </dev/null >&-"));
        assert_one_line(&output, 1, "standard output is closed");
    }
}
