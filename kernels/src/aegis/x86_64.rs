//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

#[macro_use]
pub(in crate::aegis) mod steps;
mod single_message;

pub(crate) use self::single_message::aesni;
#[cfg(feature = "isa-avx2")]
pub(crate) use self::single_message::avx2;
