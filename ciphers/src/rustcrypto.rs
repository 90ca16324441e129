//! The traits of RustCrypto's crates [`aead`](::aead) 0.6 and [`cipher`] 0.5, so that programs
//! written for them run on these kernels.
//!
//! [`Aes256Gcm`] and the other types with authentication have the traits of
//! `aead`:
//!
//! ```
//! use aead::{AeadInOut, KeyInit};
//! use lanecrypt_ciphers::Aes256Gcm;
//!
//! # fn main() -> Result<(), aead::Error> {
//! let cipher = Aes256Gcm::new(&[1; 32].into());
//! let (nonce, mut message) = ([2; 12].into(), *b"a message");
//! let tag = cipher.encrypt_inout_detached(&nonce, b"header", (&mut message[..]).into())?;
//! cipher.decrypt_inout_detached(&nonce, b"header", (&mut message[..]).into(), &tag)?;
//! assert_eq!(&message, b"a message");
//! # Ok(())
//! # }
//! ```
//!
//! Block ciphers and streams serve the modes of other crates, for example `cbc::Encryptor<Aes128>`
//! with the crate `cbc`. Like [`hazmat`](crate::hazmat), they do not authenticate, and nothing here
//! prevents a nonce from being used twice. As constant-time as the kernels are.
//!
//! Through the traits of `cipher`, parallel modes reach the full width of the kernels, 32 blocks a
//! call. Serial modes, such as CBC encryption, make a call for each block;
//! [`hazmat::RawCipher`](crate::hazmat::RawCipher) does not. For CTR, use the types here, such as
//! [`Aes128Ctr`], and not the crate `ctr` with a block cipher.
//!
//! The kernels are those of [`Isa::detect`](crate::Isa::detect).
//!
//! What differs from the crates of RustCrypto:
//!
//! - The types have a `new` of their own, which takes arrays: for an `Array`, pass `&key.0`.
//! - Keys are not `Clone`: share one by reference or `Arc`; it serves any number of threads.
//! - If a message is not authentic, its buffer is wiped. To try several keys, open from a buffer
//!   that stays to another one: `decrypt_inout_detached` with an `InOutBuf` of two buffers.
//!
//! ```
//! use cipher::{BlockModeEncrypt, KeyIvInit};
//! use lanecrypt_ciphers::rustcrypto::Aes128;
//!
//! let mut encryptor = cbc::Encryptor::<Aes128>::new(&[1; 16].into(), &[2; 16].into());
//! let mut block = [3; 16].into();
//! encryptor.encrypt_block(&mut block);
//! ```

mod aead;
#[macro_use]
mod blocks;
#[macro_use]
mod streams;
#[cfg(feature = "legacy")]
mod legacy;

pub use crate::cipher::typed::*;
pub use blocks::{Aes128, Aes192, Aes256};
#[cfg(feature = "legacy")]
pub use legacy::*;
pub use streams::{Aes128Ctr, Aes192Ctr, Aes256Ctr, ChaCha8, ChaCha12, ChaCha20, ChaCha20Legacy};
