//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

pub(crate) mod sse2;
