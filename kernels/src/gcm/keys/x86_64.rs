//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

pub(crate) mod aesni {
    use crate::aes::x86_64::aesni::{expand128, expand192, expand256};
    use crate::ghash::x86_64::aesni::fill_from;

    level!(AesNi, "aes,pclmulqdq,sse4.1,ssse3");
}
#[cfg(feature = "isa-avx2")]
pub(crate) mod avx2vaes {
    use crate::aes::x86_64::aesni::{expand128, expand192, expand256};
    use crate::ghash::x86_64::avx2vaes::fill_from;

    level!(Avx2Vaes, "aes,avx2,vpclmulqdq,pclmulqdq");
}
#[cfg(feature = "isa-avx512")]
pub(crate) mod avx512 {
    use crate::aes::x86_64::aesni::{expand128, expand192, expand256};
    use crate::ghash::x86_64::avx512::fill_from;

    level!(Avx512, "aes,avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq,pclmulqdq,sse4.1,ssse3");
}
