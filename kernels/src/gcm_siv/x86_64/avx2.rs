//! As `aesni`, in the encoding of AVX, which saves moves between registers.

kernel!(Avx2, #[target_feature(enable = "aes,avx2,bmi2,pclmulqdq")]);
