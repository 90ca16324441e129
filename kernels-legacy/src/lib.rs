//! Cryptographic kernels of old ciphers, in the form of [`lanecrypt_kernels`]: typed operations
//! without checks.
//!
//! Salsa20 and Serpent are unbroken and constant time. ARC4, HC-128 and single blocks of DES and
//! triple DES index tables by secrets; ARC4 and DES are broken. New programs have no use for any of
//! them.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
// Portable kernels do not need all that those with vector registers share.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, unused_imports, unused_macros))]

#[macro_use]
extern crate lanecrypt_kernels;

pub mod arc4;
pub mod des;
pub mod hc128;
pub mod salsa;
pub mod serpent;

/// The most bytes of stack that a call of any kernel of this crate uses, together with the layers
/// above it, as [`wipe::DEPTH`](lanecrypt_kernels::wipe::DEPTH) is for the other kernels.
///
/// The round keys of 64 lanes of triple DES need most of it. The lists of batches lie above them.
pub const DEPTH: usize = 64 << 10;
