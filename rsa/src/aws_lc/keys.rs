//! Keys of AWS-LC, which ours keep beside themselves.
//!
//! The first request that needs such a key makes it. With AVX-512, it is made only after it would
//! have saved its cost, so that a key for a few signatures does not pay for it.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;

use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::ParsedPublicKey;

/// The number of methods.
pub(super) const METHODS: usize = 6;

/// A private key of AWS-LC, made when it is needed; none if AWS-LC refuses it.
#[derive(Default)]
pub(crate) struct Signer {
    pub(super) pair: OnceLock<Option<Box<KeyPair>>>,
    /// How often it would have cost less if it had been made.
    missed: AtomicU32,
}

/// Making a key costs what AWS-LC saves in so many signatures, with AVX-512. Keys that
/// sign fewer than that are not made, and for others the time is at most doubled.
pub(super) const MISSED: u32 = 16;

impl Signer {
    /// Whether it is there, or should be by now.
    pub(super) fn pays(&self) -> bool {
        // Only counts; what is made is published by the lock.
        self.pair.get().is_some() || self.missed.fetch_add(1, Relaxed) >= MISSED
    }
}

/// A public key of AWS-LC for each method, made when it is first needed; none if AWS-LC refuses it.
#[derive(Default)]
pub(crate) struct Verifier(pub(super) [OnceLock<Option<Box<ParsedPublicKey>>>; METHODS]);
