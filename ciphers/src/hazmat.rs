//! Raw ciphers: correct, but not secure by themselves.
//!
//! These ciphers are separate from the main interface because:
//!
//! - Nothing here authenticates. An attacker who can change a message changes its plaintext: single
//!   bits with a stream or CTR, a block and single bits of the next one with CBC.
//! - Nothing prevents a nonce from being used twice. With a stream or CTR, two messages under one
//!   key and nonce reveal the XOR of their contents. CBC needs an unpredictable initialization
//!   vector. ECB has none, and equal blocks stay equal.
//! - XTS is for storage without room for anything but the data. An attacker can put back an older
//!   copy of a sector unnoticed, and can see which of its blocks have changed since. A change to a
//!   block garbles these 16 bytes and nothing else. If there is room for a tag, use an algorithm
//!   that authenticates.
//! - An attacker who learns whether padding was right can decrypt messages: see [`Padding`].
//! - Some algorithms here are broken: see [`Primitive::is_broken`](crate::Primitive::is_broken).
//!
//! [`RawCipher`] is one keyed algorithm, for any number of messages and threads. An [`Encryptor`]
//! or a [`Decryptor`] takes one message in pieces. [`Stream`] is one keyed stream that can seek.
//! [`StreamCipher`] is the same for a core that is known at compile time. [`HeaderProtectionKey`]
//! masks the headers of packets.
//!
//! ```
//! use lanecrypt_ciphers::hazmat::RawCipher;
//! use lanecrypt_ciphers::{Algorithm, Isa};
//!
//! # fn main() -> Result<(), lanecrypt_ciphers::Error> {
//! let cipher = RawCipher::new(Algorithm::AES_128_CBC, &[7; 16])?;
//! let mut packet = [0; 48];
//! cipher.encrypt(&[1; 16], &mut packet[..])?;
//! cipher.decrypt(&[1; 16], &mut packet[..])?;
//! assert_eq!(packet, [0; 48]);
//! # Ok(())
//! # }
//! ```

mod block_modes;
mod burn;
mod expanded_key;
mod header_protection;
pub mod lanes;
#[cfg(feature = "legacy")]
mod legacy;
#[cfg(not(feature = "legacy"))]
#[path = "hazmat/without_legacy.rs"]
mod legacy;
mod message;
mod padded;
mod padding;
mod raw_cipher;
mod running_stream;
mod sectors;
mod stream;
mod stream_cipher;
mod stream_key;
mod table;
mod tls_cbc;

pub use burn::{BURN_DEPTH, burn_stack};
pub use header_protection::HeaderProtectionKey;
pub use message::{Decryptor, Encryptor, RawMessage};
pub use padding::Padding;
pub use raw_cipher::RawCipher;
pub use stream::Stream;
pub use stream_cipher::StreamCipher;
pub use tls_cbc::{TlsCbc, TlsHeader};
