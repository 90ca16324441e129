//! `lanecrypt speed --count`: instructions of requests, and budgets for them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, ExitCode};

use lanecrypt_speed::{Counts, count, counted};

use crate::exit;

/// The command of the process whose steps are counted.
pub(crate) const CHILD: &str = "speed-counted";

/// Counts, compares with the budgets of a file if there is one, and perhaps writes that file. The exit
/// code is 1 if a row takes too many.
pub(crate) fn run(budgets: Option<&Path>, update: bool) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return exit::failure(&format!("this program's own file: {error}")),
    };
    let child = || {
        let mut command = Command::new(&program);
        command.arg(CHILD);
        command
    };
    let counts = match count(child) {
        Ok(counts) => counts,
        Err(error) => return exit::failure(&format!("instructions cannot be counted: {error}")),
    };
    let Some(file) = budgets else { return exit::print(&counts.to_string()) };
    let outcome = if update { written(counts, file) } else { within(&counts, file) };
    match outcome {
        Ok(text) => exit::print(&text),
        Err(reason) => exit::failure(&format!("{}: {reason}", file.display())),
    }
}

/// Writes the counts, and those of other levels that the file has.
fn written(counts: Counts, file: &Path) -> Result<String, String> {
    let old = match fs::read_to_string(file) {
        Ok(text) => Counts::parse(&text)?,
        Err(error) if error.kind() == ErrorKind::NotFound => Counts::default(),
        Err(error) => return Err(error.to_string()),
    };
    let text = format!("{} rows are written\n", counts.len());
    fs::write(file, counts.with_rest_of(old).to_string()).map_err(|error| error.to_string())?;
    Ok(text)
}

/// Whether all that was counted is within its budget.
fn within(counts: &Counts, file: &Path) -> Result<String, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let over = counts.over(&Counts::parse(&text)?);
    match over.first() {
        None => Ok(format!("{} rows are within their budgets\n", counts.len())),
        Some(first) => Err(match over.len() {
            1 => first.clone(),
            more => format!("{first}, and {} more", more - 1),
        }),
    }
}

/// Makes the requests, step by step.
pub(crate) fn child() -> ExitCode {
    match counted() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::failure(&format!("{CHILD}: {error}")),
    }
}
