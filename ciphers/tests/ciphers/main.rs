//! Every algorithm and mode against published values, other implementations and the portable
//! kernel, and what is refused.

mod aead;
mod aead_levels;
mod aead_misuse;
#[cfg(feature = "rustcrypto")]
mod aead_traits;
mod chained;
mod cipher;
mod deterministic;
mod forgeries;
mod fuzz_inputs;
mod header_protection;
mod key_errors;
mod misuse;
mod nonces;
mod refusals;
#[cfg(feature = "rustcrypto")]
mod rustcrypto;
mod stream;
mod streaming;
mod tls_cbc;
mod typed;
mod wycheproof;
mod wycheproof_aead;
mod xts;
