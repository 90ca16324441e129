//! `lanecrypt serve`: the engine in a process of its own.

#[cfg(test)]
mod any_event;
#[cfg(test)]
mod any_settings;
mod config;
mod control;
mod escape;
#[cfg(test)]
mod hidden;
mod log;
mod metrics;
mod names;
mod sandbox;
mod service;
mod signals;
mod written;

use core::str::FromStr;
use core::time::Duration;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use lanecrypt_device::{Daemon, Placement, Prepared, Server, default_path};
use sd_notify::NotifyState;

use self::config::Config;
use self::log::{Form, Log};
use self::metrics::Metrics;
use self::names::Names;
use self::sandbox::{Files, User};
use self::service::Sockets;
use self::signals::Signals;
use crate::process::Lock;
use crate::wrapping::Passphrase;
use crate::{exit, process, secret};

/// Arguments of `serve`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// The daemon's socket [default: $XDG_RUNTIME_DIR/lanecrypt.sock, or /run/lanecrypt.sock]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Named keys, and who may connect
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// Allow sessions of the null cipher, which protects nothing
    #[arg(long)]
    allow_null: bool,
    /// For how long to look for requests before sleeping
    #[arg(
        long, value_name = "MICROSECONDS", default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(..=1_000_000),
    )]
    spin: u64,
    /// On which processor to run: auto (where the system puts it, but beside a client that keeps it
    /// busy), same or other (than the client that came last), or its number
    #[arg(long, value_name = "auto|same|other|CPU", default_value = "auto")]
    placement: Where,
    /// The user to become when started as root, after the keys are read
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The form of the log on standard error
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Text)]
    log: Form,
    /// A second socket, with statistics for Prometheus
    #[arg(long, value_name = "PATH")]
    metrics: Option<PathBuf>,
    /// Read the passphrase of keys that wrap others from this descriptor, at the start
    #[arg(long, value_name = "NUMBER")]
    passphrase_fd: Option<u32>,
    /// Do not restrict the process, for debugging
    #[arg(long)]
    no_sandbox: bool,
    /// Print what the sandbox allows and this kernel enforces, and exit
    #[arg(long, conflicts_with = "no_sandbox")]
    explain: bool,
    /// Try what the sandbox forbids, for tests
    #[arg(long, hide = true)]
    try_forbidden: Option<Forbidden>,
}

/// What the sandbox forbids.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Forbidden {
    /// To read a file
    File,
    /// To start a program
    Program,
    /// To connect to an address
    Network,
}

/// A placement as an argument.
#[derive(Clone, Copy, Debug)]
struct Where(Placement);

impl FromStr for Where {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(match text {
            "auto" => Placement::Auto,
            "same" => Placement::Same,
            "other" => Placement::Other,
            number => match number.parse() {
                Ok(processor) => Placement::Processor(processor),
                Err(_) => return Err("not auto, same, other or the number of a processor"),
            },
        }))
    }
}

/// Runs the command, until a signal ends it.
pub(crate) fn run(args: &Args) -> ExitCode {
    match serve(args) {
        Ok(code) => code,
        Err(reason) => exit::failure(&reason),
    }
}

fn serve(args: &Args) -> Result<ExitCode, String> {
    process::hide().map_err(|error| format!("cannot keep keys from core dumps: {error}"))?;
    let lock = process::lock();
    let keeps = sandbox::kept(lock);
    let sockets = service::sockets()?;
    let user = args.user.as_deref().map(User::find).transpose()?;
    let mut source = Source {
        args: args.clone(),
        user: user.as_ref().map_or_else(secret::own, |user| user.number),
        names: Names::default(),
        passphrase: Passphrase::new(args.passphrase_fd),
    };
    let (server, folders) = source.read()?;
    let signals = Signals::catch(args.config.is_some())?;
    let (log, writer) = Log::new(args.log);
    let events = log.clone();
    let server = server.observer(move |event| control::report(&events, event));
    let prepared = server.prepare().map_err(|error| error.to_string())?;
    if let Some(user) = &user
        && user.number != secret::own()
    {
        sandbox::become_user(user, keeps)?;
    }
    let path = args.socket.clone().unwrap_or_else(default_path);
    let files = files(args, &path, &sockets, folders);
    if args.explain {
        let report = sandbox::enter(&files, keeps)?;
        return Ok(exit::print(&report.text(&files)));
    }
    let Sockets { daemon, metrics } = sockets;
    let is_passed = daemon.is_some();
    let mut daemon = listen(prepared, daemon, &path)?;
    let metrics = match (metrics, &args.metrics) {
        (Some(passed), _) => Some(Metrics::passed(passed)),
        (None, Some(path)) => Some(Metrics::bind(path)?),
        (None, None) => None,
    };
    let failed = |error: io::Error| format!("cannot start: {error}");
    let lacks = daemon.missing();
    let missing = match args.no_sandbox {
        true => vec![String::from("not enforced: anything, because of --no-sandbox")],
        false => sandbox::enter(&files, keeps)?.missing(),
    };
    if let Some(what) = args.try_forbidden {
        return try_forbidden(what);
    }
    source.names.enters_sandbox();

    // From here on, there are threads, which inherit the sandbox.
    writer.start().map_err(failed)?;
    let control = daemon.handle();
    let at = match is_passed {
        true => String::from("the socket of the service manager"),
        false => path.display().to_string(),
    };
    log.say(&format!("serving at {at}"));
    if lock == Lock::Refused {
        log.say(
            "keys may reach swap space: memory can be locked by root, or with ulimit -l unlimited",
        );
    }
    missing.iter().for_each(|line| log.say(line));
    lacks.iter().for_each(|line| log.say(line));
    signals.start(control.clone(), source, log.clone()).map_err(failed)?;
    let metrics = metrics.map(|metrics| metrics.start(control.clone())).transpose();
    let _metrics = metrics.map_err(failed)?;
    service::watch(control, log.clone()).map_err(failed)?;
    service::notify(&[NotifyState::Ready]);
    let ended = daemon.run();
    service::notify(&[NotifyState::Stopping]);
    log.flush();
    match ended {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(exit::bad_arguments("--placement: there is no such processor for this program"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Listens at a path, or at a socket that the service manager has opened.
fn listen(prepared: Prepared, passed: Option<OwnedFd>, path: &Path) -> Result<Daemon, String> {
    match passed {
        Some(socket) => prepared.listen(socket).map_err(|error| error.to_string()),
        None => prepared.bind(path).map_err(|error| error.to_string()),
    }
}

/// The files that the daemon needs while it serves.
fn files(args: &Args, path: &Path, sockets: &Sockets, folders: Vec<PathBuf>) -> Files {
    let own = sockets.daemon.is_none().then_some(path);
    let sockets = own.into_iter().chain(args.metrics.as_deref());
    let folder = |path: &Path| Some(std::path::absolute(path).ok()?.parent()?.to_owned());
    Files {
        read: folders,
        remove: sockets.filter_map(folder).collect(),
        state: service::state_directory(),
        abstract_sockets: service::listens_abstractly(),
    }
}

/// Where the settings come from, when the daemon starts and when it reloads.
#[derive(Debug)]
struct Source {
    args: Args,
    /// The user that key files may belong to, beside root.
    user: u32,
    names: Names,
    passphrase: Passphrase,
}

impl Source {
    /// Reads the settings and the keys; returns the directories where they are, too.
    fn read(&mut self) -> Result<(Server, Vec<PathBuf>), String> {
        let Self { args, user, names, passphrase } = self;
        let read = |path| Config::read(path, *user, names, passphrase);
        let config = args.config.as_deref().map(read);
        let config = config.transpose()?.unwrap_or_default();
        let mut server = Server::new()
            .spin(Duration::from_micros(args.spin))
            .placement(args.placement.0)
            .users(config.allowed.users)
            .groups(config.allowed.groups)
            .limits(config.limits)
            .keys(config.keys);
        if args.allow_null {
            server = server.allow_null();
        }
        Ok((server, config.folders.into_iter().collect()))
    }
}

/// Tries something that the sandbox forbids, and fails if it can be done.
fn try_forbidden(what: Forbidden) -> Result<ExitCode, String> {
    let done = match what {
        Forbidden::File => std::fs::read("/etc/hosts").map(drop),
        Forbidden::Program => std::process::Command::new("true").status().map(drop),
        Forbidden::Network => std::net::TcpStream::connect("127.0.0.1:1").map(drop),
    };
    match done {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(format!("forbidden: {error}")),
    }
}
