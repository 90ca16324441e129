//! Checked operations: lengths are tested once, kernels run without checks below.
//!
//! [`Algorithm`] is the table of everything that is built in; tests, programs and benchmarks
//! iterate over it. Raw streams and blocks, which protect nothing by themselves, are in
//! [`hazmat`]. Every operation that can be refused answers an [`Error`]; nothing panics on what a
//! caller passes in.
//!
//! The feature `legacy`, off by default, adds ciphers that are there for study and comparison: ARC4,
//! which is broken, and HC-128, which is not constant time. Both index tables by secrets. It needs an
//! allocator.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "legacy")]
extern crate alloc;

mod algorithm;
mod error;
pub mod hazmat;
mod key_lengths;
mod primitive;

pub use algorithm::{Algorithm, Mode};
pub use error::{Error, UnknownAlgorithm};
pub use inout::InOutBuf;
pub use key_lengths::KeyLengths;
pub use lanecrypt_kernels::{Isa, Level, UnknownLevel};
pub use primitive::Primitive;
