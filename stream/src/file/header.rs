//! The header of a file, and what is derived with it: `docs/file-format.md` in code.

use core::fmt;
use core::ops::RangeInclusive;
use std::io::{ErrorKind, Read};

use hkdf::Hkdf;
use lanecrypt_ciphers::{Algorithm, Cipher};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::cost::Argon2id;
use super::error::Error;
use super::passphrase;
use crate::{CHUNK_SIZE, Stream, prefix_length};

/// The length of a key in bytes.
pub const KEY_LENGTH: usize = 32;

/// What a file is encrypted with.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Secret<'s> {
    /// Random bytes, such as a key file of the program has. **Not a passphrase, nor its hash**:
    /// trying a key costs nothing.
    Key(&'s [u8; KEY_LENGTH]),
    /// What people remember, as bytes. Who has the file can try passphrases, each at the cost of
    /// [`Argon2id`].
    Passphrase(&'s [u8]),
}

/// Only the kind.
impl fmt::Debug for Secret<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key(_) => "Key",
            Self::Passphrase(_) => "Passphrase",
        })
    }
}

/// The first byte is not ASCII, so that no text begins like this.
const MAGIC: &[u8] = b"\x8clanecrypt";
/// Magic and version.
const BEGIN: usize = 11;
/// Begin, algorithm, size of chunks: all that stands before the salt in files of a key.
const OF_KEY: usize = 16;
/// The same in files that say what their secret is.
const OF_KIND: usize = 40;
const SALT: usize = 32;
const CHECK: usize = 32;
/// The longest header.
const LONGEST: usize = OF_KIND + SALT + CHECK;
/// The longest prefix of nonces.
const PREFIX: usize = 19;

/// The version of files of a key.
const KEY: u8 = 1;
/// The version of files that say what their secret is.
const KIND: u8 = 2;
/// The kind of a passphrase, by Argon2id.
const PASSPHRASE: u8 = 1;

const ALGORITHMS: [(u8, Algorithm); 3] = [
    (1, Algorithm::AES_256_GCM),
    (2, Algorithm::CHACHA20_POLY1305),
    (3, Algorithm::XCHACHA20_POLY1305),
];

/// The chunks that are accepted. A larger one would take much memory before it is verified.
const CHUNKS: RangeInclusive<u32> = 1 << 10..=16 << 20;

/// The stream of a file.
type FileStream = Stream<Box<Cipher>>;

/// A header that was read and is right.
pub(super) struct Header {
    pub(super) stream: FileStream,
    /// The size of chunks.
    pub(super) chunk: usize,
    /// The bytes of the header.
    pub(super) length: usize,
}

/// The header of a new file, and the stream that follows it.
pub(super) fn new(
    algorithm: Algorithm,
    cost: Argon2id,
    secret: Secret<'_>,
) -> Result<(Vec<u8>, FileStream), Error> {
    let known = ALGORITHMS.iter().find(|(_, it)| *it == algorithm);
    let (number, _) = known.ok_or(Error::Algorithm)?;
    let chunk = u32::try_from(CHUNK_SIZE).unwrap_or(*CHUNKS.end());
    let mut salt = [0; SALT];
    fill(&mut salt)?;
    let mut header = Vec::with_capacity(LONGEST);
    header.extend_from_slice(MAGIC);
    header.push(if matches!(secret, Secret::Key(_)) { KEY } else { KIND });
    header.push(*number);
    header.extend_from_slice(&chunk.to_be_bytes());
    let key = match secret {
        Secret::Key(key) => Zeroizing::new(*key),
        Secret::Passphrase(words) => {
            let Argon2id { memory, passes, lanes } = cost;
            let mut of_passphrase = [0; 16];
            fill(&mut of_passphrase)?;
            header.extend_from_slice(&[PASSPHRASE, lanes]);
            header.extend_from_slice(&passes.to_be_bytes());
            header.extend_from_slice(&memory.to_be_bytes());
            header.extend_from_slice(&of_passphrase);
            passphrase::key(cost, words, &of_passphrase)?
        }
    };
    let (stream, check) = derive(&header, &salt, algorithm, &key)?;
    header.extend_from_slice(&salt);
    header.extend_from_slice(&*check);
    Ok((header, stream))
}

/// Reads a header. Nothing behind it is read.
pub(super) fn read(from: &mut impl Read, secret: Secret<'_>) -> Result<Header, Error> {
    let mut bytes = [0; LONGEST];
    let (begin, rest) = bytes.split_at_mut(BEGIN);
    exactly(from, begin, Error::NotThisFormat)?;
    if begin[..MAGIC.len()] != *MAGIC {
        return Err(Error::NotThisFormat);
    }
    let fixed = match begin[MAGIC.len()] {
        KEY => OF_KEY,
        KIND => OF_KIND,
        version => return Err(Error::Version(version)),
    };
    let length = fixed + SALT + CHECK;
    exactly(from, &mut rest[..length - BEGIN], Error::TruncatedHeader)?;
    let (fields, rest) = bytes[..length].split_at(fixed);
    let (salt, check) = rest.split_at(SALT);

    let known = ALGORITHMS.iter().find(|(number, _)| *number == fields[BEGIN]);
    let (_, algorithm) = known.ok_or(Error::Algorithm)?;
    let chunk = u32::from_be_bytes(array(&fields[12..16]));
    if !CHUNKS.contains(&chunk) {
        return Err(Error::ChunkSize(chunk));
    }
    let key = match (secret, &fields[OF_KEY..]) {
        (Secret::Key(key), []) => Zeroizing::new(*key),
        (Secret::Passphrase(_), []) => return Err(Error::NeedsKey),
        (_, [kind, ..]) if *kind != PASSPHRASE => return Err(Error::KeyKind(*kind)),
        (Secret::Key(_), _) => return Err(Error::NeedsPassphrase),
        (Secret::Passphrase(words), argon2id) => {
            let cost = Argon2id {
                lanes: argon2id[1],
                passes: u16::from_be_bytes(array(&argon2id[2..4])),
                memory: u32::from_be_bytes(array(&argon2id[4..8])),
            };
            passphrase::key(cost, words, &array(&argon2id[8..24]))?
        }
    };
    let (stream, expected) = derive(fields, salt, *algorithm, &key)?;
    if !bool::from(expected.ct_eq(check)) {
        return Err(Error::Secret);
    }
    Ok(Header { stream, chunk: chunk as usize, length })
}

/// The stream of a file, and the check value of its header.
fn derive(
    fields: &[u8],
    salt: &[u8],
    algorithm: Algorithm,
    key: &[u8; KEY_LENGTH],
) -> Result<(FileStream, Zeroizing<[u8; CHECK]>), Error> {
    let mut material = Zeroizing::new([0; KEY_LENGTH + PREFIX + CHECK]);
    let prefix = prefix_length(algorithm);
    let material = &mut material[..KEY_LENGTH + prefix + CHECK];
    // So few bytes are never refused.
    Hkdf::<Sha256>::new(Some(salt), key)
        .expand(fields, material)
        .map_err(|_| lanecrypt_ciphers::Error::OutputLength)?;
    let (file_key, rest) = material.split_at(KEY_LENGTH);
    let (prefix, rest) = rest.split_at(prefix);
    let mut check = Zeroizing::new([0; CHECK]);
    check.copy_from_slice(rest);
    let cipher = Cipher::boxed(algorithm, file_key).map_err(lanecrypt_ciphers::Error::from)?;
    Ok((Stream::new(cipher, prefix)?, check))
}

fn fill(out: &mut [u8]) -> Result<(), Error> {
    lanecrypt_random::try_fill(out).map_err(|_| lanecrypt_ciphers::Error::Entropy.into())
}

fn exactly(from: &mut impl Read, out: &mut [u8], at_the_end: Error) -> Result<(), Error> {
    from.read_exact(out).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => at_the_end,
        _ => Error::Read(error),
    })
}

/// A part of a header whose length is known.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(bytes);
    array
}
