//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

/// The kernels of one level, by the function `fill_from` of its kernel of GHASH.
macro_rules! level {
    ($level:ident, $module:ident, $features:literal) => {
        pub(crate) mod $module {
            use core::arch::x86_64::*;

            use crate::Level;
            use crate::aes::x86_64::aesni;
            use crate::gcm::AesGcm;
            use crate::ghash::x86_64::$module::fill_from;
            use crate::simd::load128;

            pub(crate) const NEEDS: Level = Level::$level;

            level!(@size 128, set128, expand128, $features);
            level!(@size 192, set192, expand192, $features);
            level!(@size 256, set256, expand256, $features);
        }
    };
    (@size $bits:literal, $set:ident, $expand:ident, $features:literal) => {
        #[target_feature(enable = $features)]
        pub(crate) fn $set(gcm: &mut AesGcm<$bits>, key: &[u8; $bits / 8]) {
            let schedule = gcm.cipher.schedule_mut();
            aesni::$expand(key, schedule);
            // The rounds run while the round keys are made.
            let (keys, _) = schedule.split_at($bits / 32 + 7);
            let mut h = load128(&keys[0]);
            for key in &keys[1..$bits / 32 + 6] {
                h = _mm_aesenc_si128(h, load128(key));
            }
            h = _mm_aesenclast_si128(h, load128(&keys[$bits / 32 + 6]));
            fill_from(gcm.hash.powers_mut(), h);
        }
    };
}

level!(AesNi, aesni, "aes,pclmulqdq,sse4.1,ssse3");
#[cfg(feature = "isa-avx2")]
level!(Avx2Vaes, avx2vaes, "aes,avx2,vpclmulqdq,pclmulqdq");
#[cfg(feature = "isa-avx512")]
level!(Avx512, avx512, "aes,avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq,pclmulqdq,sse4.1,ssse3");
