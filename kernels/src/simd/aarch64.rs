//! Registers of AArch64.
//!
//! Each takes a reference to an array of exactly the register's size, so it is safe to call.
#![cfg(target_arch = "aarch64")]

use core::arch::aarch64::*;

/// Loads 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
pub fn load128(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the reference is valid for 16 bytes, and the load asks for no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Stores 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
pub fn store128(bytes: &mut [u8; 16], v: uint8x16_t) {
    // SAFETY: the reference is valid for 16 bytes, and the store asks for no alignment.
    unsafe { vst1q_u8(bytes.as_mut_ptr(), v) }
}
