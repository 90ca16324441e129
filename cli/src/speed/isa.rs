//! `--isa`: this program started again with the environment that holds ours and the peers.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use lanecrypt_ciphers::{Isa, Level};
use lanecrypt_speed::environment;

use crate::exit;

/// The variable that holds ours.
const OURS: &str = "LANECRYPT_ISA";

/// The parser of the argument.
pub(super) fn parser() -> impl TypedValueParser<Value = Level> {
    let names = Level::built().iter().map(|level| level.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Goes on in a process whose environment holds ours and the peers to `level`. It is read when a
/// process starts, so if it has other values, this process starts the program again.
///
/// # Errors
///
/// The exit code, if ours cannot be held or the environment cannot be combined with it.
pub(super) fn hold(level: Level) -> Result<(), ExitCode> {
    let processor = Isa::of_processor();
    if !processor.has(level) {
        let highest = processor.level();
        return Err(exit::bad_arguments(&format!(
            "--isa {level}: this processor has no more than {highest}"
        )));
    }
    let mut needed =
        environment(level).map_err(|error| exit::bad_arguments(&format!("--isa: {error}")))?;
    if std::env::var(OURS).ok().as_deref() != Some(level.name()) {
        needed.push((OURS, level.name().to_owned()));
    }
    if needed.is_empty() {
        return match Isa::detect().level() == level {
            true => Ok(()),
            false => Err(exit::failure(&format!("--isa {level}: this system ignores {OURS}"))),
        };
    }
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut arguments = std::env::args_os();
    let mut command = Command::new(program);
    arguments.next().map(|name| command.arg0(name));
    Err(failed(&command.args(arguments).envs(needed).exec()))
}

fn failed(error: &std::io::Error) -> ExitCode {
    exit::failure(&format!("--isa: cannot start this program again: {error}"))
}
