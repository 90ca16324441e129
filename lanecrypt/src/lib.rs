//! Small cryptographic requests, fast: random numbers and ciphers.
//!
//! ```
//! let mut key = [0; 32];
//! lanecrypt::random::fill(&mut key);
//! ```
//!
//! This crate is the door to the others and holds nothing of its own.

#![forbid(unsafe_code)]

#[cfg(feature = "rustcrypto")]
#[doc(inline)]
pub use lanecrypt_ciphers::rustcrypto;
#[doc(inline)]
pub use lanecrypt_ciphers::{
    Algorithm, Error, InOutBuf, Isa, KeyLengths, Level, Mode, Primitive, UnknownAlgorithm,
    UnknownLevel, hazmat,
};
#[doc(inline)]
pub use lanecrypt_random as random;

/// The README's example is tested with the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[derive(Debug)]
pub struct Readme;
