//! OpenSSL's libcrypto, found at run time.
//!
//! Building needs nothing of OpenSSL. A program opens the library when it runs, under the names
//! that systems use or at a path, and can do without if there is none. Versions 1.1.1 to 4 work;
//! fetching needs 3.0. Several builds may be open in one process: each [`Libcrypto`] has its own
//! functions and state.
//!
//! ```
//! use lanecrypt_libcrypto::{Direction, Libcrypto};
//!
//! let Ok(libcrypto) = Libcrypto::open() else { return };
//! let cipher = libcrypto.named(c"AES-128-CTR").expect("every libcrypto has it");
//! let mut context = cipher.context(Direction::Encrypt, &[1; 16], &[2; 16]).expect("16 bytes");
//! let mut message = *b"any length";
//! context.update(&mut message).expect("counter mode takes any length");
//!
//! context.set_iv(&[2; 16]).expect("16 bytes");
//! context.update(&mut message).expect("counter mode takes any length");
//! assert_eq!(&message, b"any length");
//! ```
//!
//! Whether a cipher is constant time is up to OpenSSL. Its AES is, on processors with instructions
//! for AES or for byte shuffles.

mod aead;
mod build;
mod cipher;
mod context;
mod error;
mod evp;
mod functions;
mod hmac;
mod library;
mod providers;
mod public_key;
mod rsa;
mod rsa_numbers;
mod siv;

pub use aead::{AeadCipher, AeadContext};
pub use cipher::Cipher;
pub use context::Context;
pub use error::{Error, OpenError};
pub use evp::Direction;
pub use hmac::HmacSha256;
pub use library::Libcrypto;
pub use public_key::{Deriver, Generator, KeyType, PublicKeySigner, SecretKey};
pub use rsa::{RsaContext, RsaPadding, Side};
pub use rsa_numbers::RsaNumbers;
pub use siv::{SivCipher, SivContext};
