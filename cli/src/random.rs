//! `lanecrypt random`: random bytes to standard output.

mod encode;
mod output;
mod plan;
mod produce;
mod rate;
mod source;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use crate::{exit, size};
use encode::Format;
use output::{Broken, Output};
use plan::Plan;
use source::{Core, Kind, Missing, Placement};

/// The default size on a terminal: a 256-bit key.
const TERMINAL_BYTES: u64 = 32;

/// Arguments of `random`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How much: 32, 1M, 4GiB (K = KiB = 1024, kB = 1000 and so on) [default: 32 on a terminal,
    /// endless into a pipe or file]
    #[arg(value_name = "BYTES", value_parser = size::parse)]
    bytes: Option<u64>,
    /// The form of the output [default: hex on a terminal, raw into a pipe or file]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The cipher that generates the bytes
    #[arg(long, value_enum, default_value_t = Core::Fastest)]
    core: Core,
    /// When the cipher's key is replaced
    #[arg(long, value_enum, default_value_t = Kind::Erasing)]
    generator: Kind,
    /// Which threads share a generator
    #[arg(long, value_enum, default_value_t = Placement::PerThread)]
    placement: Placement,
    /// Number of threads that generate bytes
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=256),
    )]
    threads: u16,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    let source = match args.core.source(args.generator, args.placement) {
        Ok(source) => source,
        Err(Missing::Combination(reason)) => return exit::bad_arguments(&reason),
        Err(Missing::Entropy(error)) => return exit::failure(&error.to_string()),
    };
    if let Some(warning) = args.core.warning() {
        exit::say(warning);
    }
    let terminal = io::stdout().is_terminal();
    let plan = Plan {
        total: args.bytes.or(terminal.then_some(TERMINAL_BYTES)),
        format: args.format.unwrap_or(if terminal { Format::Hex } else { Format::Raw }),
        source,
    };
    let mut output = match Output::stdout(&plan) {
        Ok(output) => output,
        Err(error) => return exit::failure(&format!("standard output: {error}")),
    };
    let threads = usize::from(args.threads);
    let result = produce::run(&plan, threads, |piece| output.write(piece));
    output.finish();
    let after = output.written();
    match result {
        Ok(()) | Err(Broken::Closed) => ExitCode::SUCCESS,
        Err(Broken::Write(error)) => {
            exit::failure(&format!("write failed after {after} bytes: {error}"))
        }
        Err(Broken::Entropy(error)) => exit::failure(&format!("{error}, after {after} bytes")),
        Err(Broken::Thread(error)) => exit::failure(&format!("cannot start a thread: {error}")),
    }
}
