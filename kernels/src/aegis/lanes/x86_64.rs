//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

#[cfg(feature = "isa-avx2")]
#[macro_use]
mod beside;
#[cfg(feature = "isa-avx2")]
pub(crate) mod avx2vaes;
