//! Kernels of AArch64.
#![cfg(target_arch = "aarch64")]

#[macro_use]
mod registers128;
pub(crate) mod armaes;
pub(crate) mod armsha3;
