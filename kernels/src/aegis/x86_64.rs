//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

#[macro_use]
pub(in crate::aegis) mod steps;
mod alone;

pub(crate) use self::alone::aesni;
#[cfg(feature = "isa-avx2")]
pub(crate) use self::alone::avx2;
