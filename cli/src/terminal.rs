//! Passphrases that are typed on the terminal, which does not show them.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::secret::LONGEST_PASSPHRASE;

/// A terminal that does not show what is typed, and how it was before.
static SILENT: Mutex<Option<(File, Termios)>> = Mutex::new(None);

fn silent() -> MutexGuard<'static, Option<(File, Termios)>> {
    SILENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the terminal show again what is typed. For who ends the program.
pub(crate) fn restore() {
    if let Some((terminal, before)) = silent().take() {
        let _ = tcsetattr(&terminal, OptionalActions::Flush, &before);
    }
}

/// Asks for a passphrase, twice if it is `new`.
///
/// # Errors
///
/// There is no terminal, nothing was typed, or not twice the same.
pub(crate) fn passphrase(new: bool) -> Result<Zeroizing<Vec<u8>>, String> {
    let terminal = File::options().read(true).write(true).open("/dev/tty");
    let mut terminal =
        terminal.map_err(|error| format!("there is no terminal ({error}); use --passphrase-fd"))?;
    let first = ask(&mut terminal, "Passphrase: ")?;
    if new && ask(&mut terminal, "Once more: ")? != first {
        return Err(String::from("these are two passphrases"));
    }
    Ok(first)
}

fn ask(terminal: &mut File, question: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let failed = |error: io::Error| format!("the terminal: {error}");
    {
        let mut silent = silent();
        let before = tcgetattr(&*terminal).map_err(|error| failed(error.into()))?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        quiet.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON);
        tcsetattr(&*terminal, OptionalActions::Flush, &quiet)
            .map_err(|error| failed(error.into()))?;
        *silent = Some((terminal.try_clone().map_err(failed)?, before));
    }
    let asked = terminal.write_all(question.as_bytes()).and_then(|()| line(terminal));
    restore();
    match asked.map_err(failed)? {
        line if line.is_empty() => Err(String::from("the passphrase is empty")),
        line if line.len() > LONGEST_PASSPHRASE => Err(String::from("the passphrase is too long")),
        line => Ok(line),
    }
}

/// A line without its end. The terminal gives it as a whole.
fn line(terminal: &mut File) -> io::Result<Zeroizing<Vec<u8>>> {
    // Its capacity is enough, so that it is not moved while it grows.
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST_PASSPHRASE + 1));
    let mut byte = Zeroizing::new([0]);
    while line.len() <= LONGEST_PASSPHRASE && terminal.read(&mut *byte)? == 1 && *byte != *b"\n" {
        line.push(byte[0]);
    }
    Ok(line)
}
