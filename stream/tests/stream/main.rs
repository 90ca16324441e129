//! Streams: their bytes, what is refused, and readers and writers of every manner.

mod aead_stream;
#[cfg(feature = "file")]
mod file;
mod manners;
mod refused;
mod support;
mod upgrade;
mod whole;
mod x86_64;
