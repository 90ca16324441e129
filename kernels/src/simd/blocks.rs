//! Blocks of 16 bytes in registers, and the rounds of AES: one set of functions, with the same
//! names and results on all architectures, for kernels that these share.
//!
//! A block that is an integer is little-endian. Words have 32 bits, halves 64.

mod aarch64;
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use self::aarch64::*;
#[cfg(target_arch = "x86_64")]
pub use self::x86_64::*;
