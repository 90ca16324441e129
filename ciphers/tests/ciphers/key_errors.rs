//! What a refused key says: whose key it is, how long it is, and how long it may be.

use lanecrypt_ciphers::hazmat::{HeaderProtectionKey, RawCipher, Stream, TlsCbc};
use lanecrypt_ciphers::{Algorithm, Cipher, Error, Isa, KeyError, Mac};

/// What every way to give `algorithm` a key says of this one, which is wrong.
fn refusals(algorithm: Algorithm, wrong: &[u8]) -> Vec<KeyError> {
    let right: Vec<u8> = (0..=255).cycle().take(algorithm.key_lengths().longest()).collect();
    let mut refused = Vec::new();
    if algorithm.is_aead() {
        refused.push(Cipher::new(algorithm, wrong).err());
        refused.push(Cipher::boxed(algorithm, wrong).err());
        let mut cipher = Cipher::new(algorithm, &right).expect("a good key");
        refused.push(cipher.set_key(wrong).err());
    } else if let Ok(mut cipher) = RawCipher::new(algorithm, &right) {
        refused.push(RawCipher::new(algorithm, wrong).err());
        refused.push(RawCipher::boxed(algorithm, wrong).err());
        refused.push(cipher.set_key(wrong).err());
    }
    if algorithm.is_stream() {
        let nonce = vec![2; algorithm.nonce_length()];
        refused.push(Stream::new(Isa::PORTABLE, algorithm, wrong, &nonce).err());
    }
    refused.into_iter().map(|refused| refused.expect("a wrong key")).collect()
}

#[test]
fn a_message_has_the_length_and_those_that_are_needed() {
    for (name, length, expected) in [
        ("aes-128-gcm", 24, "a key of 24 bytes where 16 are needed"),
        ("aes-256-xts", 32, "a key of 32 bytes where 64 are needed"),
        ("aes-128-cbc+hmac-sha1", 32, "a key of 32 bytes where 36 are needed"),
        ("aes-128-cbc+hmac-sha256", 16, "a key of 16 bytes where 32 or 48 are needed"),
        ("chacha20-djb", 24, "a key of 24 bytes where 16 or 32 are needed"),
        ("serpent-192-ctr", 1, "a key of 1 byte where 24 are needed"),
        ("chacha20-poly1305", 0, "a key of 0 bytes where 32 are needed"),
        ("null", 16, "a key of 16 bytes where none is needed"),
        ("3des-cbc", 8, "a key of 8 bytes where 16 or 24 are needed"),
        ("arc4", 4, "a key of 4 bytes where 5 to 256 are needed"),
    ] {
        let algorithm = name.parse().expect("a row");
        for refused in refusals(algorithm, &vec![1; length]) {
            assert_eq!(refused.to_string(), format!("{name}: {expected}"));
        }
    }
}

#[test]
fn every_wrong_length_is_told() {
    for &algorithm in Algorithm::ALL {
        for length in (0..300).filter(|&length| !algorithm.key_lengths().contains(length)) {
            let refused = refusals(algorithm, &vec![1; length]);
            assert!(!refused.is_empty(), "{algorithm}");
            for error in refused {
                assert_eq!(error, Error::KeyLength, "{algorithm} {length}");
                assert_eq!(Error::from(error), Error::KeyLength);
                let begins = format!("{algorithm}: a key of {length} byte");
                assert!(error.to_string().starts_with(&begins), "{error}");
            }
        }
    }
}

#[test]
fn other_reasons_are_told_without_numbers() {
    let [weak, unsupported] = [
        (RawCipher::new(Algorithm::AES_128_XTS, &[1; 32]).err(), "aes-128-xts: weak key"),
        (Cipher::new(Algorithm::AES_128_CBC, &[1; 16]).err(), "aes-128-cbc: unsupported"),
    ]
    .map(|(refused, expected)| {
        let refused = refused.expect("no such cipher");
        assert_eq!(refused.to_string(), expected);
        refused
    });
    assert_eq!(weak, Error::WeakKey);
    assert_eq!(Error::Unsupported, unsupported);
    assert_ne!(weak, unsupported);
    // Two errors are equal if all of them is, also the algorithm and the length.
    let of = |algorithm, length| Cipher::new(algorithm, &vec![1; length]).err();
    assert_eq!(of(Algorithm::AES_128_GCM, 5), of(Algorithm::AES_128_GCM, 5));
    assert_ne!(of(Algorithm::AES_128_GCM, 5), of(Algorithm::AES_128_GCM, 6));
    assert_ne!(of(Algorithm::AES_128_GCM, 5), of(Algorithm::AES_256_GCM, 5));
}

#[test]
fn what_comes_beside_a_key_is_told() {
    let stream = Stream::new(Isa::PORTABLE, Algorithm::CHACHA20_IETF, &[1; 32], &[2; 8]);
    let refused = stream.expect_err("a short nonce");
    assert_eq!(refused, Error::NonceLength);
    assert_eq!(refused.to_string(), "chacha20-ietf: a nonce of 8 bytes where 12 are needed");

    let keys = TlsCbc::new(Algorithm::AES_128_CBC, &[1; 16], Mac::HmacSha256, &[2; 20]);
    let refused = keys.expect_err("a short key of the code");
    assert_eq!(refused, Error::KeyLength);
    assert_eq!(refused.to_string(), "hmac-sha256: a key of 20 bytes where 32 are needed");

    let keys = TlsCbc::new(Algorithm::AES_128_CBC, &[1; 17], Mac::HmacSha256, &[2; 32]);
    let refused = keys.expect_err("a long key of the cipher");
    assert_eq!(refused.to_string(), "aes-128-cbc: a key of 17 bytes where 16 are needed");

    let mask = HeaderProtectionKey::new(Isa::PORTABLE, Algorithm::AES_256_GCM, &[1; 16]);
    let refused = mask.expect_err("half of a key");
    assert_eq!(refused.to_string(), "aes-256-gcm: a key of 16 bytes where 32 are needed");
}
