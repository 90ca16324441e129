//! Keys, signatures and their checks, against published values and another implementation.

mod allocations;
#[cfg(feature = "legacy")]
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "legacy")]
mod keys;
#[cfg(feature = "legacy")]
mod vectors;
mod verifier;
#[cfg(feature = "legacy")]
mod wycheproof;
