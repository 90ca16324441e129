//! `lanecrypt man`: manual pages, made of the same texts as `--help`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap_mangen::Man;

use crate::exit;

const AFTER: &str = "\
To read a page:
  lanecrypt man | man -l -

To install all of them:
  lanecrypt man ~/.local/share/man/man1";

/// Arguments of `man`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// Where to write the pages of all commands; a folder that is not there is made
    folder: Option<PathBuf>,
}

/// Runs the command; `program` describes all that there are.
pub(crate) fn run(args: &Args, program: clap::Command) -> ExitCode {
    // The command `help` needs no page.
    let program = program.disable_help_subcommand(true);
    match &args.folder {
        Some(folder) => match install(folder, program) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => exit::failure(&format!("{}: {error}", folder.display())),
        },
        None => match page(program) {
            Ok(page) => exit::print(&page),
            Err(error) => exit::failure(&error.to_string()),
        },
    }
}

fn install(folder: &Path, program: clap::Command) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(program, folder)
}

fn page(program: clap::Command) -> io::Result<String> {
    let mut page = Vec::new();
    Man::new(program).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
