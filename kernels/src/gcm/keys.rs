//! Keys of GCM: the key schedule, the hash key that it encrypts, and the powers of that, all in one
//! call and in place. Constant time in the key.

pub(crate) mod x86_64;

use super::AesGcm;
use crate::Aead;

macro_rules! key_size {
    ($bits:literal, $set:ident) => {
        pub(super) fn $set(gcm: &mut AesGcm<$bits>, key: &[u8; $bits / 8]) {
            by_isa!(crate::gcm::keys, gcm.isa(), $set(gcm, key):
                Avx512, Avx2Vaes, AesNi, _ => apart);
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
