//! Many requests at once: sessions, batches and the drivers that serve them.
//!
//! An [`Engine`] opens [`Session`]s, each of which holds an expanded key. A session seals and opens
//! messages [one at a time](Session::seal), like a cipher. [`Engine::process`] takes a batch of
//! [`Request`]s: messages of any sessions, keys, algorithms, lengths and directions. Where a single
//! message would leave most of the processor idle, messages run together in the lanes of vector
//! registers; otherwise they run one at a time. Filling a [`Batch`] costs less than processing a
//! slice.
//!
//! ```
//! use lanecrypt_engine::{Algorithm, Engine, Request};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new();
//! let client = engine.session(Algorithm::CHACHA20_POLY1305, &[1; 32])?;
//! let server = engine.session(Algorithm::AES_128_GCM, &[2; 16])?;
//!
//! let (mut first, mut second) = ([0; 64 + 16], [0; 300 + 16]);
//! let mut batch = [
//!     Request::seal(&client, &[0; 12], b"header", &mut first),
//!     Request::seal(&server, &[7; 12], b"header", &mut second),
//! ];
//! engine.process(&mut batch)?;
//!
//! assert_eq!(client.open(&[0; 12], b"header", &mut first)?, [0; 64]);
//! # Ok(())
//! # }
//! ```
//!
//! Each session is served by a [`Driver`]: `software`, which is this processor, or `null`, which
//! serves the null cipher and exposes the overhead around a cipher. Programs can add others.
//!
//! Without the feature `std` the crate needs only an allocator. It then has no queues and no
//! calibration, and the instruction sets are those that the program is compiled for.
//!
#![doc = include_str!("security.md")]
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(not(feature = "std"), allow(dead_code, reason = "only calibration uses some parts"))]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

#[cfg(feature = "_asymmetric")]
mod asymmetric;
mod batch;
mod batch_error;
mod class;
mod data;
mod driver_name_error;
mod drivers;
mod engine;
mod lanes;
#[cfg(feature = "std")]
mod measure;
mod operation;
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub mod queue;
mod scheduler;
mod session;
mod single;
#[cfg(feature = "std")]
mod sync;
#[cfg(test)]
#[path = "../tests/unit/batches.rs"]
mod tests;

#[cfg(feature = "_asymmetric")]
#[cfg_attr(docsrs, doc(cfg(any(feature = "pk", feature = "rsa"))))]
pub use asymmetric::key::AsymmetricKey;
#[cfg(feature = "rsa")]
#[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
pub use asymmetric::rsa_key::RsaKey;
pub use batch::{Batch, BatchBuffer};
pub use batch_error::BatchError;
pub use data::Data;
pub use driver_name_error::DriverNameError;
#[cfg(feature = "aws-lc")]
#[cfg_attr(docsrs, doc(cfg(feature = "aws-lc")))]
pub use drivers::AwsLc;
pub use drivers::Null;
#[cfg(feature = "openssl")]
#[cfg_attr(docsrs, doc(cfg(feature = "openssl")))]
pub use drivers::{OpenSsl, OpenSslError};
pub use engine::Engine;
pub use lanecrypt_ciphers::{
    Algorithm, Error, InOutBuf, Isa, Mode, Nonce, NonceSequence, Nonces, RandomNonces,
};
pub use lanes::{LaneRange, LaneSource, Lanes};
pub use operation::Operation;
pub use session::driver::{Driver, Load};
pub use session::job::{EachJob, Job, Jobs};
pub use session::request::Request;
pub use session::{Session, SessionId};
