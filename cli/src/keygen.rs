//! `lanecrypt keygen`: a new key in a file of its own.

use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use zeroize::Zeroizing;

use crate::crypt::KEY_LENGTH;
use crate::wrapping::{self, Passphrase};
use crate::{exit, secret};

/// Arguments of `keygen`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file to make, with 32 random bytes that only its user can read; it must not exist.
    /// - writes the bytes to standard output, which must not be a terminal
    file: PathBuf,
    /// Make a file that says how a key is derived from a passphrase (Argon2id), to wrap others
    #[arg(long, conflicts_with_all = ["wrapped_by", "from"])]
    passphrase: bool,
    /// Wrap the key by the key of this file (AES key wrap, RFC 5649)
    #[arg(long, value_name = "FILE")]
    wrapped_by: Option<PathBuf>,
    /// Wrap the content of this key file instead of new bytes
    #[arg(long, value_name = "FILE", requires = "wrapped_by")]
    from: Option<PathBuf>,
    /// Read the passphrase of the wrapping key from this descriptor
    #[arg(long, value_name = "NUMBER", requires = "wrapped_by")]
    passphrase_fd: Option<u32>,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    let at = args.file.display();
    let content = match content(args) {
        Ok(content) => content,
        Err(reason) => return exit::failure(&reason),
    };
    if args.file == Path::new("-") {
        return print(&content);
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
    let written: io::Result<()> = file.write_all(&content).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // There is no key in it that anything was encrypted with.
        let _ = fs::remove_file(&args.file);
        return exit::failure(&format!("{at}: {error}"));
    }
    ExitCode::SUCCESS
}

/// What the new file has.
fn content(args: &Args) -> Result<Zeroizing<Vec<u8>>, String> {
    if args.passphrase {
        return wrapping::new_derivation().map(|text| Zeroizing::new(text.into_bytes()));
    }
    let key = match &args.from {
        Some(path) => secret::read(path)?,
        None => {
            let mut key = Zeroizing::new(vec![0; KEY_LENGTH]);
            lanecrypt_random::try_fill(&mut key).map_err(|error| error.to_string())?;
            key
        }
    };
    let Some(path) = &args.wrapped_by else { return Ok(key) };
    let by = Passphrase::new(args.passphrase_fd).key(&secret::read(path)?);
    let by = by.map_err(|reason| format!("{}: {reason}", path.display()))?;
    Ok(Zeroizing::new(wrapping::wrap(&by, &key)?))
}

/// Writes the key to standard output.
fn print(key: &[u8]) -> ExitCode {
    if io::stdout().is_terminal() {
        return exit::bad_arguments(
            "no key is shown on a terminal; 'lanecrypt keygen FILE' makes a file",
        );
    }
    // Unbuffered: the buffer of the standard library is not wiped.
    match rustix::io::write(io::stdout(), key) {
        Ok(length) if length == key.len() => ExitCode::SUCCESS,
        Ok(_) => exit::failure("standard output: the key was cut off"),
        Err(error) => exit::failure(&format!("standard output: {error}")),
    }
}
