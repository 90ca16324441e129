//! Keys of GCM: the key schedule, the hash key that it encrypts, and the powers of that, all in one
//! call and in place. Constant time in the key.

/// The kernels of a level, by `expand128`, `expand192`, `expand256` and `fill_from` of its kernels
/// of AES and GHASH.
macro_rules! level {
    ($level:ident, $features:literal) => {
        use crate::Level;
        use crate::gcm::AesGcm;
        use crate::simd::{first_key, last_round, load128, round, zero128};

        pub(crate) const NEEDS: Level = Level::$level;

        level!(@size 128, set128, expand128, $features);
        level!(@size 192, set192, expand192, $features);
        level!(@size 256, set256, expand256, $features);
    };
    (@size $bits:literal, $set:ident, $expand:ident, $features:literal) => {
        #[target_feature(enable = $features)]
        pub(crate) fn $set(gcm: &mut AesGcm<$bits>, key: &[u8; $bits / 8]) {
            let keys = gcm.cipher.forward_mut();
            $expand(key, keys);
            // The rounds run while the round keys are made.
            let mut h = first_key(zero128(), load128(keys.first()));
            for r in 1..$bits / 32 + 6 {
                h = round(h, load128(keys.of_round(r)));
            }
            let h = last_round(h, load128(keys.of_round($bits / 32 + 6)));
            fill_from(gcm.hash.powers_mut(), h);
        }
    };
}

pub(crate) mod aarch64;
pub(crate) mod x86_64;

use super::AesGcm;
use crate::Aead;

macro_rules! key_size {
    ($bits:literal, $set:ident) => {
        pub(super) fn $set(gcm: &mut AesGcm<$bits>, key: &[u8; $bits / 8]) {
            by_isa!(crate::gcm::keys, gcm.isa(), $set(gcm, key):
                Avx512, Avx2Vaes, AesNi, ArmAes, _ => apart);
        }
    };
}

key_size!(128, set128);
key_size!(192, set192);
key_size!(256, set256);

/// By the kernels of the block cipher and of the hash, at levels without AES instructions.
mod apart {
    use crate::gcm::AesGcm;
    use crate::gcm::message::LOW;
    use crate::{Aead, BlockEncrypt, aes, wipe};

    macro_rules! key_size {
        ($bits:literal, $set:ident) => {
            pub(super) fn $set(gcm: &mut AesGcm<$bits>, key: &[u8; $bits / 8]) {
                gcm.cipher.set_key(key);
                // A block of zeros encrypted is the keystream of the counter zero.
                let (isa, mut h) = (gcm.isa(), [0; 16]);
                let keys = gcm.cipher.forward();
                aes::ctr::xor_from::<LOW>(isa, keys, 0, (&mut h[..]).into());
                gcm.hash.set(&h);
                wipe::memory(&mut h);
            }
        };
    }

    key_size!(128, set128);
    key_size!(192, set192);
    key_size!(256, set256);
}
