//! Files that say themselves how they are decrypted: a header, and a stream behind it.
//!
//! This is the format of `lanecrypt encrypt`; `docs/file-format.md` in the repository describes it
//! byte by byte. A file is encrypted with a key of 32 bytes, or with a passphrase. Each file has a
//! key of its own, derived with a random salt, so one secret serves any number of files.
//!
//! ```
//! use lanecrypt_stream::file::{self, Options, Secret};
//!
//! # fn main() -> Result<(), file::Error> {
//! # let key = [7; 32];
//! let secret = Secret::Key(&key);
//! let mut sealed = Vec::new();
//! file::encrypt(&Options::default(), secret, &b"any reader"[..], &mut sealed)?;
//!
//! let mut text = Vec::new();
//! file::decrypt(secret, &sealed[..], &mut text)?;
//! assert_eq!(text, b"any reader");
//! # Ok(())
//! # }
//! ```
//!
//! # Security
//!
//! - **A header is checked before anything is decrypted**: [`Error::Secret`] is a wrong key or
//!   passphrase, or a header that was changed. A header commits to its key: no file opens under
//!   two.
//! - **Only verified plaintext is written**, as [the crate](crate#security) says. After an error
//!   the output is the beginning of the data, not all: write to a temporary file and rename it.
//! - **Passphrases** become keys by Argon2id (RFC 9106). What a header may ask for is limited
//!   ([`Argon2id`]), so a hostile file takes at most 1 GiB and 16 passes over it.
//! - Names, lengths and the kind of the secret are public. There are no public keys of recipients.

mod cost;
mod error;
mod header;
mod passphrase;

use std::io::{self, ErrorKind, Read, Write};

use lanecrypt_ciphers::{Algorithm, Cipher};
use zeroize::Zeroizing;

pub use self::cost::Argon2id;
pub use self::error::Error;
pub use self::header::{KEY_LENGTH, Secret};
use crate::{CHUNK_SIZE, Decryptor, Encryptor};

/// What is read and written at once, in bytes.
const PIECE: usize = 512 << 10;

/// How a new file is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// AES-256-GCM, which is the default, ChaCha20-Poly1305 or XChaCha20-Poly1305.
    pub algorithm: Algorithm,
    /// What it costs to try a passphrase. Without effect on files of a key.
    pub argon2id: Argon2id,
}

impl Default for Options {
    fn default() -> Self {
        Self { algorithm: Algorithm::AES_256_GCM, argon2id: Argon2id::default() }
    }
}

/// Encrypts all that `from` has to a new file, and returns how many bytes it had.
///
/// # Errors
///
/// Those of [`encryptor`]; [`Error::Read`]; [`Error::Stream`] after 256 TiB.
pub fn encrypt(
    options: &Options,
    secret: Secret<'_>,
    mut from: impl Read,
    to: impl Write,
) -> Result<u64, Error> {
    let mut encryptor = encryptor(options, secret, to)?;
    let mut piece = Zeroizing::new(vec![0; PIECE]);
    let mut total = 0;
    loop {
        match from.read(&mut piece) {
            Ok(0) => break,
            Ok(bytes) => {
                encryptor.write_all(&piece[..bytes]).map_err(Error::writing)?;
                total += bytes as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Read(error)),
        }
    }
    encryptor.finish().map_err(Error::writing)?;
    Ok(total)
}

/// Decrypts a file, and returns how many bytes of plaintext it had. Each chunk is written once it
/// is verified. **Only `Ok` says that this was all of the file.**
///
/// # Errors
///
/// Those of [`decryptor`]; [`Error::Stream`] if a chunk is damaged or missing; [`Error::Write`].
pub fn decrypt(secret: Secret<'_>, from: impl Read, mut to: impl Write) -> Result<u64, Error> {
    let mut decryptor = decryptor(secret, from)?;
    let mut piece = Zeroizing::new(vec![0; PIECE.max(decryptor.chunk_size())]);
    let mut total = 0;
    loop {
        match decryptor.read(&mut piece) {
            Ok(0) => break,
            Ok(bytes) => {
                to.write_all(&piece[..bytes]).map_err(Error::Write)?;
                total += bytes as u64;
            }
            Err(error) => return Err(Error::reading(error)),
        }
    }
    to.flush().map_err(Error::Write)?;
    Ok(total)
}

/// Writes the header of a new file, and returns the encryptor of what follows. Its
/// [`finish`](Encryptor::finish) completes the file.
///
/// # Errors
///
/// [`Error::Algorithm`] and [`Error::Argon2id`] for options that files cannot have,
/// [`Error::Memory`], [`Error::Write`], and [`Error::Stream`] if the system has no random bytes.
pub fn encryptor<W: Write>(
    options: &Options,
    secret: Secret<'_>,
    mut to: W,
) -> Result<Encryptor<W, Box<Cipher>>, Error> {
    let (header, stream) = header::new(options.algorithm, options.argon2id, secret)?;
    to.write_all(&header).map_err(Error::Write)?;
    Ok(Encryptor::with_chunk_size(stream, CHUNK_SIZE, b"", to)?)
}

/// Reads the header of a file, and returns the decryptor of what follows. The offsets in its errors
/// are those in the file.
///
/// # Errors
///
/// All but [`Error::Stream`] and [`Error::Write`].
pub fn decryptor<R: Read>(
    secret: Secret<'_>,
    mut from: R,
) -> Result<Decryptor<R, Box<Cipher>>, Error> {
    let header = header::read(&mut from, secret)?;
    let decryptor = Decryptor::with_chunk_size(header.stream, header.chunk, b"", from)?;
    Ok(decryptor.behind(header.length as u64))
}

impl Error {
    /// An error of an encryptor.
    fn writing(error: io::Error) -> Self {
        error.downcast().map_or_else(Self::Write, Self::Stream)
    }

    /// An error of a decryptor.
    fn reading(error: io::Error) -> Self {
        error.downcast().map_or_else(Self::Read, Self::Stream)
    }
}
