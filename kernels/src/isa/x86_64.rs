//! The levels of x86-64.
#![cfg(target_arch = "x86_64")]

use super::Level;

levels! {
    is_x86_feature_detected:
    Ssse3 => "ssse3";
    AesNi => "aes", "pclmulqdq", "sse4.1";
    Avx2 => "avx2", "bmi1", "bmi2", "popcnt";
    Avx2Vaes => "vaes", "vpclmulqdq";
    Avx512 => "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512vbmi2",
        "avx512ifma", "gfni";
}
