//! Registers of AArch64.
//!
//! Each takes a reference to an array of exactly the register's size, so it is safe to call.
#![cfg(target_arch = "aarch64")]

use core::arch::aarch64::*;
use core::arch::asm;

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

/// Loads four words.
#[inline]
#[target_feature(enable = "neon")]
pub fn load_words(words: &[u32; 4]) -> uint32x4_t {
    // SAFETY: the reference is valid for 16 bytes, and the load asks for no alignment.
    unsafe { vld1q_u32(words.as_ptr()) }
}

/// Loads two words of 64 bits.
#[inline]
#[target_feature(enable = "neon")]
pub fn load_pair(words: &[u64; 2]) -> uint64x2_t {
    // SAFETY: the reference is valid for 16 bytes, and the load asks for no alignment.
    unsafe { vld1q_u64(words.as_ptr()) }
}

/// Stores two words of 64 bits.
#[inline]
#[target_feature(enable = "neon")]
pub fn store_pair(words: &mut [u64; 2], v: uint64x2_t) {
    // SAFETY: the reference is valid for 16 bytes, and the store asks for no alignment.
    unsafe { vst1q_u64(words.as_mut_ptr(), v) }
}

/// Hides a number from the compiler, which would unroll a loop that runs a known number of times.
#[inline]
pub fn opaque_count(mut n: usize) -> usize {
    // SAFETY: the assembly is empty and leaves the register as it was.
    unsafe { asm!("/* {0} */", inout(reg) n, options(pure, nomem, nostack, preserves_flags)) };
    n
}
