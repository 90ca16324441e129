//! `lanecrypt random`: random bytes to standard output.

mod encode;
mod output;
mod produce;
mod rate;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::ValueEnum;
use lanecrypt_random::{AesCtr, ChaCha, EntropyError, PerThread};

use crate::{exit, size};
use encode::Format;
use output::{Broken, Output};
use produce::Plan;

/// What a terminal gets when no size is given: a 256-bit key.
const TERMINAL_BYTES: u64 = 32;

/// Arguments of `random`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How much: 32, 1M, 4GiB (K = KiB = 1024, kB = 1000 and so on) [default: 32 on a terminal,
    /// endless into a pipe or file]
    #[arg(value_name = "BYTES", value_parser = size::parse)]
    bytes: Option<u64>,
    /// How bytes are written [default: hex on a terminal, raw into a pipe or file]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The cipher that makes them
    #[arg(long, value_enum, default_value_t = Core::ChaCha20)]
    core: Core,
    /// How many threads make them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
}

/// The ciphers to choose from.
#[derive(Clone, Copy, ValueEnum)]
enum Core {
    #[value(name = "chacha20")]
    ChaCha20,
    #[value(name = "chacha12")]
    ChaCha12,
    #[value(name = "chacha8")]
    ChaCha8,
    #[value(name = "aes-256-ctr")]
    Aes256Ctr,
}

impl Core {
    /// Fills a buffer from the calling thread's generator over this cipher.
    fn source(self) -> fn(&mut [u8]) -> Result<(), EntropyError> {
        match self {
            Self::ChaCha20 => PerThread::<ChaCha<20>>::try_fill,
            Self::ChaCha12 => PerThread::<ChaCha<12>>::try_fill,
            Self::ChaCha8 => PerThread::<ChaCha<8>>::try_fill,
            Self::Aes256Ctr => PerThread::<AesCtr<256>>::try_fill,
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    let terminal = io::stdout().is_terminal();
    let plan = Plan {
        total: args.bytes.or(terminal.then_some(TERMINAL_BYTES)),
        format: args.format.unwrap_or(if terminal { Format::Hex } else { Format::Raw }),
        source: args.core.source(),
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
