//! The traits of the crate `aead`: the same bytes as the crates of RustCrypto.

use aead::inout::InOutBuf;
use aead::{Aead, AeadInOut, KeyInit, Payload};
use lanecrypt_ciphers::rustcrypto as ours;
use lanecrypt_testing::numbers::Numbers;

/// One cipher of ours against one of theirs, through the same calls.
macro_rules! same {
    ($test:ident, $ours:ty, $theirs:ty, key $key:literal, nonce $nonce:literal) => {
        #[test]
        fn $test() {
            let mut numbers = Numbers(1);
            for len in (0..70).chain([127, 128, 129, 255, 256, 257, 1000, 1500, 5000]) {
                let (key, nonce) = (numbers.bytes($key), numbers.bytes($nonce));
                let aad_length = numbers.below(50);
                let (aad, msg) = (numbers.bytes(aad_length), numbers.bytes(len));
                let ours = <$ours>::new_from_slice(&key).expect("a good length");
                let theirs = <$theirs>::new_from_slice(&key).expect("a good length");
                let nonce = nonce.as_slice().try_into().expect("a good length");
                let payload = |msg| Payload { msg, aad: &aad };

                let sealed = theirs.encrypt(nonce, payload(&msg)).expect("short enough");
                assert_eq!(ours.encrypt(nonce, payload(&msg)).as_ref(), Ok(&sealed), "{len}");
                assert_eq!(ours.decrypt(nonce, payload(&sealed)).as_ref(), Ok(&msg), "{len}");

                let mut apart = vec![0; len];
                let (text, tag) = sealed.split_at(len);
                let tag = tag.try_into().expect("16 bytes");
                let buffer = InOutBuf::new(text, &mut apart).expect("equal lengths");
                assert_eq!(ours.decrypt_inout_detached(nonce, &aad, buffer, tag), Ok(()), "{len}");
                assert_eq!(apart, msg, "{len}");

                let mut forged = sealed.clone();
                forged[numbers.below(len + 16)] ^= 0x10;
                assert_eq!(ours.decrypt(nonce, payload(&forged)), Err(aead::Error), "{len}");
                let buffer = InOutBuf::new(&forged[..len], &mut apart).expect("equal lengths");
                let tag = forged[len..].try_into().expect("16 bytes");
                let answer = ours.decrypt_inout_detached(nonce, &aad, buffer, tag);
                assert_eq!(answer, Err(aead::Error), "{len}");
                assert_eq!(apart, vec![0; len], "{len}: not wiped");
            }
        }
    };
}

same!(aes_128_gcm, ours::Aes128Gcm, aes_gcm::Aes128Gcm, key 16, nonce 12);
same!(
    aes_192_gcm, ours::Aes192Gcm,
    aes_gcm::AesGcm<aes::Aes192, aead::consts::U12>,
    key 24, nonce 12
);
same!(aes_256_gcm, ours::Aes256Gcm, aes_gcm::Aes256Gcm, key 32, nonce 12);
same!(
    chacha20_poly1305, ours::ChaCha20Poly1305, chacha20poly1305::ChaCha20Poly1305,
    key 32, nonce 12
);
same!(
    xchacha20_poly1305, ours::XChaCha20Poly1305, chacha20poly1305::XChaCha20Poly1305,
    key 32, nonce 24
);

#[test]
fn debug_output_hides_keys() {
    let cipher = ours::Aes128Gcm::new(&[77; 16]);
    assert_eq!(format!("{cipher:?}"), "Cipher { algorithm: aes-128-gcm, .. }");
}
