//! Raw ciphers: correct, but not safe by themselves.
//!
//! Why these are not at the front door:
//!
//! - Nothing here authenticates. An attacker who can change a message changes its plaintext: a bit
//!   of a stream or of CTR at a time, a block and a bit of the next with CBC.
//! - Nothing keeps a nonce from being used twice. Two messages under one key and nonce, of a
//!   stream or of CTR, give away the XOR of their contents. CBC asks for an initialization vector
//!   that nobody can predict; ECB has none, and equal blocks stay equal.
//! - XTS is for storage that has no room for more than its data. A copy of a sector that was taken
//!   before can be put back, unseen, and shows which of its blocks have been written since; what
//!   changes a block makes noise of these 16 bytes and leaves all others as they are. Where there
//!   is room for a tag, an algorithm that authenticates is the better choice.
//! - An attacker who learns whether padding was right can decrypt messages: see [`Padding`].
//! - Some algorithms here are broken: see [`Primitive::is_broken`](crate::Primitive::is_broken).
//!
//! [`RawCipher`] is one keyed algorithm, for any number of messages and threads. An [`Encryptor`] or a
//! [`Decryptor`] takes one message in pieces. [`Stream`] is one keyed stream that goes to any
//! position, [`StreamCipher`] the same for a core that is known when the program is written.
//! [`HeaderProtectionKey`] masks the headers of packets.
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
mod decryptor;
mod encryptor;
mod expanded_key;
mod header_protection;
pub mod lanes;
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

pub use burn::{BURN_DEPTH, burn_stack};
pub use decryptor::Decryptor;
pub use encryptor::Encryptor;
pub use header_protection::HeaderProtectionKey;
pub use padding::Padding;
pub use raw_cipher::RawCipher;
pub use stream::Stream;
pub use stream_cipher::StreamCipher;
