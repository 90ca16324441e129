//! Public-key operations of handshakes, one at a time and many side by side: X25519, Ed25519, P-256
//! and ML-KEM-768.
#![forbid(unsafe_code)]

#[cfg(feature = "aws-lc")]
mod aws_lc;
mod backend;
mod cost;
pub mod ed25519;
mod encoding;
mod error;
pub mod hazmat;
mod lanes;
mod library;
pub mod mlkem768;
mod options;
pub mod p256;
mod process;
mod request;
mod secret;
pub mod x25519;

pub use backend::Backend;
pub use error::{BatchError, Error, KeyError};
pub use lanecrypt_kernels::{Isa, Level};
pub use options::Options;
pub use process::process;
pub use request::{Operation, Request};
pub use secret::SharedSecret;
