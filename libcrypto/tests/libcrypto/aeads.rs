//! Ciphers that authenticate against published vectors, and everything that must be refused.

use core::ffi::CStr;
use lanecrypt_libcrypto::{AeadCipher, Direction, Error, Libcrypto};

use crate::{builds, hex};

struct Vector {
    name: &'static CStr,
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tag: [u8; 16],
}

/// The GCM specification's test case 4; RFC 8439, 2.8.2.
fn vectors() -> [Vector; 2] {
    let tag = |text| hex(text).try_into().expect("16 bytes");
    let tip = "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the \
               future, sunscreen would be it.";
    [
        Vector {
            name: c"AES-128-GCM",
            key: hex("feffe9928665731c6d6a8f9467308308"),
            nonce: hex("cafebabefacedbaddecaf888"),
            aad: hex("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
            plain: hex("d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72
                        1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b39"),
            sealed: hex("42831ec2217774244b7221b784d0d49c e3aa212f2c02a4e035c17e2329aca12e
                         21d514b25466931c7d8f6a5aac84aa05 1ba30b396a0aac973d58e091"),
            tag: tag("5bc94fbc3221a5db94fae95ae7121a47"),
        },
        Vector {
            name: c"ChaCha20-Poly1305",
            key: (0x80..0xa0).collect(),
            nonce: hex("070000004041424344454647"),
            aad: hex("50515253c0c1c2c3c4c5c6c7"),
            plain: tip.as_bytes().to_vec(),
            sealed: hex("d31a8d34648e60db7b86afbc53ef7ec2 a4aded51296e08fea9e2b5a736ee62d6
                         3dbea45e8ca9671282fafb69da92728b 1a71de0a9e060b2905d6a5b67ecd3b36
                         92ddbd7f2d778b8c9803aee328091b58 fab324e4fad675945585808b4831d7bc
                         3ff4def08e4b7a9de576d26586cec64b 6116"),
            tag: tag("1ae10b594f09e26a7e902ecbd0600691"),
        },
    ]
}

/// By name, and fetched where the build can.
fn found(libcrypto: Libcrypto, name: &CStr) -> Vec<AeadCipher> {
    let named = libcrypto.named_aead(name).expect("every libcrypto has it");
    let fetched = libcrypto.fetch_aead(name);
    assert!(fetched.is_ok() || libcrypto.version().starts_with('1'), "{name:?}");
    [Ok(named), fetched].into_iter().flatten().collect()
}

#[test]
fn messages_are_as_published() {
    for libcrypto in builds() {
        println!("libcrypto {}", libcrypto.version());
        for vector in vectors() {
            let Vector { name, key, nonce, aad, plain, sealed, tag } = &vector;
            for cipher in found(libcrypto, name) {
                let mut sealing = cipher.context(Direction::Encrypt, key).expect("a key");
                let mut opening = cipher.context(Direction::Decrypt, key).expect("a key");
                for _ in 0..2 {
                    let (mut data, mut made) = (plain.clone(), [0; 16]);
                    sealing.seal(nonce, aad, &mut data, &mut made).expect("a message");
                    assert_eq!((&data, &made), (sealed, tag), "{name:?}");
                    opening.open(nonce, aad, sealed, tag, &mut data).expect("a message");
                    assert_eq!(&data, plain, "{name:?}");
                }
                let (mut data, mut made) = (plain.clone(), [0; 16]);
                cipher.seal(key, nonce, aad, &mut data, &mut made).expect("a message");
                assert_eq!((&data, &made), (sealed, tag), "{name:?}");
                cipher.open(key, nonce, aad, sealed, tag, &mut data).expect("a message");
                assert_eq!(&data, plain, "{name:?}");
            }
        }
    }
}

#[test]
fn another_key_takes_effect_alone_or_with_a_nonce() {
    for libcrypto in builds() {
        for vector in vectors() {
            let Vector { name, key, nonce, aad, plain, sealed, tag } = &vector;
            for cipher in found(libcrypto, name) {
                let other = vec![9; key.len()];
                let mut context = cipher.context(Direction::Encrypt, &other).expect("a key");
                let (mut data, mut made) = (plain.clone(), [0; 16]);
                context.seal(nonce, aad, &mut data, &mut made).expect("a message");
                assert_ne!((&data, &made), (sealed, tag));
                context.set_key(key).expect("a key");
                data.clone_from(plain);
                context.seal(nonce, aad, &mut data, &mut made).expect("a message");
                assert_eq!((&data, &made), (sealed, tag), "{name:?}");
                context.seal_rekeyed(&other, nonce, aad, &mut data, &mut made).expect("a message");
                data.clone_from(plain);
                context.seal_rekeyed(key, nonce, aad, &mut data, &mut made).expect("a message");
                assert_eq!((&data, &made), (sealed, tag), "{name:?}");

                let mut context = cipher.context(Direction::Decrypt, &other).expect("a key");
                context.open_rekeyed(key, nonce, aad, sealed, tag, &mut data).expect("a message");
                assert_eq!(&data, plain);
                context.set_key(&other).expect("a key");
                let forged = context.open(nonce, aad, sealed, tag, &mut data);
                assert_eq!(forged, Err(Error::Failed), "another key");
                context.set_key(key).expect("a key");
                context.open(nonce, aad, sealed, tag, &mut data).expect("a message");
                assert_eq!(&data, plain, "{name:?}");
            }
        }
    }
}

#[test]
fn whatever_is_changed_is_refused_and_leaves_zeros() {
    for libcrypto in builds() {
        for vector in vectors() {
            let Vector { name, key, nonce, aad, plain, sealed, tag } = &vector;
            for cipher in found(libcrypto, name) {
                let mut context = cipher.context(Direction::Decrypt, key).expect("a key");
                let mut refused = |nonce: &[u8], aad: &[u8], sealed: &[u8], tag: &[u8; 16]| {
                    let mut out = vec![7; sealed.len()];
                    let kept = context.open(nonce, aad, sealed, tag, &mut out);
                    let once = cipher.open(key, nonce, aad, sealed, tag, &mut out);
                    assert_eq!([kept, once], [Err(Error::Failed); 2], "{name:?}");
                    assert_eq!(out, vec![0; sealed.len()], "{name:?}");
                };
                for at in [0, 7, 11] {
                    let changed = |bytes: &[u8]| {
                        let mut bytes = bytes.to_vec();
                        bytes[at] ^= 0x40;
                        bytes
                    };
                    refused(&changed(nonce), aad, sealed, tag);
                    refused(nonce, &changed(aad), sealed, tag);
                    refused(nonce, aad, &changed(sealed), tag);
                    refused(nonce, aad, sealed, &changed(tag).try_into().expect("16 bytes"));
                }
                refused(nonce, &aad[1..], sealed, tag);
                refused(nonce, aad, &sealed[1..], tag);
                refused(nonce, aad, &[], tag);
                let mut out = plain.clone();
                context.open(nonce, aad, sealed, tag, &mut out).expect("the message itself");
                assert_eq!(&out, plain);
            }
        }
    }
}

#[test]
fn nothing_may_be_empty_and_still_be_authentic() {
    for libcrypto in builds() {
        for name in [c"AES-128-GCM", c"AES-256-GCM", c"ChaCha20-Poly1305"] {
            for cipher in found(libcrypto, name) {
                let key = vec![3; cipher.key_length()];
                let mut sealing = cipher.context(Direction::Encrypt, &key).expect("a key");
                let mut opening = cipher.context(Direction::Decrypt, &key).expect("a key");
                for aad in [&b""[..], b"a"] {
                    let mut tag = [0; 16];
                    sealing.seal(&[1; 12], aad, &mut [], &mut tag).expect("a message");
                    opening.open(&[1; 12], aad, &[], &tag, &mut []).expect("a message");
                    tag[0] ^= 1;
                    let forged = opening.open(&[1; 12], aad, &[], &tag, &mut []);
                    assert_eq!(forged, Err(Error::Failed), "{name:?}");
                }
            }
        }
    }
}

#[test]
fn wrong_lengths_directions_and_kinds_are_errors() {
    for libcrypto in builds() {
        let others = [
            c"AES-128-CTR",
            c"AES-128-CCM",
            c"AES-128-OCB",
            c"AES-128-WRAP",
            c"AES-128-XTS",
            c"AES-128-CBC-HMAC-SHA1",
            c"RC4-HMAC-MD5",
            c"AES-128-SIV",
            c"AES-128-GCM-SIV",
            c"AES-129-GCM",
        ];
        for name in others {
            let unsupported = Err(Error::Unsupported);
            assert_eq!(libcrypto.named_aead(name).map(|_| ()), unsupported, "{name:?}");
            assert_eq!(libcrypto.fetch_aead(name).map(|_| ()), unsupported, "{name:?}");
        }
        let gcm = libcrypto.named_aead(c"AES-128-GCM").expect("every libcrypto has it");
        assert_eq!(gcm.key_length(), 16);
        for len in [0, 15, 32] {
            let made = gcm.context(Direction::Encrypt, &vec![0; len]).map(|_| ());
            assert_eq!(made, Err(Error::KeyLength));
        }
        let mut sealing = gcm.context(Direction::Encrypt, &[0; 16]).expect("a key");
        let mut opening = gcm.context(Direction::Decrypt, &[0; 16]).expect("a key");
        let (mut data, mut tag) = ([5; 20], [0; 16]);
        assert_eq!(sealing.set_key(&[0; 8]), Err(Error::KeyLength));
        for len in [0, 11, 13, 16] {
            let nonce = vec![0; len];
            let sealed = sealing.seal(&nonce, b"", &mut data, &mut tag);
            assert_eq!((sealed, data), (Err(Error::IvLength), [5; 20]));
            let opened = opening.open(&nonce, b"", &[1; 20], &tag, &mut data);
            assert_eq!((opened, data), (Err(Error::IvLength), [0; 20]));
            data = [5; 20];
            let opened = gcm.open(&[0; 16], &nonce, b"", &[1; 20], &tag, &mut data);
            assert_eq!((opened, data), (Err(Error::IvLength), [0; 20]));
            data = [5; 20];
        }
        let (nonce, key) = ([0; 12], [0; 16]);
        assert_eq!(opening.seal(&nonce, b"", &mut data, &mut tag), Err(Error::Failed));
        assert_eq!(data, [5; 20]);
        sealing.seal(&nonce, b"", &mut data, &mut tag).expect("a message");
        let mut out = [9; 20];
        assert_eq!(sealing.open(&nonce, b"", &data, &tag, &mut out), Err(Error::Failed));
        assert_eq!(out, [0; 20]);
        for len in [19, 21] {
            let mut out = vec![9; len];
            let opened = gcm.open(&key, &nonce, b"", &data, &tag, &mut out);
            assert_eq!((opened, out), (Err(Error::DataLength), vec![0; len]));
        }
        opening.open(&nonce, b"", &data, &tag, &mut out).expect("a message");
        assert_eq!(out, [5; 20]);
        assert!(!format!("{gcm:?} {sealing:?}").contains("0x"));
    }
}
