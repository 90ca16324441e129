//! Why a file was refused.

use core::fmt;
use std::io::{self, ErrorKind};

use super::cost::Argon2id;

/// The reason why a file is not encrypted or decrypted.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// It does not begin as files of this format do.
    NotThisFormat,
    /// The format has a version that this one does not know.
    Version(u8),
    /// The file ends within its header.
    TruncatedHeader,
    /// The header names an algorithm that files do not have, or [`Options`](super::Options) do.
    Algorithm,
    /// The header has chunks of a size that is not accepted.
    ChunkSize(u32),
    /// The header has a kind of secret that this version does not know.
    KeyKind(u8),
    /// The cost of a passphrase is outside of the [limits](Argon2id).
    Argon2id(Argon2id),
    /// There is no memory for Argon2id.
    Memory,
    /// The file is encrypted with a key, and a passphrase was given.
    NeedsKey,
    /// The file is encrypted with a passphrase, and a key was given.
    NeedsPassphrase,
    /// The key or the passphrase is another one, or the header was changed.
    Secret,
    /// A chunk is damaged or missing, or something follows the last one.
    Stream(crate::Error),
    /// The reader failed.
    Read(io::Error),
    /// The writer failed.
    Write(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThisFormat => f.write_str("not a file that 'lanecrypt encrypt' has made"),
            Self::Version(version) => {
                write!(f, "has format {version}, of another version of this program")
            }
            Self::TruncatedHeader => f.write_str("truncated within its header"),
            Self::Algorithm => f.write_str("names no algorithm of this program"),
            Self::ChunkSize(bytes) => {
                write!(f, "has chunks of {bytes} bytes, a size that is not allowed")
            }
            Self::KeyKind(kind) => {
                write!(f, "needs a secret of kind {kind}, of another version of this program")
            }
            Self::Argon2id(Argon2id { memory, passes, lanes }) => write!(
                f,
                "Argon2id with {memory} KiB, {passes} passes and {lanes} lanes is not allowed; at \
                 most {}, {} and {}",
                Argon2id::MOST_MEMORY,
                Argon2id::MOST_PASSES,
                Argon2id::MOST_LANES
            ),
            Self::Memory => f.write_str("there is not enough memory for its passphrase"),
            Self::NeedsKey => f.write_str("is encrypted with a key, not with a passphrase"),
            Self::NeedsPassphrase => f.write_str("is encrypted with a passphrase, not with a key"),
            Self::Secret => f.write_str("another key, or its header was changed"),
            Self::Stream(error) => error.fmt(f),
            Self::Read(error) => write!(f, "cannot be read: {error}"),
            Self::Write(error) => write!(f, "cannot write: {error}"),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Stream(error) => Some(error),
            Self::Read(error) | Self::Write(error) => Some(error),
            _ => None,
        }
    }
}

impl From<lanecrypt_ciphers::Error> for Error {
    fn from(error: lanecrypt_ciphers::Error) -> Self {
        Self::Stream(crate::Error::Refused(error))
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Read(error) | Error::Write(error) => error,
            Error::Stream(error) => error.into(),
            Error::TruncatedHeader => Self::new(ErrorKind::UnexpectedEof, error),
            Error::Memory => Self::new(ErrorKind::OutOfMemory, error),
            Error::NeedsKey | Error::NeedsPassphrase => Self::new(ErrorKind::InvalidInput, error),
            _ => Self::new(ErrorKind::InvalidData, error),
        }
    }
}
