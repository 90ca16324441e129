//! Every kernel against published values, other implementations and the portable kernel, at every
//! instruction set. One program, because linking is what takes most of the time of a small one.

mod aes;
#[cfg(feature = "legacy")]
mod arc4;
mod chacha;
mod chacha20poly1305;
#[cfg(feature = "legacy")]
mod des;
mod gcm;
mod gcm_siv;
mod ghash;
#[cfg(feature = "legacy")]
mod hc128;
mod lanes_aes;
mod lanes_chacha;
#[cfg(feature = "legacy")]
mod lanes_des;
mod lanes_guards;
mod lanes_salsa;
mod lanes_serpent;
mod modes;
#[cfg(feature = "montgomery")]
mod montgomery;
mod places;
mod poly1305;
mod resume;
mod salsa;
mod serpent;
mod siv;
mod streams;
mod target_features;
mod xts;
