//! `lanecrypt serve`: the engine in a process of its own.

mod config;

use core::str::FromStr;
use core::time::Duration;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;

use lanecrypt_device::{Placement, Server, default_path};

use self::config::Config;
use crate::{exit, process};

/// Arguments of `serve`.
#[derive(clap::Args)]
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
}

/// A placement as an argument.
#[derive(Clone, Copy)]
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
    if let Err(error) = process::hide() {
        return exit::failure(&format!("cannot keep keys from core dumps: {error}"));
    }
    let is_locked = process::lock();
    let config = match args.config.as_deref().map(Config::read).transpose() {
        Ok(config) => config.unwrap_or_default(),
        Err(reason) => return exit::failure(&reason),
    };
    let mut stop = match process::stop() {
        Ok(stop) => stop,
        Err(error) => return exit::failure(&format!("signals: {error}")),
    };
    let mut server = Server::new()
        .spin(Duration::from_micros(args.spin))
        .placement(args.placement.0)
        .users(config.users)
        .keys(config.keys);
    if args.allow_null {
        server = server.allow_null();
    }
    let prepared = match server.prepare() {
        Ok(prepared) => prepared,
        Err(error) => return exit::failure(&error.to_string()),
    };
    let path = args.socket.clone().unwrap_or_else(default_path);
    let mut daemon = match prepared.bind(&path) {
        Ok(daemon) => daemon,
        Err(error) => return exit::failure(&error.to_string()),
    };
    exit::say(&format!("serving at {}", path.display()));
    if !is_locked {
        exit::say(
            "keys may reach swap space: memory can be locked by root, or with ulimit -l unlimited",
        );
    }
    let handle = daemon.handle();
    std::thread::spawn(move || {
        let _ = stop.read(&mut [0]);
        handle.stop();
    });
    match daemon.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            exit::bad_arguments("--placement: there is no such processor for this program")
        }
        Err(error) => exit::failure(&error.to_string()),
    }
}
