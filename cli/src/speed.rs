//! `lanecrypt speed`: the cost of requests on this machine, compared with the peers.

#[cfg(target_os = "linux")]
pub(crate) mod count;
mod isa;
mod model;
mod target;

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use lanecrypt_ciphers::Level;
use lanecrypt_speed::{
    Depth, DeviceOptions, Glob, Options, PeerLibraries, Peers, Report, Shown, Table, on_interrupt,
    run as measure, usual_times,
};

use self::target::Target;
use crate::exit;

/// Measures the cost of requests on this machine, ours and the peers', interleaved in one run.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[arg(value_name = "TABLE", help = format!(
        "Tables to measure: {}; without any, the headline rows",
        Table::all().iter().map(|table| table.name()).collect::<Vec<_>>().join(", ")
    ))]
    tables: Vec<Table>,

    #[arg(long, value_name = "TIME", value_parser = duration, allow_negative_numbers = true, help =
        format!("Time for the whole run, such as 30s or 5m [default: {}]", usual_times()))]
    budget: Option<Duration>,

    /// Measure fewer points, with wider intervals
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// Measure every point and run the documents' tests in full, however long that takes
    #[arg(long)]
    full: bool,

    /// Measure only points whose id fits this pattern (* and ?), such as 'random/*/u32/4/t1'
    #[arg(long, value_name = "GLOB")]
    only: Option<Glob>,

    /// Measure and show the whole of long tables, not only the rows of the first screen
    #[arg(long, conflicts_with = "table")]
    all: bool,

    /// Of long tables measure all, and show the parts whose title has this text, such as
    /// 'aes-128-gcm seal'
    #[arg(long, value_name = "TITLE")]
    table: Option<String>,

    /// Measure only these peers: names with commas, such as openssl,rand; or none
    #[arg(long, value_name = "LIST", default_value = "all", hide_default_value = true)]
    peers: PeersArg,

    /// Hold our kernels and the peers to this instruction set; peers that cannot be held are marked
    #[arg(long, value_name = "LEVEL", value_parser = isa::parser())]
    isa: Option<Level>,

    /// Use this file as a peer's library, such as openssl=/opt/lib/libcrypto.so.3
    #[arg(long, value_name = "NAME=PATH", value_parser = peer_library)]
    peer_lib: Vec<String>,

    /// Write the results as JSON to this file; - writes them, and nothing else, to standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// With the table device: measure the daemon that serves at this socket, not those that the
    /// table starts
    #[arg(long, value_name = "PATH")]
    device_socket: Option<PathBuf>,

    /// Count the instructions of 40 rows of ours instead, at each instruction set
    #[cfg(target_os = "linux")]
    #[arg(
        long,
        conflicts_with_all = ["tables", "budget", "quick", "full", "all", "table", "json", "isa"]
    )]
    count: bool,

    /// With --count: fail if a row takes 2 % more than in this file
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "FILE", requires = "count")]
    budgets: Option<PathBuf>,

    /// With --budgets: write what was counted to the file
    #[cfg(target_os = "linux")]
    #[arg(long, requires = "budgets", conflicts_with = "only")]
    update: bool,

    /// Be one of the processes that share the passes of a table
    #[arg(long, hide = true)]
    worker: bool,

    /// With the table engine: say whether this accelerator card would help, a description in TOML
    #[arg(
        long, value_name = "FILE",
        conflicts_with_all = ["json", "budget", "only", "quick", "full"],
    )]
    model: Option<String>,

    /// The host of that card, and perhaps its software, a description in TOML
    #[arg(long, value_name = "FILE", requires = "model")]
    host: Option<String>,
}

impl Args {
    /// Whether the results go to a file, in addition to the text on standard output.
    pub(crate) fn writes_file(&self) -> bool {
        self.json.as_deref().is_some_and(|path| path.as_os_str() != target::OUTPUT)
    }
}

/// The argument of `--peers`.
#[derive(Clone, Debug)]
struct PeersArg(Peers);

impl From<&str> for PeersArg {
    fn from(list: &str) -> Self {
        Self(Peers::from_list(list))
    }
}

/// Parses a time: a whole number of seconds, or a number with `ms`, `s`, `m` or `h`.
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
        // At most a year, so that no sum of times can overflow.
        .filter(|&time| (1..=365 * 24 * 3_600_000).contains(&time))
        .map(Duration::from_millis)
        .ok_or_else(|| "expected a time such as 500ms, 30s, 5m".to_owned())
}

/// Checks the argument of `--peer-lib`.
fn peer_library(assignment: &str) -> Result<String, String> {
    match PeerLibraries::new().add_argument(assignment) {
        Ok(()) => Ok(assignment.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs the command. The exit code is 1 if one of our answers is wrong or the results cannot be
/// written, 2 for arguments that match nothing, and 130 after an interrupt.
pub(crate) fn run(args: Args) -> ExitCode {
    if let Some(level) = args.isa
        && let Err(code) = isa::hold(level)
    {
        return code;
    }
    if let Some(card) = &args.model {
        return match args.tables.iter().all(|table| table.name() == "engine") {
            true => model::run(card, args.host.as_deref()),
            false => exit::bad_arguments("--model is for the table engine alone"),
        };
    }
    #[cfg(target_os = "linux")]
    if args.count {
        return count::run(args.only.as_ref(), args.budgets.as_deref(), args.update);
    }
    let mut libraries = PeerLibraries::new();
    for assignment in &args.peer_lib {
        if let Err(error) = libraries.add_argument(assignment) {
            return exit::bad_arguments(&error.to_string());
        }
    }
    if let Some(level) = args.isa {
        libraries.hold_to(level);
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
        shown: match args.table {
            _ if args.all => Shown::All,
            Some(title) => Shown::Titled(title),
            None => Shown::Usual,
        },
        peers: args.peers.0,
        libraries,
        device: device(args.device_socket, &args.peer_lib),
        worker: if args.worker { Vec::new() } else { worker() },
    };
    if args.worker {
        let stop = on_interrupt().unwrap_or_else(|_| Arc::new(AtomicBool::new(false)));
        return match lanecrypt_speed::work(&options, &stop) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => exit::failure(&format!("a worker of speed: {error}")),
        };
    }
    let mut target = match args.json.as_deref().map(Target::open).transpose() {
        Ok(target) => target,
        Err(reason) => return exit::failure(&reason),
    };
    let quiet = matches!(target, Some(Target::Output));
    // Without a handler, an interrupt simply ends the program.
    let stop = on_interrupt().unwrap_or_else(|_| Arc::new(AtomicBool::new(false)));
    let mut unheard = None;
    let mut show = |text: &str| {
        let mut out = io::stdout().lock();
        if quiet || unheard.is_some() {
            return;
        }
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // The rest of the text has no reader, but the JSON may still be wanted.
            unheard = Some(error);
            stop.store(target.is_none(), Ordering::Relaxed);
        }
    };
    let report = match measure(&options, &stop, &mut show) {
        Ok(report) => report,
        Err(error) => return exit::bad_arguments(&error.to_string()),
    };
    if let Some(target) = &mut target
        && let Err(reason) = target.write(&report.results)
    {
        return exit::failure(&reason);
    }
    match unheard {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            exit::failure(&format!("standard output: {error}"))
        }
        Some(_) if target.is_none() => ExitCode::SUCCESS,
        _ => conclude(&report),
    }
}

/// This program once more with the same arguments, as a process that shares the passes of a table.
fn worker() -> Vec<OsString> {
    let program = std::env::current_exe().map(PathBuf::into_os_string);
    let arguments = std::env::args_os().skip(1).chain(["--worker".into()]);
    program.map_or_else(|_| Vec::new(), |program| [program].into_iter().chain(arguments).collect())
}

/// The table `device` starts this program again, as a daemon or a client.
fn device(socket: Option<PathBuf>, peer_lib: &[String]) -> DeviceOptions {
    let program = std::env::current_exe().map(PathBuf::into_os_string);
    let command = program.map(|program| {
        let libraries = peer_lib.iter().map(OsString::from);
        [program, CHILD.into()].into_iter().chain(libraries).collect()
    });
    let command = command.unwrap_or_default();
    DeviceOptions::started_by(command).at(socket)
}

/// The command of such a process.
pub(crate) const CHILD: &str = "speed-child";

/// Runs the command that the table `device` starts.
pub(crate) fn child(peer_lib: &[String]) -> ExitCode {
    let mut libraries = PeerLibraries::new();
    for assignment in peer_lib {
        if let Err(error) = libraries.add_argument(assignment) {
            return exit::bad_arguments(&error.to_string());
        }
    }
    match lanecrypt_speed::child(&libraries) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::failure(&format!("{CHILD}: {error}")),
    }
}

fn conclude(report: &Report) -> ExitCode {
    if report.wrong > 0 {
        return exit::failure(&format!("{} rows of ours are not verified", report.wrong));
    }
    if report.interrupted { ExitCode::from(130) } else { ExitCode::SUCCESS }
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
