//! Keys of GCM: the key schedule, the hash key that it encrypts, and the powers of that, all in one
//! call and in place. Constant time in the key.

use super::AesGcm;

macro_rules! key_size {
    ($bits:literal, $set:ident) => {
        pub(super) fn $set(gcm: &mut AesGcm<$bits>, key: &[u8; $bits / 8]) {
            by_isa!(gcm.isa(), $set(gcm, key): Avx512 => avx512, Avx2Vaes => avx2vaes,
                AesNi => aesni, _ => apart);
        }
    };
}

key_size!(128, set128);
key_size!(192, set192);
key_size!(256, set256);

/// The kernels of one level, by the function `fill_from` of a kernel of GHASH.
#[cfg(target_arch = "x86_64")]
macro_rules! level {
    ($level:ident, $module:ident, $ghash:ident, $features:literal) => {
        mod $module {
            use core::arch::x86_64::*;

            use crate::Level;
            use crate::aes::expand;
            use crate::gcm::AesGcm;
            use crate::ghash::$ghash::fill_from;
            use crate::simd::load128;

            pub(super) const NEEDS: Level = Level::$level;

            level!(@size 128, set128, expand128, $features);
            level!(@size 192, set192, expand192, $features);
            level!(@size 256, set256, expand256, $features);
        }
    };
    (@size $bits:literal, $set:ident, $expand:ident, $features:literal) => {
        #[target_feature(enable = $features)]
        pub(super) fn $set(gcm: &mut AesGcm<$bits>, key: &[u8; $bits / 8]) {
            let schedule = gcm.cipher.schedule_mut();
            expand::$expand(key, schedule);
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

#[cfg(target_arch = "x86_64")]
level!(AesNi, aesni, pclmul, "aes,pclmulqdq,sse4.1,ssse3");
#[cfg(all(target_arch = "x86_64", feature = "isa-avx2"))]
level!(Avx2Vaes, avx2vaes, vpclmul256, "aes,avx2,vpclmulqdq,pclmulqdq");
#[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
level!(
    Avx512,
    avx512,
    vpclmul,
    "aes,avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq,pclmulqdq,sse4.1,ssse3"
);

/// By the kernels of the block cipher and of the hash, at levels without AES instructions.
mod apart {
    use crate::gcm::AesGcm;
    use crate::gcm::message::LOW;
    use crate::{BlockEncrypt, aes, wipe};

    macro_rules! key_size {
        ($bits:literal, $set:ident) => {
            pub(super) fn $set(gcm: &mut AesGcm<$bits>, key: &[u8; $bits / 8]) {
                gcm.cipher.set_key(key);
                // A block of zeros encrypted is the keystream of the counter zero.
                let (isa, mut h) = (gcm.isa(), [0; 16]);
                let keys = gcm.cipher.forward();
                aes::ctr::xor_from::<_, LOW>(isa, keys, 0, (&mut h[..]).into());
                gcm.hash.set(&h);
                wipe::memory(&mut h);
            }
        };
    }

    key_size!(128, set128);
    key_size!(192, set192);
    key_size!(256, set256);
}
