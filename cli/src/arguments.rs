//! The commands, and how they are explained: help, and one line for what cannot be understood.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::{
    check, compare, completions, crypt, info, keygen, man, openssl, pages, random, report, serve,
    speed,
};

/// What most people want first, with an example each.
macro_rules! beginning {
    () => {
        "\
To begin:
  lanecrypt random 32                     32 random bytes, in hexadecimal
  lanecrypt keygen my.key                 a file with a new key, which then
  lanecrypt encrypt notes.txt -k my.key   makes notes.txt.lanecrypt, and back:
  lanecrypt decrypt notes.txt.lanecrypt -k my.key
  lanecrypt speed --quick                 this machine, beside other libraries
  lanecrypt info                          this processor, and what runs on it"
    };
}

/// The text that the program prints without a command.
pub(crate) const FIRST: &str = concat!(
    "Small cryptographic requests, fast: random numbers, encrypted files, signatures,\n\
     a daemon that keeps keys, and measurements of all this.\n\n",
    beginning!(),
    "\n\nAll commands: lanecrypt --help    One command: lanecrypt encrypt --help\n"
);

const AFTER: &str = concat!(
    beginning!(),
    "

Exit status:
  0    success
  1    failure; or 'compare' found that a point of ours became slower
  2    invalid arguments, or an unknown value of LANECRYPT_ISA
  130  'speed' was interrupted; the figures until then were shown

Environment:
  LANECRYPT_ISA=portable|ssse3|aesni|avx2|avx2vaes|avx512
       keeps to the kernels of that instruction set and below"
);

/// Small cryptographic requests, fast.
#[derive(Parser)]
#[command(name = "lanecrypt", version, after_help = AFTER, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Write random bytes
    Random(random::Args),
    /// Make a key file for `encrypt` and `decrypt`
    Keygen(keygen::Args),
    /// Encrypt files, or standard input to standard output
    Encrypt(crypt::EncryptArgs),
    /// Decrypt what `encrypt` has made
    Decrypt(crypt::DecryptArgs),
    /// Measure speed beside other software
    Speed(speed::Args),
    /// Compare two runs of `speed`
    Compare(compare::Args),
    /// Make a page, pictures or tables of runs of `speed`
    Report(report::Args),
    /// Show the processor, the kernels it runs and what the operating system offers
    Info(info::Args),
    /// Test this build, or answer test vectors given as JSON lines on standard input
    Check(check::Args),
    /// Serve other processes: keys stay here, and requests of all share lanes
    Serve(serve::Args),
    /// Print the configuration that makes programs use Lanecrypt through OpenSSL
    Openssl(openssl::Args),
    /// Print what makes a shell complete commands and options
    Completions(completions::Args),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(man::Args),
    /// Be a daemon or a client of the table device
    #[command(hide = true, name = speed::CHILD)]
    SpeedChild { peer_lib: Vec<String> },
    /// Make the requests of a row whose instructions are counted
    #[cfg(target_os = "linux")]
    #[command(hide = true, name = speed::count::CHILD)]
    SpeedCounted { id: String },
    /// Say what OpenSSL uses in this process
    #[command(hide = true, name = openssl::CHILD)]
    OpensslChild,
}

/// Why there is no command to run.
pub(crate) enum Unknown {
    /// The user asked for this text.
    Help(String),
    /// There are no arguments.
    Nothing,
    /// They are wrong, in one line.
    Wrong(String),
}

/// The command that the arguments of the process name.
pub(crate) fn parse() -> Result<Command, Unknown> {
    let program = pages::with_examples(Arguments::command());
    let parsed = program.try_get_matches().and_then(|it| Arguments::from_arg_matches(&it));
    match parsed {
        Ok(arguments) => arguments.command.ok_or(Unknown::Nothing),
        Err(error) if error.use_stderr() => {
            let place = place(std::env::args_os().skip(1));
            let line = one_line(&error);
            let is_missing = error.kind() == ErrorKind::MissingRequiredArgument;
            let needs_key = is_missing && line.contains("--key-file <KEY>");
            let hint = match needs_key && place == "lanecrypt encrypt" {
                true => "'lanecrypt keygen my.key' makes one; ",
                false => "",
            };
            Err(Unknown::Wrong(format!("{line}; {hint}see '{place} --help'")))
        }
        Err(help) => Err(Unknown::Help(help.to_string())),
    }
}

/// The program's arguments without the commands that are hidden.
pub(crate) fn visible() -> clap::Command {
    let whole = pages::with_examples(Arguments::command());
    let shown = whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let shown: Vec<_> = shown.collect();
    let mut visible = clap::Command::new("lanecrypt")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(AFTER)
        .subcommands(shown);
    if let Some(about) = whole.get_about() {
        visible = visible.about(about.clone());
    }
    visible
}

/// Whose help explains these arguments.
fn place(arguments: impl Iterator<Item = OsString>) -> String {
    let whole = visible();
    let named = |argument: OsString| Some(whole.find_subcommand(argument)?.get_name().to_owned());
    let command = arguments.filter_map(named).next();
    command.map_or_else(|| String::from("lanecrypt"), |command| format!("lanecrypt {command}"))
}

/// An argument error as one line, without the usage text after it.
fn one_line(error: &clap::Error) -> String {
    let mut text = error.to_string();
    // The user's own text is before these, so that their last occurrence is not the user's.
    // How to pass a misspelt option as a value is nothing that its user wants to know.
    for end in ["\n\nFor more information", "\n\nUsage:", "\n\n  tip: to pass "] {
        text.truncate(text.rfind(end).unwrap_or(text.len()));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).replace(" tip: ", "; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_sound() {
        Arguments::command().debug_assert();
        visible().debug_assert();
    }

    #[test]
    fn what_comes_first_fits_a_small_screen() {
        assert!(FIRST.lines().count() <= 20 && FIRST.lines().all(|line| line.len() <= 80));
    }

    #[test]
    fn help_is_that_of_the_command() {
        let of = |words: &[&str]| place(words.iter().map(OsString::from));
        assert_eq!(of(&["random", "1X"]), "lanecrypt random");
        assert_eq!(of(&["--nonsense", "info"]), "lanecrypt info");
        assert_eq!(of(&["nonsense"]), "lanecrypt");
        assert_eq!(of(&["speed-child"]), "lanecrypt");
    }
}
