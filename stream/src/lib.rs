//! Encrypted files: STREAM cuts data into chunks that are authenticated one by one.
//!
//! [`Encryptor`] is a [`Write`](std::io::Write) that writes ciphertext to another one, and
//! [`Decryptor`] a [`Read`](std::io::Read) that reads it. The decryptor never gives a byte before
//! its chunk is verified. Chunks that were changed, swapped, repeated, left out or added are
//! refused where they stand, and so is the end of a stream that was cut. What came before is
//! authentic.
//!
//! ```
//! use std::io::{Read, Write};
//!
//! use lanecrypt_ciphers::XChaCha20Poly1305;
//! use lanecrypt_stream::{Decryptor, Encryptor, Stream};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (key, prefix) = ([1; 32], [2; 19]);
//! // The prefix: 19 random bytes, new for each file under this key.
//! let cipher = XChaCha20Poly1305::new(&key);
//! let mut file = Encryptor::new(Stream::new(&cipher, &prefix)?, Vec::new());
//! file.write_all(b"any number of bytes")?;
//! let sealed = file.finish()?; // without this, the file is refused as truncated
//!
//! let mut text = String::new();
//! Decryptor::new(Stream::new(&cipher, &prefix)?, &sealed[..]).read_to_string(&mut text)?;
//! assert_eq!(text, "any number of bytes");
//! # Ok(())
//! # }
//! ```
//!
//! # Why not `Sealer` and `Opener`
//!
//! A [`Sealer`](lanecrypt_ciphers::Sealer) makes one message with one tag at its end. Who opens a
//! long one in pieces has to keep all of it until the tag has been checked, or else acts on
//! plaintext that an attacker may have chosen. With a file of many gigabytes, programs do the
//! latter. Here the plaintext that is given out was verified before. One message of AES-GCM also
//! ends at 64 GiB.
//!
//! # The construction
//!
//! STREAM of Hoang, Reyhanitabar, Rogaway and Vizard ("Online Authenticated-Encryption and its
//! Nonce-Reuse Misuse-Resistance", 2015), byte for byte as `StreamBE32` of the crate `aead-stream`.
//! The nonce of a chunk is the prefix, the number of the chunk (32 bits, big-endian, from 0), and a
//! byte that is 1 for the last chunk and 0 for all others. A stream is its sealed chunks one after
//! the other, each with its tag behind it. Every chunk but the last is full. The last one is empty
//! only if the whole stream is. (A decryptor also takes an empty last chunk behind a full one,
//! because others make such streams.)
//!
//! A stream has at most 2^32 chunks, 256 TiB with chunks of 64 KiB. The number of chunks, and with
//! it the length of the data, is public.
//!
//! # Prefixes
//!
//! **A prefix must not be used twice under one key.** All chunks with the same numbers would have
//! the same nonces, and [that](Cipher) reveals their content and lets an attacker forge others.
//! The prefix has 5 bytes less than a nonce:
//!
//! - AES-GCM and ChaCha20-Poly1305: 7 bytes. If they are random, two of 2^20 files under one key
//!   share them with probability 2^-17, and two of 2^24 with 2^-9. That is too often. Use another
//!   key for each file, derived from a master key and a long random salt, as the module `file`
//!   does. Any prefix is then good. Or count the files.
//! - XChaCha20-Poly1305: 19 bytes, which may be random for any number of files.
//!
//! # What is left to the caller
//!
//! Whoever can write the file can replace it by an older one, or by another file under the same key
//! if its prefix stands in the file. Associated data, such as a name or a version, binds a
//! stream to what it is for.
//!
//! [`Stream`] seals and opens single chunks, in any order and on any number of threads;
//! [`ChunkSealer`] and [`ChunkOpener`] number them. They are for formats with a frame of their own.
//! The module `file` (feature of this name) has a header for keys and passphrases.
//!
//! # Security
//!
//! - **Only verified plaintext is returned.** A decryptor returns no byte of a chunk before its tag
//!   was right. Data that was decrypted of a refused chunk is wiped, also in the caller's slice.
//! - **Changed, moved, repeated, missing and added chunks are refused** at their place, and so is a
//!   stream that was cut, even at the end of a chunk, or that was not finished. All output before
//!   the error is authentic, and a prefix of the data that was written. The stream is complete only
//!   if reading reaches its end without an error.
//! - **Constant time** in key and data, as the ciphers are. **Buffers with plaintext are wiped** on
//!   drop.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod buffer;
mod chunk_cipher;
mod chunks;
mod decryptor;
mod encryptor;
mod error;
#[cfg(feature = "file")]
#[cfg_attr(docsrs, doc(cfg(feature = "file")))]
pub mod file;
mod layout;
mod opening;
mod stream;

pub use chunk_cipher::ChunkCipher;
pub use chunks::{ChunkOpener, ChunkSealer};
pub use decryptor::Decryptor;
pub use encryptor::Encryptor;
pub use error::Error;
#[doc(no_inline)]
pub use lanecrypt_ciphers::{Algorithm, Cipher, InOutBuf};
pub use layout::{CHUNK_SIZE, LONGEST_CHUNK};
pub use stream::{Stream, prefix_length};
