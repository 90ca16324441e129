//! Raw streams and blocks: correct, but not safe by themselves.
//!
//! Nothing here authenticates data or keeps a nonce from being used twice. Two messages under one
//! key and nonce give away the XOR of their contents, and equal blocks stay equal under ECB.

mod ecb;
mod stream;
mod stream_cipher;

pub use ecb::Ecb;
pub use stream::Stream;
pub use stream_cipher::StreamCipher;
