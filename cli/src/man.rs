//! `lanecrypt man`: manual pages, made of the same texts as `--help`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap_mangen::Man;

use crate::{arguments, exit};

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

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    match &args.folder {
        Some(folder) => match install(folder) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => exit::failure(&format!("{}: {error}", folder.display())),
        },
        None => match page() {
            Ok(page) => exit::print(&page),
            Err(error) => exit::failure(&error.to_string()),
        },
    }
}

/// What the pages are made of; the command `help` needs none.
fn pages() -> clap::Command {
    arguments::visible().disable_help_subcommand(true)
}

fn install(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(pages(), folder)
}

fn page() -> io::Result<String> {
    let mut page = Vec::new();
    Man::new(pages()).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
