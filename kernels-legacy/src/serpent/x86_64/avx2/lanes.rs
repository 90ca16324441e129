//! CBC encryption of many messages, in registers of 256 bits: one or two groups of eight lanes.
//! Constant time in keys and data.
//!
//! One message is faster in ordinary registers.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::simd::{
    load128, load256 as load, opaque_place, store128, store256 as store,
};

use super::{across, rotate_left, s0, s1, s2, s3, s4, s5, s6, s7, shift_left, xor};
use crate::serpent::lanes::drive;
use crate::serpent::lanes::slots::Slots;
use crate::serpent::{Serpent, portable};

lanes!(__m256i, [0 1], 16, #[target_feature(enable = "avx2")]);

/// The fewest blocks of each of two messages for which transposing their keys pays.
const WORTH_TWO: usize = 3;

#[target_feature(enable = "avx2")]
pub(crate) fn cbc_encrypt_lanes(lanes: &mut [Lane<'_, Serpent, 16>]) {
    drive(lanes, WORTH_TWO, portable::cbc_encrypt, |slots, count| match count {
        2..=8 => encrypt_lanes::<1>(slots, 1),
        _ => encrypt_lanes::<2>(slots, 8),
    });
}

#[inline]
#[target_feature(enable = "avx2")]
fn linear_with([a, b, c, d]: [__m256i; 4], key: [__m256i; 4]) -> [__m256i; 4] {
    let a = rotate_left::<13, 19>(a);
    let c = rotate_left::<3, 29>(c);
    let b = xor(xor(xor(b, key[1]), c), a);
    let d = xor(xor(xor(d, key[3]), c), shift_left::<3>(a));
    let b = rotate_left::<1, 31>(b);
    let d = rotate_left::<7, 25>(d);
    let a = xor(xor(xor(a, key[0]), b), d);
    let c = xor(xor(xor(c, key[2]), d), shift_left::<7>(b));
    [rotate_left::<5, 27>(a), b, rotate_left::<22, 10>(c), d]
}

/// The register of two blocks.
#[inline]
#[target_feature(enable = "avx2")]
fn join([a, b]: [__m128i; 2]) -> __m256i {
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b)
}

/// The two blocks of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn split(x: __m256i) -> [__m128i; 2] {
    [_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x)]
}
