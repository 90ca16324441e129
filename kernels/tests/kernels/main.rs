//! Every kernel against published values, other implementations and the portable kernel, at every
//! instruction set. One program, because linking is what takes most of the time of a small one.

mod aegis;
mod aes;
mod chacha;
mod chacha20poly1305;
#[cfg(feature = "public-key")]
mod ed25519;
mod gcm;
mod gcm_siv;
mod ghash;
mod guards;
mod lanes_aes;
mod lanes_chacha;
mod lanes_guards;
#[cfg(feature = "montgomery")]
mod montgomery;
mod places;
mod poly1305;
mod resume;
#[cfg(feature = "public-key")]
mod sha2;
mod siv;
mod streams;
mod target_features;
#[cfg(feature = "public-key")]
mod x25519;
mod xts;
