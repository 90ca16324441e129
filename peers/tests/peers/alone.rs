//! Tests of this program in processes of their own.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

/// Set in such a process: whoever asks for ignored tests runs them in one together.
const VARIABLE: &str = "LANECRYPT_ALONE";

/// Whether this process was started by [`run`].
pub(crate) fn is_alone() -> bool {
    env::var_os(VARIABLE).is_some()
}

/// Runs an ignored test in a process with these variables; what it has printed, if it fails.
pub(crate) fn run(name: &str, variables: &[(&str, &OsStr)]) -> Result<(), String> {
    let program = env::current_exe().expect("this program is a file");
    let output = Command::new(program)
        .args(["--ignored", "--exact", name])
        .env(VARIABLE, "1")
        .envs(variables.iter().copied())
        .output()
        .expect("it can be started");
    let printed = String::from_utf8_lossy(&output.stdout);
    // A name that no test has would be a success, too.
    let passed = output.status.success() && printed.contains("test result: ok. 1 passed");
    if passed { Ok(()) } else { Err(printed.into_owned()) }
}
