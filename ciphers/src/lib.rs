//! Checked operations: lengths are tested once, kernels run without checks below.
//!
//! [`Algorithm`] is the table of everything that is built in; tests, programs and benchmarks
//! iterate over it. Raw streams and blocks, which protect nothing by themselves, are in
//! [`hazmat`]. Every operation that can be refused answers an [`Error`]; nothing panics on what a
//! caller passes in.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

mod algorithm;
mod error;
pub mod hazmat;

pub use algorithm::{Algorithm, Mode, Primitive};
pub use error::{Error, UnknownAlgorithm};
pub use inout::InOutBuf;
pub use lanecrypt_kernels::{Isa, Level, UnknownLevel};
