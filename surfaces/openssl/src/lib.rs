//! A provider for OpenSSL from 3.0 on: ciphers, random numbers, RSA signatures and curves of
//! Lanecrypt for programs that a configuration file tells to load it. The README says how, and what
//! it takes over.
//!
//! The module does not link libcrypto. It declares the tables that providers and OpenSSL exchange
//! itself (`abi`), so that one file serves all versions.
//!
//! OpenSSL passes pieces of a message, so `aead` and `plain` call the kernels, not `Cipher`. They
//! check lengths, limits, tags and the reuse of vectors themselves.

// All of it is called through tables.
#![allow(private_interfaces, unreachable_pub)]

mod abi;
mod aead;
mod asynchronous;
mod cipher;
mod context;
mod count;
mod curves;
mod errors;
mod fallback;
mod hasher;
mod info;
mod library;
mod memory;
mod params;
mod plain;
mod provider;
mod rand;
mod rsa;
mod signature;
mod stack;

pub use provider::OSSL_provider_init;
