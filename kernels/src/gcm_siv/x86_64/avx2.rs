//! As `aesni`, in the encoding of AVX, which saves moves between registers.

use crate::ghash::x86_64::aesni::{
    self as narrow, Product, four_from, multiply, reduce, sum_of_halves,
};
use crate::simd::together128 as together;

kernel!(Avx2, #[target_feature(enable = "aes,avx2,bmi2,pclmulqdq")]);
