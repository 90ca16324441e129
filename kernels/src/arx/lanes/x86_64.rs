//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

#[cfg(feature = "isa-avx2")]
pub mod avx2;
#[cfg(feature = "isa-avx512")]
pub mod avx512;
#[cfg(feature = "isa-ssse3")]
pub mod ssse3;
