//! Why a stream was refused.

use core::fmt;
use std::io;

/// The reason why a stream ends here. Everything that was given out before is authentic.
///
/// [`Encryptor`](crate::Encryptor) and [`Decryptor`](crate::Decryptor) return it within an
/// [`io::Error`]; `error.get_ref()` and `downcast_ref` find it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A chunk is not the one that was sealed here: it was changed or moved, or the stream was cut
    /// in the middle of it, or the key, the prefix, the associated data or the size of chunks is
    /// another one. [`io::ErrorKind::InvalidData`].
    Authentication {
        /// The number of the chunk, from 0.
        chunk: u32,
        /// How many bytes of the sealed stream are before it.
        offset: u64,
    },
    /// The stream was cut before this chunk: those that are left are authentic, and the last one is
    /// not among them. [`io::ErrorKind::UnexpectedEof`].
    Truncated {
        /// The number of the chunk that is missing, or of which only a part of the tag is there.
        chunk: u32,
        /// How many bytes of the sealed stream are before it.
        offset: u64,
    },
    /// Something follows this chunk, which is the last one of the stream. The chunk was not given
    /// out. [`io::ErrorKind::InvalidData`].
    Extended {
        /// The number of the last chunk.
        chunk: u32,
        /// How many bytes of the sealed stream are before it.
        offset: u64,
    },
    /// A stream has 2^32 chunks, and this one would have more. Use larger chunks.
    /// [`io::ErrorKind::FileTooLarge`].
    TooLong,
    /// The cipher refused a chunk for another reason. [`io::ErrorKind::InvalidInput`].
    Refused(lanecrypt_ciphers::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authentication { chunk, offset } => {
                write!(f, "not authentic, or cut off, in chunk {chunk} at byte {offset}")
            }
            Self::Truncated { chunk, offset } => {
                write!(f, "truncated before the end of chunk {chunk} at byte {offset}")
            }
            Self::Extended { chunk, offset } => {
                write!(f, "more data behind the last chunk, {chunk} at byte {offset}")
            }
            Self::TooLong => f.write_str("more chunks than a stream can have"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error {
            Error::Authentication { .. } | Error::Extended { .. } => io::ErrorKind::InvalidData,
            Error::Truncated { .. } => io::ErrorKind::UnexpectedEof,
            Error::TooLong => io::ErrorKind::FileTooLarge,
            Error::Refused(_) => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}
