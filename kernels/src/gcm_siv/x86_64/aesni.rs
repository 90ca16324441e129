//! AES-GCM-SIV with AES-NI and PCLMULQDQ on 128-bit registers. Constant time in key and data.

kernel!(AesNi, #[target_feature(enable = "aes,pclmulqdq,sse4.1,ssse3")]);
