//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

mod single_message;

pub(crate) use self::single_message::aesni;
#[cfg(feature = "isa-avx2")]
pub(crate) use self::single_message::avx2;
