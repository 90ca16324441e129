//! `lanecrypt speed --count`: instructions of requests, and budgets for them.

use core::fmt::Display;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use lanecrypt_speed::{Counts, Glob, count, counted};

use crate::exit;

/// The command of the process whose steps are counted.
pub(crate) const CHILD: &str = "speed-counted";

/// Counts, compares with the budgets of a file if there is one, and perhaps writes that file. The
/// exit code is 1 if a row takes too many.
pub(crate) fn run(only: Option<&Glob>, budgets: Option<&Path>, update: bool) -> ExitCode {
    let wrong =
        |file: &Path, reason: &dyn Display| exit::failure(&format!("{}: {reason}", file.display()));
    // Before anything is counted, which takes a minute.
    let old = match budgets.map(|file| (file, read(file, update))) {
        Some((file, Err(reason))) => return wrong(file, &reason),
        Some((file, Ok(old))) => Some((file, old)),
        None => None,
    };
    // Arguments lie on the stack: where its frames begin must not depend on the program's path.
    let child = |id: &str| {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("lanecrypt").args([CHILD, id]);
        command
    };
    let counts = match count(only, child) {
        Ok(counts) => counts,
        Err(error) => return exit::failure(&format!("instructions cannot be counted: {error}")),
    };
    let rows = counts.len();
    match old {
        None => exit::print(&counts.to_string()),
        Some((file, old)) if update => {
            match fs::write(file, counts.with_rest_of(old).to_string()) {
                Ok(()) => exit::print(&format!("{rows} rows are written\n")),
                Err(error) => wrong(file, &error),
            }
        }
        Some((file, budgets)) => match &counts.over(&budgets)[..] {
            [] => exit::print(&format!("{rows} rows are within their budgets\n")),
            [one] => wrong(file, one),
            [first, more @ ..] => wrong(file, &format!("{first}, and {} more", more.len())),
        },
    }
}

/// The budgets of a file; none of one that is to be written and is not there.
fn read(file: &Path, update: bool) -> Result<Counts, String> {
    match fs::read_to_string(file) {
        Ok(text) => Counts::parse(&text),
        Err(error) if update && error.kind() == ErrorKind::NotFound => Ok(Counts::default()),
        Err(error) => Err(error.to_string()),
    }
}

/// Makes the requests of a row, step by step.
pub(crate) fn child(id: &str) -> ExitCode {
    match counted(id) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::failure(&format!("{CHILD}: {error}")),
    }
}
