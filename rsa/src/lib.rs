//! RSA signatures, one at a time and many side by side.
//!
//! ```
//! use lanecrypt_rsa::{Hash, Padding, PrivateKey, PublicKey, Workspace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let key = include_str!("../tests/key.pem");
//! let key = PrivateKey::from_pem(key)?;
//! let public = PublicKey::from_pem(&key.public_key().to_pem())?;
//! let mut workspace = Workspace::new(); // kept for the next signature
//!
//! let padding = Padding::pss(Hash::SHA256);
//! let mut signature = vec![0; key.signature_length()];
//! key.sign(padding, b"message", &mut signature, &mut workspace)?;
//! public.verify(padding, b"message", &signature, &mut workspace)?;
//! # Ok(())
//! # }
//! ```
//!
//! [`process`] takes many [`Request`]s: signatures to make and to check, under any keys of any
//! sizes. With AVX-512, eight exponentiations of one size run side by side, with AVX2 four (see
//! [`montgomery`](lanecrypt_kernels::montgomery)), whatever their keys.
//!
//! ```
//! # use lanecrypt_rsa::{Hash, Padding, PrivateKey, Request, Workspace, process};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let key = PrivateKey::from_pem(include_str!("../tests/key.pem"))?;
//! # let (padding, mut workspace) = (Padding::pkcs1v15(Hash::SHA256), Workspace::new());
//! # let mut signatures = vec![vec![0; key.signature_length()]; 4];
//! let messages = [b"one", b"two", b"six", b"ten"];
//! let mut requests: Vec<_> = messages
//!     .iter()
//!     .zip(&mut signatures)
//!     .map(|(message, signature)| Request::sign(&key, padding, *message, signature))
//!     .collect();
//! process(&mut requests, &mut workspace)?; // or the outcome of each request
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `aws-lc`, AWS-LC serves what costs less there, or all that it takes; a
//! [`Backend`] says which. There is no decryption: see [`hazmat`].
//!
#![doc = include_str!("security.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "aws-lc")]
mod aws_lc;
mod backend;
mod check;
mod components;
mod encoding;
mod error;
#[cfg(all(test, feature = "legacy"))]
mod faults;
#[cfg(feature = "generate")]
mod generate;
mod hash;
pub mod hazmat;
#[cfg(feature = "legacy")]
mod legacy;
mod numbers;
mod padding;
mod private;
mod private_key;
mod process;
mod public_key;
mod recover;
mod request;
mod single;
mod workspace;

pub use backend::Backend;
pub use components::{Components, CrtComponents};
pub use error::{BatchError, Error, KeyError};
pub use hash::{Digest, Hash};
pub use lanecrypt_kernels::{Isa, Level};
pub use padding::Padding;
pub use private_key::PrivateKey;
pub use process::process;
pub use public_key::{MAX_BITS, PublicKey};
pub use request::{Operation, Request};
pub use workspace::Workspace;
