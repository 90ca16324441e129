//! `lanecrypt speed`: what requests cost on this machine, beside the peers.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use lanecrypt_speed::{
    Depth, Glob, Options, PeerLibraries, Peers, Report, Results, Table, on_interrupt,
    run as measure,
};

use crate::exit;

/// Measures what requests cost on this machine, ours and the peers', interleaved in one run.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Tables to measure whole: random, urandom, calls, packets; without any, the headline rows
    #[arg(value_name = "TABLE")]
    tables: Vec<Table>,

    /// Time for the whole run, such as 30s or 5m [default: 150s, or 60s for each table; with
    /// --quick 30s, or 20s for each table; with --full 15m for packets]
    #[arg(long, value_name = "TIME", value_parser = duration, allow_negative_numbers = true)]
    budget: Option<Duration>,

    /// Measure fewer points
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// Measure every point and make the documents' tests whole, however long that takes
    #[arg(long)]
    full: bool,

    /// Measure only points whose id fits this pattern (* and ?), such as 'random/*/u32/4/t1'
    #[arg(long, value_name = "GLOB")]
    only: Option<Glob>,

    /// Measure only these peers: names with commas, such as openssl,rand; or none
    #[arg(long, value_name = "LIST", default_value = "all", hide_default_value = true)]
    peers: PeersArg,

    /// Take a peer's library from this file, such as openssl=/opt/lib/libcrypto.so.3
    #[arg(long, value_name = "NAME=PATH", value_parser = peer_library)]
    peer_lib: Vec<String>,

    /// Write the results as JSON to this file; - writes them, and nothing else, to standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The argument of `--peers`.
#[derive(Clone, Debug)]
struct PeersArg(Peers);

impl From<&str> for PeersArg {
    fn from(list: &str) -> Self {
        Self(Peers::from_list(list))
    }
}

/// Reads a time: a whole number of seconds, or with `ms`, `s`, `m` or `h`.
fn duration(text: &str) -> Result<Duration, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let milliseconds = match unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return Err("expected a time such as 500ms, 30s, 5m".to_owned()),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(milliseconds))
        // A year, so that no sum of times can overflow.
        .filter(|&time| (1..=365 * 24 * 3_600_000).contains(&time))
        .map(Duration::from_millis)
        .ok_or_else(|| "expected a time such as 500ms, 30s, 5m".to_owned())
}

/// Checks the argument of `--peer-lib`.
fn peer_library(assignment: &str) -> Result<String, String> {
    match PeerLibraries::new().add(assignment) {
        Ok(()) => Ok(assignment.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs the command; exit code 1 when an answer of ours is wrong or the results cannot be
/// written, 2 for arguments that ask for nothing that exists, 130 after an interrupt.
pub(crate) fn run(args: Args) -> ExitCode {
    let mut libraries = PeerLibraries::new();
    for assignment in &args.peer_lib {
        if let Err(error) = libraries.add(assignment) {
            return exit::bad_arguments(&error.to_string());
        }
    }
    let options = Options {
        tables: args.tables,
        budget: args.budget,
        depth: match (args.quick, args.full) {
            (true, _) => Depth::Quick,
            (_, true) => Depth::Full,
            _ => Depth::Normal,
        },
        only: args.only,
        peers: args.peers.0,
        libraries,
    };
    let quiet = args.json.as_deref().is_some_and(|path| path.as_os_str() == "-");
    // A file that cannot be written should not show only after minutes of measuring.
    if let Some(path) = args.json.as_deref().filter(|_| !quiet)
        && let Err(error) = OpenOptions::new().write(true).create(true).truncate(false).open(path)
    {
        return exit::failure(&format!("cannot write {}: {error}", path.display()));
    }
    // Without a handler an interrupt simply ends the program.
    let stop = on_interrupt().unwrap_or_else(|_| Arc::new(AtomicBool::new(false)));
    let mut unheard = false;
    let mut show = |text: &str| {
        let mut out = io::stdout().lock();
        if !quiet && out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            // Whoever closed the pipe does not want the rest; the JSON may still be wanted.
            unheard = true;
            stop.store(args.json.is_none(), Ordering::Relaxed);
        }
    };
    let report = match measure(&options, &stop, &mut show) {
        Ok(report) => report,
        Err(error) => return exit::bad_arguments(&error.to_string()),
    };
    if let Some(path) = &args.json
        && let Err(error) = write(path, &report.results, quiet)
    {
        return exit::failure(&format!("cannot write {}: {error}", path.display()));
    }
    if unheard && args.json.is_none() {
        return ExitCode::SUCCESS;
    }
    conclude(&report)
}

fn conclude(report: &Report) -> ExitCode {
    if report.wrong > 0 {
        return exit::failure(&format!("{} rows of ours are not verified", report.wrong));
    }
    if report.interrupted { ExitCode::from(130) } else { ExitCode::SUCCESS }
}

/// Writes the results to a file or to standard output.
fn write(path: &Path, results: &Results, to_stdout: bool) -> io::Result<()> {
    let text = results.to_json()?;
    if to_stdout {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    } else {
        std::fs::write(path, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, ms) in [("500ms", 500), ("30", 30_000), ("30s", 30_000), ("5m", 300_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for bad in
            ["", "s", "0", "0s", "-1s", "1.5s", "30 s", "99999999999999999999s", "1y", "9000h"]
        {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
