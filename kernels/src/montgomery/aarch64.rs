//! Kernels of AArch64.
#![cfg(target_arch = "aarch64")]

pub(crate) mod neon;
