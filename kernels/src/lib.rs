//! Cryptographic kernels: typed operations without checks.
//!
//! A kernel takes arrays and blocks, so a wrong length cannot be expressed and nothing is left to
//! check at run time. Each core has one portable kernel, which is its specification, and one file
//! for each instruction set that makes it faster. [`Isa`] chooses among them, once, when a key is
//! set up.
//!
//! Most programs want the checked layers above: `lanecrypt::random`, `lanecrypt::Cipher`.
//!
//! What the documentation hides is for `lanecrypt-kernels-legacy` and may change in any version.
//!
#![doc = include_str!("security.md")]
#![cfg_attr(not(any(feature = "std", test)), no_std)]
// Portable kernels do not need all that those with vector registers share.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, unused_imports, unused_macros))]

#[cfg(feature = "montgomery")]
extern crate alloc;

#[doc(hidden)]
#[macro_use]
pub mod isa;
mod aead;
pub mod aegis;
#[macro_use]
pub mod aes;
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "they are not for users")]
#[macro_use]
pub mod arx;
mod block;
pub mod chacha;
pub mod chacha20poly1305;
mod ctr;
#[cfg(feature = "public-key")]
pub mod curve25519;
mod equal;
pub mod fork;
pub mod gcm;
pub mod gcm_siv;
pub mod ghash;
#[cfg(feature = "std")]
mod huge;
#[cfg(feature = "public-key")]
mod keccak;
pub mod lanes;
#[cfg(feature = "std")]
mod locked;
#[cfg(feature = "public-key")]
pub mod mlkem;
#[cfg(feature = "montgomery")]
pub mod montgomery;
pub mod null;
#[doc(hidden)]
pub mod opaque;
#[cfg(feature = "public-key")]
pub mod p256;
#[cfg(all(feature = "std", target_os = "linux"))]
mod pin;
pub mod poly1305;
#[cfg(feature = "public-key")]
pub mod sha2;
#[doc(hidden)]
pub mod simd;
pub mod siv;
mod stream;
pub mod wipe;
#[cfg(feature = "public-key")]
mod words;
pub mod xts;

pub use aead::{Aead, AeadLanes, Bytes, Incremental, NoMessage, Resume};
pub use block::{BlockCipher, BlockEncrypt, in_parts, into_blocks};
pub use ctr::{Ctr, add_to_counter};
pub use equal::equal;
#[cfg(feature = "std")]
pub use huge::prefer_huge_pages;
pub use isa::{Isa, Level, UnknownLevel};
#[cfg(feature = "std")]
pub use locked::LockedPage;
pub use stream::{Seek, StreamCore};
