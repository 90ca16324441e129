//! `lanecrypt man`: manual pages, made of the same texts as `--help`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::{exit, pages};

/// Arguments of `man`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to write the pages of all commands; a folder that is not there is made
    folder: Option<PathBuf>,
}

/// Runs the command; `program` describes all that there are.
pub(crate) fn run(args: &Args, program: &clap::Command) -> ExitCode {
    match &args.folder {
        Some(folder) => match install(folder, program) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => exit::failure(&format!("{}: {error}", folder.display())),
        },
        None => match pages::page(program, None) {
            Ok(page) => exit::print(&String::from_utf8_lossy(&page)),
            Err(error) => exit::failure(&error.to_string()),
        },
    }
}

fn install(folder: &Path, program: &clap::Command) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("lanecrypt.1"), pages::page(program, None)?)?;
    for command in program.get_subcommands().map(clap::Command::get_name) {
        let file = folder.join(format!("lanecrypt-{command}.1"));
        fs::write(file, pages::page(program, Some(command))?)?;
    }
    Ok(())
}
