//! The program `lanecrypt`.
//!
//! Its exit code is 0 on success, 1 on a failure, and 2 if the arguments or `LANECRYPT_ISA` are
//! invalid. Errors are one line on standard error.

#![forbid(unsafe_code)]

mod check;
mod compare;
mod crypt;
mod exit;
mod info;
mod keygen;
mod openssl;
mod process;
mod random;
mod report;
mod secret;
mod serve;
mod size;
mod speed;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use lanecrypt_ciphers::Level;

/// Small cryptographic requests, fast.
#[derive(Parser)]
#[command(
    name = "lanecrypt",
    version,
    after_help = "LANECRYPT_ISA=portable|ssse3|aesni|avx2|\
    avx2vaes|avx512 keeps to the kernels of that instruction set and below."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Encrypt files, or standard input to standard output
    Encrypt(crypt::EncryptArgs),
    /// Decrypt what `encrypt` has made
    Decrypt(crypt::DecryptArgs),
    /// Make a key file for `encrypt` and `decrypt`
    Keygen(keygen::Args),
    /// Measure speed beside other software
    Speed(speed::Args),
    /// Compare two runs of `speed`
    Compare(compare::Args),
    /// Make a page, pictures or tables of runs of `speed`
    Report(report::Args),
    /// Be a daemon or a client of the table device
    #[command(hide = true, name = speed::CHILD)]
    SpeedChild { peer_lib: Vec<String> },
    /// Write random bytes
    Random(random::Args),
    /// Serve other processes: keys stay here, and requests of all share lanes
    Serve(serve::Args),
    /// Print the configuration that makes programs use Lanecrypt through OpenSSL
    Openssl(openssl::Args),
    /// Say what OpenSSL uses in this process
    #[command(hide = true, name = openssl::CHILD)]
    OpensslChild,
    /// Show the processor, the kernels it runs and what the operating system offers
    Info(info::Args),
    /// Test this build, or answer test vectors given as JSON lines on standard input
    Check(check::Args),
}

impl Command {
    /// Whether the command has nothing to print, or writes its result to a file.
    fn does_without_output(&self) -> bool {
        match self {
            Self::Speed(args) => args.writes_file(),
            // They say themselves whether they write to standard output.
            Self::Encrypt(_) | Self::Decrypt(_) => true,
            Self::Keygen(_) | Self::Serve(_) | Self::SpeedChild { .. } => true,
            _ => false,
        }
    }
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => return exit::bad_arguments(&one_line(&error)),
        Err(help) => return exit::print(&help.to_string()),
    };
    if let Err(reason) = isa_setting() {
        return exit::bad_arguments(&reason);
    }
    // Checked before any work is done.
    if !arguments.command.does_without_output()
        && let Err(code) = exit::needs_output()
    {
        return code;
    }
    match arguments.command {
        Command::Encrypt(args) => crypt::encrypt(&args),
        Command::Decrypt(args) => crypt::decrypt(&args),
        Command::Keygen(args) => keygen::run(&args),
        Command::Speed(args) => speed::run(args),
        Command::SpeedChild { peer_lib } => speed::child(&peer_lib),
        Command::Compare(args) => compare::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Random(args) => random::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Openssl(args) => openssl::run(&args),
        Command::OpensslChild => openssl::child(),
        Command::Info(args) => info::run(&args),
        Command::Check(args) => check::run(&args),
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

/// An argument error as one line, without the usage text after it.
fn one_line(error: &clap::Error) -> String {
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return String::from("no command given; try 'lanecrypt --help'");
    }
    let mut text = error.to_string();
    // The user's own text is before these, so that their last occurrence is not the user's.
    for end in ["\n\nFor more information", "\n\nUsage:"] {
        text.truncate(text.rfind(end).unwrap_or(text.len()));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).replace(" tip: ", "; ")
}
