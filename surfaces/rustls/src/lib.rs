//! Lanecrypt for [rustls] 0.23: the ciphers of TLS 1.3, TLS 1.2 and QUIC, hash functions, random
//! numbers, and many handshakes at a time.
//!
//! A [`CryptoProvider`] of rustls has many parts. [`over`] takes one that is complete, and puts
//! Lanecrypt in place of what works on every record, AES-128-GCM, AES-256-GCM and
//! ChaCha20-Poly1305, QUIC's packets and headers, and of SHA-256, SHA-384, HKDF and random numbers.
//! With the feature `pk`, key exchanges and signatures are computed side by side in a
//! `HandshakePool`; outside of one they are the base's. Certificates are checked by the base,
//! and suites that are not in this list stay as they are.
//!
//! ```toml
//! [dependencies]
//! rustls = { version = "0.23", default-features = false, features = ["std", "tls12"] }
//! rustls-lanecrypt = { version = "0.1", features = ["ring"] }
//! ```
//!
#![cfg_attr(feature = "ring", doc = "```")]
#![cfg_attr(not(feature = "ring"), doc = "```ignore")]
//! use std::sync::Arc;
//!
//! use rustls::{ClientConfig, RootCertStore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // For every configuration of the process that names no other, at the beginning of `main`.
//! rustls_lanecrypt::ring_provider().install_default().map_err(|_| "there is one already")?;
//!
//! // Or for one configuration.
//! let provider = Arc::new(rustls_lanecrypt::ring_provider());
//! let config = ClientConfig::builder_with_provider(provider)
//!     .with_safe_default_protocol_versions()?
//!     .with_root_certificates(RootCertStore::empty())
//!     .with_no_client_auth();
//! # let _ = config;
//! # Ok(())
//! # }
//! ```
//!
//! Servers, `tokio-rustls` and `quinn` take such a configuration as any other.
//!
//! # Features
//!
//! | feature | default | |
//! |---|---|---|
//! | `ring` | | [`ring_provider`]; compiles C |
//! | `aws_lc_rs` | | [`aws_lc_rs_provider`], with post-quantum key exchange; compiles C |
//! | `pk` | | `HandshakePool`, `HandshakeTasks`: handshakes of several connections side by side |
//! | `tls12` | yes | the suites of TLS 1.2 |
//! | `isa-ssse3`, `isa-avx2`, `isa-avx512` | yes | kernels for these instruction sets, chosen at run time |
//!
//! Without `ring` and `aws_lc_rs`, [`over`] takes any other provider. If both features are on, rustls
//! has no default of its own, so that a program must install one or name it.
//!
//! [rustls]: https://docs.rs/rustls
//!
#![doc = include_str!("security.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod aead;
mod hashes;
mod quic;
mod random;
mod schedule;
mod suites;
#[cfg(feature = "tls12")]
mod tls12;
mod tls13;
#[cfg(feature = "pk")]
mod together;

pub use rustls;
use rustls::crypto::CryptoProvider;
#[cfg(feature = "pk")]
#[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
pub use together::{HandshakePool, HandshakeTasks};

/// The provider `base` with our ciphers, hash functions and random numbers in place of its own.
///
/// Its suites stay in their order, and none is added. A suite whose cipher we do not have stays as
/// it is, and one without QUIC stays without it. With the feature `pk`, X25519, secp256r1,
/// X25519MLKEM768 and keys that the provider loads for RSA, P-256 and Ed25519 wait for each other
/// in a `HandshakePool`. The other parts of the provider are not touched.
///
/// ```
/// use rustls::crypto::ring;
///
/// let mut provider = rustls_lanecrypt::over(ring::default_provider());
/// // As with any other provider: only these groups for the key exchange.
/// provider.kx_groups = vec![ring::kx_group::X25519];
/// ```
///
/// Suites live until the process ends, because rustls wants it so. Each is made once, however many
/// providers a program makes over one base.
#[must_use]
pub fn over(base: CryptoProvider) -> CryptoProvider {
    #[cfg(feature = "pk")]
    let base = CryptoProvider {
        kx_groups: base.kx_groups.into_iter().map(together::group).collect(),
        key_provider: together::keys(base.key_provider),
        ..base
    };
    let cipher_suites = base.cipher_suites.into_iter().map(suites::ours).collect();
    CryptoProvider { cipher_suites, secure_random: &random::Random, ..base }
}

/// Lanecrypt over ring: the key exchange, signatures and hash functions of ring.
#[cfg(feature = "ring")]
#[cfg_attr(docsrs, doc(cfg(feature = "ring")))]
#[must_use]
pub fn ring_provider() -> CryptoProvider {
    over(rustls::crypto::ring::default_provider())
}

/// Lanecrypt over AWS-LC: the key exchange, signatures and hash functions of the crate `aws-lc-rs`.
#[cfg(feature = "aws_lc_rs")]
#[cfg_attr(docsrs, doc(cfg(feature = "aws_lc_rs")))]
#[must_use]
pub fn aws_lc_rs_provider() -> CryptoProvider {
    over(rustls::crypto::aws_lc_rs::default_provider())
}
