//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

#[macro_use]
mod polyval;
#[macro_use]
mod message;
#[macro_use]
mod registers128;

pub(crate) mod aesni {
    //! AES-NI and PCLMULQDQ on 128-bit registers.
    kernel!(AesNi, #[target_feature(enable = "aes,pclmulqdq,sse4.1,ssse3")]);
}

#[cfg(feature = "isa-avx2")]
pub(crate) mod avx2 {
    //! The same instructions in the encoding of AVX.
    kernel!(Avx2, #[target_feature(enable = "aes,avx2,bmi2,pclmulqdq")]);
}

#[cfg(feature = "isa-avx2")]
pub(crate) mod avx2vaes;
