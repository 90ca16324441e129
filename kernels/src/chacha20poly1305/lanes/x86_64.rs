//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

#[cfg(feature = "isa-avx2")]
pub(crate) mod avx2;
#[cfg(feature = "isa-avx512")]
pub(crate) mod avx512;
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2"))]
pub(crate) mod streams;

#[cfg(feature = "isa-ssse3")]
pub(crate) use self::streams as ssse3;
