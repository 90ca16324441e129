//! Ciphers against published vectors, and everything that must be refused.

use std::path::Path;
use std::thread;

use lanecrypt_libcrypto::{Direction, Error, Libcrypto};

use crate::{builds, hex};

/// NIST SP 800-38A, F.2.1 and F.5.1; RFC 8439, 2.4.2 (its nonce behind the counter 1).
fn vectors() -> [(&'static core::ffi::CStr, [Vec<u8>; 4]); 3] {
    let key = hex("2b7e151628aed2a6abf7158809cf4f3c");
    let plain = hex("6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51");
    let cbc = hex("7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2");
    let ctr = hex("874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff");
    let iv = hex("000102030405060708090a0b0c0d0e0f");
    let counter = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    [
        (c"AES-128-CBC", [key.clone(), iv, plain.clone(), cbc]),
        (c"AES-128-CTR", [key, counter, plain, ctr]),
        (
            c"ChaCha20",
            [
                (0..32).collect(),
                hex("01000000 000000000000004a00000000"),
                b"Ladies and Gentl".to_vec(),
                hex("6e2e359a2568f98041ba0728dd0d6981"),
            ],
        ),
    ]
}

#[test]
fn ciphers_answer_as_published() {
    for libcrypto in builds() {
        println!("libcrypto {}", libcrypto.version());
        for (name, [key, iv, plain, sealed]) in vectors() {
            for cipher in [libcrypto.named(name), libcrypto.fetch(name)] {
                let Ok(cipher) = cipher else {
                    assert!(libcrypto.version().starts_with('1'), "{name:?}");
                    continue;
                };
                let from =
                    [(Direction::Encrypt, &plain, &sealed), (Direction::Decrypt, &sealed, &plain)];
                for (direction, input, output) in from {
                    let mut context = cipher.context(direction, &key, &iv).expect("right lengths");
                    for _ in 0..2 {
                        let mut data = input.clone();
                        let (first, rest) = data.split_at_mut(cipher.block_size().max(5));
                        context.update(first).expect("whole blocks");
                        context.update(rest).expect("whole blocks");
                        context.finish().expect("nothing is left");
                        assert_eq!(&data, output, "{name:?} {direction:?}");
                        context.set_iv(&iv).expect("the right length");
                    }
                }
            }
        }
    }
}

#[test]
fn another_key_is_another_context() {
    for libcrypto in builds() {
        for (name, [key, iv, plain, sealed]) in vectors() {
            let cipher = libcrypto.named(name).expect("every libcrypto has it");
            let other = vec![9; key.len()];
            let mut context =
                cipher.context(Direction::Encrypt, &other, &iv).expect("right lengths");
            let mut data = plain.clone();
            context.update(&mut data).expect("whole blocks");
            assert_ne!(data, sealed);
            context.set_key(&key).expect("the right length");
            context.set_iv(&iv).expect("the right length");
            data.clone_from(&plain);
            context.update(&mut data).expect("whole blocks");
            assert_eq!(data, sealed, "{name:?}");
        }
    }
}

#[test]
fn wrong_lengths_and_unknown_names_are_errors() {
    for libcrypto in builds() {
        let unknown = libcrypto.fetch(c"AES-129-CBC").map(|_| ());
        assert_eq!(unknown, Err(Error::Unsupported));
        assert_eq!(libcrypto.named(c"").map(|_| ()), Err(Error::Unsupported));
        let cbc = libcrypto.named(c"AES-128-CBC").expect("every libcrypto has it");
        assert_eq!((cbc.key_length(), cbc.iv_length(), cbc.block_size()), (16, 16, 16));
        let open = |key: &[u8], iv: &[u8]| cbc.context(Direction::Encrypt, key, iv).map(|_| ());
        assert_eq!(open(&[0; 15], &[0; 16]), Err(Error::KeyLength));
        assert_eq!(open(&[0; 32], &[0; 16]), Err(Error::KeyLength));
        assert_eq!(open(&[0; 16], &[]), Err(Error::IvLength));
        let mut context = cbc.context(Direction::Decrypt, &[0; 16], &[0; 16]).expect("right");
        assert_eq!(context.set_iv(&[0; 17]), Err(Error::IvLength));
        assert_eq!(context.set_key(&[0; 8]), Err(Error::KeyLength));
        for len in [1, 15, 17, 31] {
            let mut data = [7; 32];
            assert_eq!(context.update(&mut data[..len]), Err(Error::DataLength), "{len}");
            assert_eq!(data, [7; 32]);
        }
        assert_eq!(context.update(&mut []), Ok(()));
        assert!(!format!("{cbc:?} {context:?}").contains("0x"));
    }
}

#[test]
fn what_authenticates_or_wraps_is_refused() {
    for libcrypto in builds() {
        for name in [c"AES-128-GCM", c"ChaCha20-Poly1305", c"AES-128-WRAP", c"AES-128-CCM"] {
            assert_eq!(libcrypto.named(name).map(|_| ()), Err(Error::Unsupported), "{name:?}");
            assert_eq!(libcrypto.fetch(name).map(|_| ()), Err(Error::Unsupported), "{name:?}");
        }
    }
}

/// IEEE 1619-2007, vectors 2 and 15 (the latter by ciphertext stealing).
#[test]
fn data_units_come_whole() {
    let units = [
        (
            "11111111111111111111111111111111 22222222222222222222222222222222",
            "33333333330000000000000000000000",
            "4444444444444444444444444444444444444444444444444444444444444444",
            "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
        ),
        (
            "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0 bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
            "9a785634120000000000000000000000",
            "000102030405060708090a0b0c0d0e0f10",
            "6c1625db4671522d3d7599601de7ca09ed",
        ),
    ];
    for libcrypto in builds() {
        let cipher = libcrypto.named(c"AES-128-XTS").expect("every libcrypto has it");
        assert_eq!((cipher.key_length(), cipher.iv_length(), cipher.block_size()), (32, 16, 1));
        for (key, iv, plain, sealed) in units {
            let [key, iv, plain, sealed] = [key, iv, plain, sealed].map(hex);
            let from =
                [(Direction::Encrypt, &plain, &sealed), (Direction::Decrypt, &sealed, &plain)];
            for (direction, input, output) in from {
                let mut context = cipher.context(direction, &key, &iv).expect("right lengths");
                for _ in 0..2 {
                    let mut data = input.clone();
                    assert_eq!(context.update(&mut data[..15]), Err(Error::DataLength));
                    assert_eq!(context.update(&mut []), Err(Error::DataLength));
                    context.update(&mut data).expect("a data unit");
                    assert_eq!(&data, output, "{direction:?}");
                    assert_eq!(context.update(&mut data), Err(Error::DataLength), "a second one");
                    assert_eq!(&data, output);
                    context.set_iv(&iv).expect("the right length");
                }
            }
        }
    }
}

#[test]
fn legacy_ciphers_do_not_change_the_rest() {
    for libcrypto in builds() {
        match libcrypto.fetch_legacy(c"DES-CBC") {
            Ok(des) => {
                assert_eq!((des.key_length(), des.block_size()), (8, 8));
                // FIPS 46-3's example: key 133457799BBCDFF1, zero IV.
                let key = hex("133457799bbcdff1");
                let mut context = des.context(Direction::Encrypt, &key, &[0; 8]).expect("right");
                let mut data = hex("0123456789abcdef");
                context.update(&mut data).expect("a block");
                assert_eq!(data, hex("85e813540f0ab405"));
            }
            Err(error) => {
                assert_eq!(error, Error::Unsupported);
                println!("SKIPPED openssl-legacy: apt install openssl-provider-legacy");
            }
        }
        assert!(libcrypto.fetch(c"DES-CBC").is_err(), "the default context has it");
        assert_eq!(libcrypto.fetch_legacy(c"AES-129-CBC").map(|_| ()), Err(Error::Unsupported));
    }
}

#[test]
fn several_threads_share_a_cipher() {
    for libcrypto in builds() {
        let (name, [key, iv, plain, sealed]) = vectors()[1].clone();
        let cipher = libcrypto.named(name).expect("every libcrypto has it");
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let mut context =
                            cipher.context(Direction::Encrypt, &key, &iv).expect("right lengths");
                        let mut data = plain.clone();
                        context.update(&mut data).expect("counter mode takes any length");
                        assert_eq!(data, sealed);
                    }
                });
            }
        });
    }
}

#[test]
fn random_bytes_differ() {
    for libcrypto in builds() {
        let (mut first, mut second) = ([0; 32], [0; 32]);
        libcrypto.random(&mut first).expect("there is entropy");
        libcrypto.random(&mut second).expect("there is entropy");
        assert_ne!(first, second);
    }
}

#[test]
fn a_path_that_leads_nowhere_is_an_error() {
    // SAFETY: there is no such file.
    let opened = unsafe { Libcrypto::open_at(Path::new("/nonexistent/libcrypto.so")) };
    let error = opened.map(|_| ()).expect_err("it is not there");
    assert!(error.to_string().contains("/nonexistent/libcrypto.so"), "{error}");
    // SAFETY: the C library is open already, and has none of the functions that would be called.
    let opened = unsafe { Libcrypto::open_at(Path::new("libc.so.6")) };
    let error = opened.map(|_| ()).expect_err("it is no libcrypto");
    assert!(error.to_string().contains("ERR_clear_error"), "{error}");
}
