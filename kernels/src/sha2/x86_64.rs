//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

pub(crate) mod aesni;
#[cfg(feature = "isa-avx2")]
pub(crate) mod avx2;
#[cfg(feature = "isa-avx512")]
pub(crate) mod avx512;
mod shani;
