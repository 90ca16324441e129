//! `lanecrypt keygen`: a new key in a file of its own.

use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use zeroize::Zeroizing;

use crate::crypt::KEY_LENGTH;
use crate::exit;

/// Arguments of `keygen`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file to make, with 32 random bytes that only its user can read; it must not exist.
    /// - writes the bytes to standard output, which must not be a terminal
    file: PathBuf,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    let at = args.file.display();
    let mut key = Zeroizing::new([0; KEY_LENGTH]);
    if let Err(error) = lanecrypt_random::try_fill(&mut *key) {
        return exit::failure(&error.to_string());
    }
    if args.file == Path::new("-") {
        return print(&key);
    }
    // Never an existing one: a key that is overwritten takes all its files with it.
    let mut file = match File::options().write(true).create_new(true).mode(0o600).open(&args.file) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return exit::failure(&format!(
                "{at}: already exists, and no key is ever replaced; choose another name"
            ));
        }
        Err(error) => return exit::failure(&format!("{at}: {error}")),
    };
    let written: io::Result<()> = file.write_all(&*key).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // There is no key in it that anything was encrypted with.
        let _ = fs::remove_file(&args.file);
        return exit::failure(&format!("{at}: {error}"));
    }
    ExitCode::SUCCESS
}

/// Writes the key to standard output.
fn print(key: &[u8; KEY_LENGTH]) -> ExitCode {
    if io::stdout().is_terminal() {
        return exit::bad_arguments(
            "no key is shown on a terminal; 'lanecrypt keygen FILE' makes a file",
        );
    }
    // Unbuffered: the buffer of the standard library is not wiped.
    match rustix::io::write(io::stdout(), key) {
        Ok(KEY_LENGTH) => ExitCode::SUCCESS,
        Ok(_) => exit::failure("standard output: the key was cut off"),
        Err(error) => exit::failure(&format!("standard output: {error}")),
    }
}
