//! The header of an encrypted file, and the keys that are derived with it.
//!
//! `docs/file-format.md` has the format, for other implementations.

use clap::ValueEnum;
use hkdf::Hkdf;
use lanecrypt_ciphers::Cipher;
use lanecrypt_stream::{CHUNK_SIZE, Stream, prefix_length};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// The length of a key file in bytes.
pub(crate) const KEY_LENGTH: usize = 32;

/// The length of the header in bytes.
pub(super) const LENGTH: usize = PUBLIC + SALT + CHECK;

/// The first byte is not ASCII, so that no text begins like this.
const MAGIC: [u8; 10] = *b"\x8clanecrypt";
const VERSION: u8 = 1;
/// Magic, version, algorithm, size of chunks.
const PUBLIC: usize = 16;
const SALT: usize = 32;
const CHECK: usize = 32;

/// The longest prefix.
const PREFIX: usize = 19;

/// The chunks that are accepted. A larger one would take much memory before it is verified.
const CHUNKS: core::ops::RangeInclusive<u32> = 1 << 10..=16 << 20;

/// The algorithms of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Algorithm {
    #[value(name = "aes-256-gcm")]
    Aes256Gcm,
    #[value(name = "chacha20-poly1305")]
    ChaCha20Poly1305,
    #[value(name = "xchacha20-poly1305")]
    XChaCha20Poly1305,
}

impl Algorithm {
    const fn of_cipher(self) -> lanecrypt_ciphers::Algorithm {
        match self {
            Self::Aes256Gcm => lanecrypt_ciphers::Algorithm::AES_256_GCM,
            Self::ChaCha20Poly1305 => lanecrypt_ciphers::Algorithm::CHACHA20_POLY1305,
            Self::XChaCha20Poly1305 => lanecrypt_ciphers::Algorithm::XCHACHA20_POLY1305,
        }
    }

    const fn number(self) -> u8 {
        match self {
            Self::Aes256Gcm => 1,
            Self::ChaCha20Poly1305 => 2,
            Self::XChaCha20Poly1305 => 3,
        }
    }
}

/// A header, and what its file is encrypted with. Errors are reasons for people.
pub(super) struct Header {
    pub(super) bytes: [u8; LENGTH],
    chunk: usize,
    cipher: Box<Cipher>,
    prefix: Zeroizing<Vec<u8>>,
}

impl Header {
    /// The header of a new file.
    pub(super) fn new(algorithm: Algorithm, key: &[u8; KEY_LENGTH]) -> Result<Self, String> {
        let mut salt = [0; SALT];
        lanecrypt_random::try_fill(&mut salt).map_err(|error| error.to_string())?;
        let chunk = u32::try_from(CHUNK_SIZE).unwrap_or(*CHUNKS.end());
        let mut bytes = [0; LENGTH];
        bytes[..10].copy_from_slice(&MAGIC);
        (bytes[10], bytes[11]) = (VERSION, algorithm.number());
        bytes[12..16].copy_from_slice(&chunk.to_be_bytes());
        bytes[PUBLIC..][..SALT].copy_from_slice(&salt);
        let (header, check) = Self::derive(bytes, algorithm, chunk, key)?;
        bytes[PUBLIC + SALT..].copy_from_slice(&*check);
        Ok(Self { bytes, ..header })
    }

    /// The header of a file that there is.
    pub(super) fn parse(bytes: &[u8; LENGTH], key: &[u8; KEY_LENGTH]) -> Result<Self, String> {
        if bytes[..10] != MAGIC {
            return Err(String::from(NOT_OURS));
        }
        if bytes[10] != VERSION {
            return Err(format!("has format {}, of another version of this program", bytes[10]));
        }
        let algorithm = Algorithm::value_variants().iter().find(|a| a.number() == bytes[11]);
        let algorithm = *algorithm.ok_or("names no algorithm of this program")?;
        let chunk = u32::from_be_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
        if !CHUNKS.contains(&chunk) {
            return Err(String::from("has chunks of a size that is not allowed"));
        }
        let (header, check) = Self::derive(*bytes, algorithm, chunk, key)?;
        if !bool::from(check.ct_eq(&bytes[PUBLIC + SALT..])) {
            return Err(String::from("another key, or its header was changed"));
        }
        Ok(header)
    }

    /// What follows from the key and from all that is before the check value, and the check value.
    fn derive(
        bytes: [u8; LENGTH],
        algorithm: Algorithm,
        chunk: u32,
        key: &[u8; KEY_LENGTH],
    ) -> Result<(Self, Zeroizing<[u8; CHECK]>), String> {
        let (public, salt) = bytes[..PUBLIC + SALT].split_at(PUBLIC);
        let prefix = prefix_length(algorithm.of_cipher());
        let mut material = Zeroizing::new([0; KEY_LENGTH + PREFIX + CHECK]);
        let material = &mut material[..KEY_LENGTH + prefix + CHECK];
        Hkdf::<Sha256>::new(Some(salt), key)
            .expand(public, material)
            .map_err(|error| error.to_string())?;
        let (file_key, rest) = material.split_at(KEY_LENGTH);
        let (prefix, rest) = rest.split_at(prefix);
        let mut check = Zeroizing::new([0; CHECK]);
        check.copy_from_slice(rest);
        let cipher =
            Cipher::boxed(algorithm.of_cipher(), file_key).map_err(|error| error.to_string())?;
        let header =
            Self { bytes, chunk: chunk as usize, cipher, prefix: Zeroizing::new(prefix.to_vec()) };
        Ok((header, check))
    }

    /// The size of its chunks.
    pub(super) fn chunk(&self) -> usize {
        self.chunk
    }

    /// The stream behind it.
    pub(super) fn stream(&self) -> Result<Stream<&Cipher>, String> {
        Stream::new(&*self.cipher, &self.prefix).map_err(|error| error.to_string())
    }
}

/// Why something cannot be decrypted that does not begin with a header.
pub(super) const NOT_OURS: &str = "not a file that 'lanecrypt encrypt' has made";
