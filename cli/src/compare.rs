//! `lanecrypt compare`: what became faster or slower between two runs of `speed`.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lanecrypt_speed::{Comparison, Results, differences};

use crate::exit;

/// The longest file in bytes: a run of all tables has a few megabytes.
const LONGEST: u64 = 256 << 20;

/// Arguments of `compare`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What `speed --json` wrote before; - is standard input
    old: PathBuf,
    /// What it wrote after
    new: PathBuf,
    /// Compare although the machines differ, in nanoseconds
    #[arg(long)]
    force: bool,
    /// List every point
    #[arg(long)]
    all: bool,
}

/// Runs the command. The exit code is 1 if one of our points became slower beyond noise, and 2 for
/// files that cannot be compared.
pub(crate) fn run(args: &Args) -> ExitCode {
    match compared(args) {
        Err(reason) => exit::bad_arguments(&reason),
        Ok((warnings, comparison)) => {
            match exit::print(&format!("{warnings}{}", comparison.text(args.all))) {
                ExitCode::SUCCESS if comparison.is_slower() => ExitCode::FAILURE,
                code => code,
            }
        }
    }
}

/// The comparison, and what is to be said before it.
fn compared(args: &Args) -> Result<(String, Comparison), String> {
    let [old, new] = [read(&args.old)?, read(&args.new)?];
    let differences = differences(&old.machine, &new.machine);
    if !differences.is_empty() && !args.force {
        return Err(format!(
            "the machines differ (--force compares anyway): {}",
            differences.join("; ")
        ));
    }
    let comparison = Comparison::new(&old, &new);
    if comparison.changes.is_empty() {
        return Err(String::from("the runs have no measured point in common"));
    }
    let warnings = [("old", &old), ("new", &new)]
        .into_iter()
        .filter_map(|(name, run)| Some(format!("{name}: {}\n", run.machine.warning()?)))
        .collect();
    Ok((warnings, comparison))
}

/// What `speed --json` wrote to a file.
pub(crate) fn read(path: &Path) -> Result<Results, String> {
    let (at, mut text) = (path.display(), String::new());
    let input = match path.as_os_str() == "-" {
        true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
        false => File::open(path),
    };
    let file = input.map_err(|error| format!("{at}: {error}"))?;
    file.take(LONGEST).read_to_string(&mut text).map_err(|error| format!("{at}: {error}"))?;
    Results::from_json(&text)
        .map_err(|error| format!("{at}: not what 'lanecrypt speed --json FILE' writes: {error}"))
}
