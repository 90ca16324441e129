//! `lanecrypt completions`: what makes a shell complete commands and options.

use std::process::ExitCode;

use clap_complete::Shell;

use crate::exit;

const AFTER: &str = "\
Where it belongs:
  bash        ~/.local/share/bash-completion/completions/lanecrypt
  fish        ~/.config/fish/completions/lanecrypt.fish
  zsh         _lanecrypt in a folder of $fpath, such as /usr/local/share/zsh/site-functions
  powershell  at the end of the file $PROFILE";

/// Arguments of `completions`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

/// Runs the command; `program` describes all that there are.
pub(crate) fn run(args: &Args, mut program: clap::Command) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "lanecrypt", &mut script);
    exit::print(&String::from_utf8_lossy(&script))
}
