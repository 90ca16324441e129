//! `lanecrypt check`: this build against its test vectors, or against anybody's.

mod case;
mod lines;
mod request;
mod self_test;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use lanecrypt_ciphers::Isa;

use crate::exit;

/// Arguments of `check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run the built-in test vectors even if standard input is not a terminal
    #[arg(long)]
    self_test: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    if args.self_test || io::stdin().is_terminal() {
        let report = self_test::run(Isa::detect());
        let printed = exit::print(&report.text);
        return if report.failed { ExitCode::FAILURE } else { printed };
    }
    exit::after(lines::answer_all(&mut io::stdin().lock(), &mut io::stdout().lock(), Isa::detect()))
}
