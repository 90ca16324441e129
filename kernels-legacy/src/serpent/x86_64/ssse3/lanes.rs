//! CBC encryption of many messages, in registers of 128 bits: one or two groups of four lanes.
//! Constant time in keys and data.
//!
//! One message is faster in ordinary registers.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::simd::{
    load128, load128 as load, opaque_place, store128, store128 as store,
};

use super::{across, rotate_left, s0, s1, s2, s3, s4, s5, s6, s7, shift_left, xor};
use crate::serpent::lanes::drive;
use crate::serpent::lanes::slots::Slots;
use crate::serpent::{Serpent, portable};

lanes!(__m128i, [0], 8, #[target_feature(enable = "ssse3")]);

/// Blocks that each of two messages must have to win what transposing their keys costs.
const WORTH_TWO: usize = 2;

#[target_feature(enable = "ssse3")]
pub(crate) fn cbc_encrypt_lanes(lanes: &mut [Lane<'_, Serpent, 16>]) {
    drive(lanes, WORTH_TWO, portable::cbc_encrypt, |slots, count| match count {
        2..=4 => encrypt_lanes::<1>(slots, 1),
        _ => encrypt_lanes::<2>(slots, 4),
    });
}

#[inline]
#[target_feature(enable = "ssse3")]
fn linear_with([a, b, c, d]: [__m128i; 4], key: [__m128i; 4]) -> [__m128i; 4] {
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

#[inline]
#[target_feature(enable = "ssse3")]
fn join([x]: [__m128i; 1]) -> __m128i {
    x
}

#[inline]
#[target_feature(enable = "ssse3")]
fn split(x: __m128i) -> [__m128i; 1] {
    [x]
}
