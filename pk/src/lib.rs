//! Public-key operations of handshakes, one at a time and many side by side: X25519, Ed25519, P-256
//! (ECDSA and ECDH) and ML-KEM-768.
//!
//! ```
//! use lanecrypt_pk::{ed25519, mlkem768, x25519};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (alice, bob) = (x25519::SecretKey::generate()?, x25519::SecretKey::generate()?);
//! let shared = alice.diffie_hellman(&bob.public_key())?; // wiped when dropped
//! assert_eq!(shared.as_bytes(), bob.diffie_hellman(&alice.public_key())?.as_bytes());
//!
//! let key = ed25519::SigningKey::generate()?;
//! let signature = key.sign(b"message")?;
//! key.verifying_key().verify(b"message", &signature)?;
//!
//! let key = mlkem768::DecapsulationKey::generate()?;
//! let (ciphertext, shared) = key.encapsulation_key().encapsulate()?;
//! assert_eq!(key.decapsulate(&ciphertext)?.as_bytes(), shared.as_bytes());
//! # Ok(())
//! # }
//! ```
//!
//! [`process`] takes many [`Request`]s, of any operations and keys. Those of one operation run side
//! by side if they are enough: eight with AVX-512, four with AVX2.
//!
//! ```
//! use lanecrypt_pk::{Request, p256, process, x25519};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (mut shares, mut secrets) = ([[0; 32]; 4], [[0; 32]; 4]);
//! # let mut signatures = [[0; 64]; 4];
//! # let identity = p256::SigningKey::generate()?;
//! # let own = [(); 4].map(|()| x25519::SecretKey::generate().unwrap());
//! # let theirs = own.each_ref().map(|key| key.public_key());
//! // What the servers of four handshakes compute.
//! let mut requests = Vec::new();
//! for (own, share) in own.iter().zip(&mut shares) {
//!     requests.push(Request::x25519_public_key(own, share));
//! }
//! for ((own, theirs), secret) in own.iter().zip(&theirs).zip(&mut secrets) {
//!     requests.push(Request::x25519_shared_secret(own, theirs, secret));
//! }
//! for signature in &mut signatures {
//!     requests.push(Request::p256_sign(&identity, b"transcript", signature));
//! }
//! process(&mut requests)?; // or the outcome of each request
//! # Ok(())
//! # }
//! ```
//!
//! [`Options`] choose kernels, a [`Backend`], and whether new signatures are verified. With the
//! feature `aws-lc`, AWS-LC serves single requests that cost less there.
//!
#![doc = include_str!("security.md")]
#![deny(unsafe_code)]

#[cfg(feature = "aws-lc")]
mod aws_lc;
mod backend;
mod cost;
pub mod ed25519;
mod encoding;
mod error;
#[cfg(test)]
mod faults;
pub mod hazmat;
mod lanes;
mod library;
pub mod mlkem768;
mod options;
pub mod p256;
mod process;
mod request;
mod secret;
mod single;
pub mod x25519;

pub use backend::Backend;
pub use error::{BatchError, Error, KeyError};
pub use lanecrypt_kernels::{Isa, Level};
pub use options::Options;
pub use process::process;
pub use request::{Operation, Request};
pub use secret::SharedSecret;
