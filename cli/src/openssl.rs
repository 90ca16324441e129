//! `lanecrypt openssl`: the configuration that makes programs use Lanecrypt through OpenSSL.

mod base;
mod check;
mod count;
mod name;
mod program;
mod settings;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use self::base::Base;
use self::program::Program;
use self::settings::Settings;
use crate::exit;

/// The hidden command that [`check`] runs under a configuration.
pub(crate) const CHILD: &str = "openssl-child";

/// Arguments of `openssl`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The program that the configuration is for: says where it goes, and what will be used
    #[arg(long = "for", value_name = "PROGRAM", value_enum)]
    program: Option<Program>,
    /// The provider's file; without this, the one in OpenSSL's folder of modules or beside this
    /// program
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// The configuration to build on; without this, OpenSSL's own
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
    /// Take random numbers from Lanecrypt too; without the module's file, programs then have none
    #[arg(long)]
    random: bool,
    /// Sign with RSA keys by Lanecrypt too, and with those of the daemon (see --key)
    #[arg(long)]
    rsa: bool,
    /// Exchange keys by X25519 and P-256 and sign by ECDSA with P-256 by Lanecrypt too
    #[arg(long)]
    curves: bool,
    /// Instead print a file that names this RSA key of the daemon `lanecrypt serve`, which programs
    /// with `--rsa` take as their key's file; with --check, ask the daemon for the key
    #[arg(
        long, value_name = "NAME",
        conflicts_with_all = ["program", "module", "base", "random", "rsa", "curves"],
    )]
    key: Option<String>,
    /// The daemon's socket, in that file and for --check; without this, what the configuration says
    /// (`socket`), or the usual one
    #[arg(long, value_name = "PATH", requires = "key")]
    socket: Option<PathBuf>,
    /// Run `openssl` under the configuration, and say what Lanecrypt takes over; with --key, say
    /// whether the daemon has this key for you
    #[arg(long)]
    check: bool,
    /// Say what Lanecrypt has done so far in processes that run, such as those of `pgrep nginx`;
    /// contexts of ciphers that are in use may hold back up to 255 messages each
    #[arg(
        long, value_name = "PROCESS", num_args = 1..,
        conflicts_with_all = [
            "program", "module", "base", "random", "rsa", "curves", "key", "check",
        ],
    )]
    count: Vec<u32>,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    if !args.count.is_empty() {
        let lines: Result<String, _> = args.count.iter().copied().map(count::of_process).collect();
        return lines.map_or_else(|reason| exit::failure(&reason), |lines| exit::print(&lines));
    }
    let socket = args.socket.as_deref();
    let text = match &args.key {
        Some(name) if args.check => name::check(name, socket),
        Some(name) => name::file(name, socket),
        None => prepared(args),
    };
    match text {
        Err(reason) => exit::failure(&reason),
        Ok(text) if args.check && args.key.is_none() => check::run(&text),
        Ok(text) => exit::print(&text),
    }
}

/// Answers what the libcrypto of this process uses.
pub(crate) fn child() -> ExitCode {
    check::child()
}

/// The configuration.
fn prepared(args: &Args) -> Result<String, String> {
    let module = module(args.module.as_deref())?;
    let base = match &args.base {
        Some(path) => Some(Base::read(path)?),
        None => {
            let own = folder("-d").map(|folder| folder.join("openssl.cnf"));
            own.filter(|path| path.exists()).map(|path| Base::read(&path)).transpose()?
        }
    };
    let Args { random, rsa, curves, .. } = *args;
    let settings = Settings { base, module, random, rsa, curves };
    let advice = program::advice(args.program, random, rsa, curves);
    Ok(format!("{advice}{}", settings.text()?))
}

/// The provider's file, with its whole path.
fn module(given: Option<&Path>) -> Result<PathBuf, String> {
    let path = match given {
        Some(path) => path.to_owned(),
        None => places().into_iter().find(|path| path.is_file()).ok_or(
            "the provider lanecrypt.so is not installed; name its file with --module, \
             or build it: cargo build --release -p lanecrypt-openssl",
        )?,
    };
    let at = path.display();
    let whole = path.canonicalize().map_err(|error| format!("{at}: {error}"))?;
    // What the configuration cannot say, or would read as something else.
    let text = whole.to_str().ok_or_else(|| format!("{at}: the path is not UTF-8"))?;
    if text.contains(|c: char| c.is_control() || "\"'`\\$#".contains(c)) {
        return Err(format!("{at}: OpenSSL's configurations cannot have such a path"));
    }
    if !whole.is_file() {
        return Err(format!("{at}: not a file"));
    }
    if let Some(folder) = build_folder(&whole) {
        exit::say(&format!(
            "the configuration names a module in cargo's folder {}, which a build or `cargo clean` \
             replaces: install it, and name it with --module",
            folder.display()
        ));
    }
    Ok(whole)
}

/// The folder of cargo's that a file is in.
fn build_folder(file: &Path) -> Option<&Path> {
    let is_cargos = |folder: &&Path| {
        let tag = std::fs::read_to_string(folder.join("CACHEDIR.TAG"));
        tag.is_ok_and(|tag| tag.contains("created by cargo"))
    };
    file.ancestors().skip(1).find(is_cargos)
}

/// Where the provider is, if it is installed.
fn places() -> Vec<PathBuf> {
    let mut places = Vec::new();
    places.extend(folder("-m").map(|folder| folder.join("lanecrypt.so")));
    if let Ok(program) = std::env::current_exe()
        && let Some(folder) = program.parent()
    {
        // Installed with the program, or built with it.
        places.push(folder.join("../lib/ossl-modules/lanecrypt.so"));
        places.push(folder.join("liblanecrypt_openssl.so"));
    }
    places
}

/// A folder that `openssl version` names: `-d` that of configurations, `-m` that of modules.
fn folder(which: &str) -> Option<PathBuf> {
    let output = Command::new("openssl").args(["version", which]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let folder = text.split('"').nth(1)?;
    output.status.success().then(|| PathBuf::from(folder))
}
