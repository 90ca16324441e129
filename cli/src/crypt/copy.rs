//! From a source to a target.

use core::fmt;
use std::io::{self, ErrorKind, Read, Write};

use lanecrypt_stream::{Decryptor, Encryptor, Error};
use zeroize::Zeroizing;

use super::header::{self, Header, KEY_LENGTH, LENGTH};
use super::progress::Progress;
use super::source::Source;
use super::target::Target;

/// What is read and written at once, in bytes.
const PIECE: usize = 512 << 10;

/// Why a file was given up.
pub(super) enum Broken {
    /// The reader of standard output closed its end.
    Closed,
    /// Standard input or a file cannot be read.
    Read(io::Error),
    /// What was read is refused.
    Refused(String),
    /// Standard output or a file cannot be written.
    Write(io::Error),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the reader of the output is gone"),
            Self::Read(error) => write!(f, "cannot be read: {error}"),
            Self::Refused(reason) => f.write_str(reason),
            Self::Write(error) => write!(f, "cannot write: {error}"),
        }
    }
}

/// Writes a header, and the stream of what the source has.
pub(super) fn encrypt(
    header: &Header,
    source: &mut Source,
    target: &mut Target,
    progress: &mut Progress,
) -> Result<(), Broken> {
    target.write_all(&header.bytes).map_err(writing)?;
    let stream = header.stream().map_err(Broken::Refused)?;
    let mut encryptor =
        Encryptor::with_chunk_size(stream, header.chunk(), b"", target).map_err(refused)?;
    let mut piece = Zeroizing::new(vec![0; PIECE]);
    loop {
        match source.read(&mut piece) {
            Ok(0) => break,
            Ok(bytes) => {
                encryptor.write_all(&piece[..bytes]).map_err(writing)?;
                progress.add(bytes);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Broken::Read(error)),
        }
    }
    encryptor.finish().map_err(writing)?;
    Ok(())
}

/// Reads a header, and writes what the stream behind it has: each chunk once it is verified.
pub(super) fn decrypt(
    key: &[u8; KEY_LENGTH],
    source: &mut Source,
    target: &mut Target,
    progress: &mut Progress,
) -> Result<(), Broken> {
    let mut bytes = [0; LENGTH];
    source.read_exact(&mut bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => Broken::Refused(String::from(header::NOT_OURS)),
        _ => Broken::Read(error),
    })?;
    progress.add(LENGTH);
    let header = Header::parse(&bytes, key).map_err(Broken::Refused)?;
    let stream = header.stream().map_err(Broken::Refused)?;
    let mut decryptor =
        Decryptor::with_chunk_size(stream, header.chunk(), b"", source).map_err(refused)?;
    let mut piece = Zeroizing::new(vec![0; PIECE.max(header.chunk())]);
    loop {
        match decryptor.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(bytes) => {
                target.write_all(&piece[..bytes]).map_err(writing)?;
                progress.add(bytes);
            }
            Err(error) => return Err(reading(error)),
        }
    }
}

fn refused(error: lanecrypt_ciphers::Error) -> Broken {
    Broken::Refused(error.to_string())
}

/// An error of the stream, with its place in the file, or of the source.
fn reading(error: io::Error) -> Broken {
    let header = LENGTH as u64;
    match error.downcast::<Error>() {
        Ok(Error::Authentication { chunk, offset }) => {
            let error = Error::Authentication { chunk, offset: offset + header };
            Broken::Refused(error.to_string())
        }
        Ok(Error::Truncated { chunk, offset }) => {
            Broken::Refused(Error::Truncated { chunk, offset: offset + header }.to_string())
        }
        Ok(Error::Extended { chunk, offset }) => {
            Broken::Refused(Error::Extended { chunk, offset: offset + header }.to_string())
        }
        Ok(other) => Broken::Refused(other.to_string()),
        Err(error) => Broken::Read(error),
    }
}

fn writing(error: io::Error) -> Broken {
    match error.downcast::<Error>() {
        Ok(error) => Broken::Refused(error.to_string()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Broken::Closed,
        Err(error) => Broken::Write(error),
    }
}
