//! AES-GCM-SIV with AES instructions and PMULL. Constant time in key and data.

use crate::ghash::aarch64::armaes::{
    self as narrow, Product, four_from, multiply, reduce, sum_of_halves,
};

kernel!(ArmAes, #[target_feature(enable = "aes")]);

/// The compiler keeps the order of the source.
#[inline]
fn together(_: &mut [State; STEP]) {}
