//! A test harness that runs every case in a process of its own, on that process's main thread.
//!
//! Forks, signal handlers, system-call filters and whole-process scans need that, and a line that
//! says what was skipped must reach the terminal.

use std::process::Command;

/// Names the case that a process is to run.
const CASE: &str = "LANECRYPT_TEST_CASE";
/// A case that takes longer hangs.
const SECONDS: u32 = 900;

/// A test: its name and what it does, which panics when the test fails.
pub struct Case(pub &'static str, pub fn());

/// A list of cases for [`run`]: functions, each by its path, which is its name.
#[macro_export]
macro_rules! cases {
    ($($(#[$condition:meta])* $case:path),* $(,)?) => {
        &[$($(#[$condition])* $crate::harness::Case(stringify!($case), $case)),*]
    };
}

/// Runs the cases whose names contain one of the program's arguments (with `--exact`, are one of
/// them), or all of them. `--list` lists them, as Rust's own harness does.
pub fn run(lists: &[&[Case]]) {
    let mut cases = lists.iter().copied().flatten();
    if let Ok(name) = std::env::var(CASE) {
        let case = cases.find(|case| case.0 == name).expect("the harness knows its cases");
        // SAFETY: sets a timer and has no preconditions; without a handler it ends the process.
        unsafe { libc::alarm(SECONDS) };
        (case.1)();
        return;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    if has("--list") {
        // None is ignored.
        for case in cases.filter(|_| !has("--ignored")) {
            println!("{}: test", case.0);
        }
        return;
    }
    let filters: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| {
        let fits =
            |filter: &str| if has("--exact") { name == filter } else { name.contains(filter) };
        filters.is_empty() || filters.iter().any(|filter| fits(filter))
    };
    let (mut passed_count, mut failed) = (0, 0);
    for case in cases.filter(|case| wanted(case.0)) {
        let status = this_program().env(CASE, case.0).status();
        let passed = status.as_ref().is_ok_and(std::process::ExitStatus::success);
        println!("test {} ... {}", case.0, if passed { "ok" } else { "FAILED" });
        if passed {
            passed_count += 1;
        } else {
            println!("    {status:?}");
            failed += 1;
        }
    }
    // The line that Rust's own harness ends with.
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {passed_count} passed; {failed} failed; 0 ignored");
    if failed != 0 {
        std::process::exit(101);
    }
}

/// Runs a case once more, in a process of its own with these variables in its environment.
pub fn again(name: &str, variables: &[(&str, &str)]) -> bool {
    let status = this_program().env(CASE, name).envs(variables.iter().copied()).status();
    status.is_ok_and(|status| status.success())
}

/// This program once more. The kernel cannot start one of another processor, which an emulator
/// runs: `cargo xtask cross` names it.
fn this_program() -> Command {
    let program = std::env::current_exe().expect("a running program has a file");
    let emulator = std::env::var("LANECRYPT_EMULATOR").unwrap_or_default();
    let mut words = emulator.split_whitespace();
    match words.next() {
        None => Command::new(program),
        Some(emulator) => {
            let mut command = Command::new(emulator);
            command.args(words).arg(program);
            command
        }
    }
}

/// Says on a line of its own that something could not be tested here.
pub fn skipped(name: &str, reason: &str) {
    println!("SKIPPED {name}: {reason}");
}

/// Whether the long tests were asked for.
pub fn is_long() -> bool {
    std::env::var_os("LANECRYPT_LONG").is_some()
}

/// A number of repetitions, usually and in long tests.
pub fn times(usual: usize, long: usize) -> usize {
    if is_long() { long } else { usual }
}
