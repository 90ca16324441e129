//! Checked operations: lengths are checked once, and the kernels below run without checks.
//!
//! The main interface is [`Cipher`]: it [seals](Cipher::seal) and [opens](Cipher::open) messages,
//! with nonces from [`Nonces`] or [`RandomNonces`], which do not repeat. [`Sealer`] and [`Opener`]
//! take long data in pieces. Raw ciphers, which do not authenticate, are in [`hazmat`].
//!
//! A program that has chosen its algorithm takes [`Aes256Gcm`], [`ChaCha20Poly1305`] or another
//! type with one algorithm: it has the methods of a `Cipher`, keys of the wrong length do not
//! compile, and nothing of the other algorithms is linked.
//!
//! [`Algorithm`] is the table of everything that is built in; tests, programs and benchmarks
//! iterate over it. An operation that is refused returns an [`Error`], and a key that is refused a
//! [`KeyError`], which says the lengths. No input of a caller causes a panic.
//!
//! The feature `legacy`, off by default, adds old ciphers: Salsa20 and Serpent, and for study and
//! comparison ARC4 and DES, which are broken, HC-128 and triple DES. These four index tables by
//! secrets. The feature needs an allocator. The feature `rustcrypto` adds the traits of the crates
//! `aead` and `cipher`.
//!
#![doc = include_str!("security.md")]
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "legacy")]
extern crate alloc;

mod algorithm;
mod buffers;
mod cipher;
mod deterministic;
mod error;
pub mod hazmat;
mod hmac;
mod key_bytes;
mod key_error;
mod key_lengths;
mod mac;
mod mac_key;
mod masks;
mod nonces;
mod primitive;
#[cfg(feature = "rustcrypto")]
#[cfg_attr(docsrs, doc(cfg(feature = "rustcrypto")))]
pub mod rustcrypto;
mod table;

pub use algorithm::{Algorithm, Mode};
pub use buffers::Buffers;
pub use cipher::typed::{self, *};
pub use cipher::{AeadCipher, AeadKey, AeadMessage, AnyKey, Cipher, Opener, Sealer, lanes};
pub use deterministic::{DeterministicAesSiv, ValueToOpen, ValueToSeal};
pub use error::{Error, UnknownAlgorithm};
pub use inout::InOutBuf;
pub use key_error::KeyError;
pub use key_lengths::KeyLengths;
pub use lanecrypt_kernels::{Isa, Level, UnknownLevel};
pub use mac::Mac;
pub use nonces::{CryptoRng, Nonce, NonceSequence, Nonces, RandomNonces};
pub use primitive::Primitive;
