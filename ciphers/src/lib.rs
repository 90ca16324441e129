//! Checked operations: lengths are tested once, kernels run without checks below.
//!
//! The front door is [`Cipher`]: [`seal`](Cipher::seal) a message, [`open`](Cipher::open) it again,
//! with nonces from [`Nonces`] or [`RandomNonces`], which do not repeat. Long data may come in
//! pieces, to a [`Sealer`] and an [`Opener`]. Raw ciphers, which authenticate nothing, are in
//! [`hazmat`].
//!
//! [`Algorithm`] is the table of everything that is built in; tests, programs and benchmarks
//! iterate over it. Every operation that can be refused answers an [`Error`]; nothing panics on what
//! a caller passes in.
//!
//! The feature `legacy`, off by default, adds ciphers that are there for study and comparison: ARC4
//! and DES, which are broken, HC-128 and triple DES. All of them index tables by secrets. It needs
//! an allocator. The feature `rustcrypto` adds the traits of the crates `aead` and `cipher`.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "legacy")]
extern crate alloc;

mod algorithm;
mod cipher;
mod error;
pub mod hazmat;
mod key_bytes;
mod key_lengths;
mod nonces;
mod primitive;
#[cfg(feature = "rustcrypto")]
#[cfg_attr(docsrs, doc(cfg(feature = "rustcrypto")))]
pub mod rustcrypto;

pub use algorithm::{Algorithm, Mode};
pub use cipher::{Cipher, Opener, Sealer, lanes};
pub use error::{Error, UnknownAlgorithm};
pub use inout::InOutBuf;
pub use key_lengths::KeyLengths;
pub use lanecrypt_kernels::{Isa, Level, UnknownLevel};
pub use nonces::{Nonce, NonceSequence, Nonces, RandomNonces};
pub use primitive::Primitive;
