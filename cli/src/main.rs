//! The program `lanecrypt`.
//!
//! Its exit code is 0 on success, 1 on a failure, and 2 if the arguments or `LANECRYPT_ISA` are
//! invalid. Errors are one line on standard error; without a command, it has a page that says how
//! to begin.

#![forbid(unsafe_code)]

mod arguments;
mod check;
mod compare;
mod completions;
mod crypt;
mod exit;
mod info;
mod keygen;
mod man;
mod openssl;
mod pages;
mod patient;
mod process;
mod random;
mod report;
mod secret;
mod serve;
mod size;
mod speed;
mod terminal;
mod wrapping;

use std::process::ExitCode;

use lanecrypt_ciphers::Level;

use self::arguments::{Command, Unknown};

impl Command {
    /// Whether the command has nothing to print, or writes its result to a file.
    fn does_without_output(&self) -> bool {
        match self {
            Self::Speed(args) => args.writes_file(),
            // They say themselves whether they write to standard output.
            Self::Encrypt(_) | Self::Decrypt(_) | Self::Man(_) => true,
            Self::Keygen(_) | Self::Serve(_) | Self::SpeedChild { .. } => true,
            _ => false,
        }
    }
}

fn main() -> ExitCode {
    let command = match arguments::parse() {
        Ok(command) => command,
        Err(Unknown::Wrong(line)) => return exit::bad_arguments(&line),
        Err(Unknown::Help(text)) => return exit::print(&text),
        Err(Unknown::Nothing) => return exit::no_command(arguments::FIRST),
    };
    if let Err(reason) = isa_setting() {
        return exit::bad_arguments(&reason);
    }
    // Checked before any work is done.
    if !command.does_without_output()
        && let Err(code) = exit::needs_output()
    {
        return code;
    }
    match command {
        Command::Encrypt(args) => crypt::encrypt(&args),
        Command::Decrypt(args) => crypt::decrypt(&args),
        Command::Keygen(args) => keygen::run(&args),
        Command::Speed(args) => speed::run(args),
        Command::SpeedChild { peer_lib } => speed::child(&peer_lib),
        #[cfg(target_os = "linux")]
        Command::SpeedCounted { id } => speed::count::child(&id),
        Command::Compare(args) => compare::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Random(args) => random::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Openssl(args) => openssl::run(&args),
        Command::OpensslChild => openssl::child(),
        Command::Info(args) => info::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Completions(args) => completions::run(&args, arguments::visible()),
        Command::Man(args) => man::run(&args, &arguments::visible()),
    }
}

/// Refuses an unknown value of `LANECRYPT_ISA`. The library ignores such values, but the user of a
/// program needs to know.
fn isa_setting() -> Result<(), String> {
    match std::env::var("LANECRYPT_ISA") {
        Err(std::env::VarError::NotPresent) => Ok(()),
        Ok(name) if name.is_empty() => Ok(()),
        Ok(name) => match name.parse::<Level>() {
            Ok(_) => Ok(()),
            Err(unknown) => Err(format!("LANECRYPT_ISA={name}: {unknown}")),
        },
        Err(error) => Err(format!("LANECRYPT_ISA: {error}")),
    }
}
