//! Fast random numbers and ciphers for small requests.
//!
//! ```
//! use lanecrypt::{Algorithm, Cipher, Nonces};
//!
//! # fn main() -> Result<(), lanecrypt::Error> {
//! let mut key = zeroize::Zeroizing::new([0; 32]); // wiped when dropped
//! lanecrypt::random::fill(&mut *key);
//! let cipher = Cipher::new(Algorithm::AES_256_GCM, &*key)?;
//! let mut nonces = Nonces::counter(cipher.algorithm(), &[])?;
//!
//! let mut packet = [0; 5 + 16];
//! packet[..5].copy_from_slice(b"hello");
//! let nonce = cipher.seal_next(&mut nonces, b"header", &mut packet)?;
//!
//! assert_eq!(cipher.open(&nonce, b"header", &mut packet)?, b"hello");
//! # Ok(())
//! # }
//! ```
//!
//! [`Cipher`] seals and opens single messages, [`Engine`] many at once, [`stream`] files. Types
//! with one algorithm, such as [`Aes256Gcm`], link nothing else. The ciphers in [`hazmat`] do not
//! authenticate.
//!
//! This crate re-exports the other crates and contains no code of its own.
//!
//! # Features
//!
#![doc = include_str!("features.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "accelerators")]
#[cfg_attr(docsrs, doc(cfg(feature = "accelerators")))]
#[doc(inline)]
pub use lanecrypt_accelerators as accelerators;
#[cfg(feature = "rustcrypto")]
#[cfg_attr(docsrs, doc(cfg(feature = "rustcrypto")))]
#[doc(inline)]
pub use lanecrypt_ciphers::rustcrypto;
#[doc(inline)]
pub use lanecrypt_ciphers::{
    AeadCipher, AeadKey, AeadMessage, Algorithm, AnyKey, Buffers, Cipher, CryptoRng,
    DeterministicAesSiv, Error, InOutBuf, Isa, KeyError, KeyLengths, Level, Mode, Nonce,
    NonceSequence, Nonces, Opener, Primitive, RandomNonces, Sealer, UnknownAlgorithm, UnknownLevel,
    ValueToOpen, ValueToSeal, hazmat, typed::*,
};
#[cfg(feature = "columns")]
#[cfg_attr(docsrs, doc(cfg(feature = "columns")))]
#[doc(inline)]
pub use lanecrypt_columns as columns;
#[cfg(all(feature = "device", target_os = "linux"))]
#[cfg_attr(docsrs, doc(cfg(all(feature = "device", target_os = "linux"))))]
#[doc(inline)]
pub use lanecrypt_device as device;
#[cfg(any(feature = "pk", feature = "rsa"))]
#[cfg_attr(docsrs, doc(cfg(any(feature = "pk", feature = "rsa"))))]
#[doc(inline)]
pub use lanecrypt_engine::AsymmetricKey;
#[cfg(feature = "rsa")]
#[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
#[doc(inline)]
pub use lanecrypt_engine::RsaKey;
#[doc(inline)]
pub use lanecrypt_engine::queue;
#[doc(inline)]
pub use lanecrypt_engine::{
    Batch, BatchBuffer, BatchError, Data, Driver, DriverNameError, EachJob, Engine, Job, Jobs,
    LaneRange, LaneSource, Lanes, Load, Null, Operation, Request, Session, SessionId,
};
#[cfg(feature = "openssl")]
#[cfg_attr(docsrs, doc(cfg(feature = "openssl")))]
#[doc(inline)]
pub use lanecrypt_engine::{OpenSsl, OpenSslError};
#[cfg(feature = "pk")]
#[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
#[doc(inline)]
pub use lanecrypt_pk as pk;
#[doc(inline)]
pub use lanecrypt_random as random;
#[cfg(feature = "rsa")]
#[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
#[doc(inline)]
pub use lanecrypt_rsa as rsa;
#[doc(inline)]
pub use lanecrypt_stream as stream;
#[cfg(feature = "file")]
#[cfg_attr(docsrs, doc(cfg(feature = "file")))]
#[doc(inline)]
pub use lanecrypt_stream::file;

/// Tests the examples of the README and of the guide with the documentation.
#[cfg(all(doctest, feature = "rsa", feature = "device", feature = "file", target_os = "linux"))]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../../GUIDE.md")]
#[derive(Debug)]
pub struct Readme;
