//! Lanecrypt's ciphers and random numbers for rustls.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod aead;
mod quic;
mod random;
mod suites;
#[cfg(feature = "tls12")]
mod tls12;
mod tls13;

pub use rustls;

use rustls::crypto::CryptoProvider;

/// The provider `base` with our ciphers and random numbers in place of its own.
#[must_use]
pub fn over(base: CryptoProvider) -> CryptoProvider {
    let cipher_suites = base.cipher_suites.into_iter().map(suites::ours).collect();
    CryptoProvider { cipher_suites, secure_random: &random::Random, ..base }
}

/// Ours over ring.
#[cfg(feature = "ring")]
#[must_use]
pub fn ring_provider() -> CryptoProvider {
    over(rustls::crypto::ring::default_provider())
}

/// Ours over AWS-LC.
#[cfg(feature = "aws_lc_rs")]
#[must_use]
pub fn aws_lc_rs_provider() -> CryptoProvider {
    over(rustls::crypto::aws_lc_rs::default_provider())
}
