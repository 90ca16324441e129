//! From a source to a target.

use core::fmt;
use std::io::{self, ErrorKind, Read};

use lanecrypt_stream::file::{self, Error, Options, Secret};

use super::progress::Progress;
use super::source::Source;
use super::target::Target;

/// Why a file was given up.
pub(super) enum Broken {
    /// The reader of standard output closed its end.
    Closed,
    /// Anything else.
    Failed(Error),
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        match error {
            Error::Write(error) if error.kind() == ErrorKind::BrokenPipe => Self::Closed,
            error => Self::Failed(error),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the reader of the output is gone"),
            Self::Failed(Error::NeedsPassphrase) => {
                f.write_str("is encrypted with a passphrase; use --passphrase")
            }
            Self::Failed(Error::NeedsKey) => f.write_str("is encrypted with a key; use --key-file"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// Encrypts what the source has.
pub(super) fn encrypt(
    options: &Options,
    secret: Secret<'_>,
    source: &mut Source,
    target: &mut Target,
    progress: &mut Progress,
) -> Result<(), Broken> {
    file::encrypt(options, secret, Shown { source, progress }, target)?;
    Ok(())
}

/// Decrypts what the source has: writes each chunk once it is verified.
pub(super) fn decrypt(
    secret: Secret<'_>,
    source: &mut Source,
    target: &mut Target,
    progress: &mut Progress,
) -> Result<(), Broken> {
    file::decrypt(secret, Shown { source, progress }, target)?;
    Ok(())
}

/// A source whose progress is shown.
struct Shown<'a> {
    source: &'a mut Source,
    progress: &'a mut Progress,
}

impl Read for Shown<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.source.read(out).inspect(|bytes| self.progress.add(*bytes))
    }
}
