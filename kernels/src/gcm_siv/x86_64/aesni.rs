//! AES-GCM-SIV with AES-NI and PCLMULQDQ on 128-bit registers. Constant time in key and data.

use crate::ghash::x86_64::aesni::{
    self as narrow, Product, four_from, multiply, reduce, sum_of_halves,
};
use crate::simd::together128 as together;

kernel!(AesNi, #[target_feature(enable = "aes,pclmulqdq,sse4.1,ssse3")]);
