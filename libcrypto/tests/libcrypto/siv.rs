//! AES-SIV against a published vector, several messages by one context, and what must be refused.

use lanecrypt_libcrypto::{Direction, Error};

use crate::{builds, hex};

/// RFC 5297, A.2.
#[test]
fn messages_are_as_published() {
    let key = hex("7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f");
    let strings = [
        hex("00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100"),
        hex("102030405060708090a0"),
        hex("09f911029d74e35bd84156c5635688c0"),
    ];
    let strings: Vec<&[u8]> = strings.iter().map(|string| &string[..]).collect();
    let plain = b"this is some plaintext to encrypt using SIV-AES";
    let sealed = hex("cb900f2fddbe404326601965c889bf17 dba77ceb094fa663b7a3f748ba8af829
                      ea64ad544a272e9c485b62a3fd5c0d");
    let v: [u8; 16] = hex("7bdb6e3b432667eb06f4d14bff2fbd0f").try_into().expect("16 bytes");
    for libcrypto in builds() {
        let Ok(siv) = libcrypto.fetch_siv(c"AES-128-SIV") else {
            assert!(libcrypto.version().starts_with('1'), "from 3.0 on it is there");
            continue;
        };
        assert_eq!(siv.key_length(), 32);
        let mut sealing = siv.context(Direction::Encrypt).expect("a context");
        let mut opening = siv.context(Direction::Decrypt).expect("a context");
        for _ in 0..3 {
            let (mut data, mut made) = (*plain, [0; 16]);
            sealing.seal(&key, &strings, &mut data, &mut made).expect("good lengths");
            assert_eq!((&data[..], made), (&sealed[..], v));
            let mut out = [0; 47];
            assert_eq!(opening.open(&key, &strings, &sealed, &v, &mut out), Ok(()));
            assert_eq!(&out, plain);

            // An empty string counts, and so does each bit.
            for wrong in [&[&strings[..], &[b""]].concat()[..], &strings[1..]] {
                assert_eq!(opening.open(&key, wrong, &sealed, &v, &mut out), Err(Error::Failed));
                assert_eq!(out, [0; 47]);
            }
            let mut other = v;
            other[7] ^= 1;
            let opened = opening.open(&key, &strings, &sealed, &other, &mut out);
            assert_eq!((opened, out), (Err(Error::Failed), [0; 47]));
        }
    }
}

#[test]
fn wrong_lengths_directions_and_kinds_are_errors() {
    for libcrypto in builds() {
        for name in [c"AES-128-GCM", c"AES-128-CTR", c"AES-128-GCM-SIV", c"AES-129-SIV"] {
            assert_eq!(libcrypto.fetch_siv(name).map(|_| ()), Err(Error::Unsupported), "{name:?}");
        }
        let Ok(siv) = libcrypto.fetch_siv(c"AES-128-SIV") else { continue };
        let mut sealing = siv.context(Direction::Encrypt).expect("a context");
        let mut opening = siv.context(Direction::Decrypt).expect("a context");
        let (mut data, mut v) = ([1; 20], [0; 16]);
        for length in [0, 16, 31, 33] {
            let refused = sealing.seal(&vec![0; length], &[], &mut data, &mut v);
            assert_eq!(refused, Err(Error::KeyLength));
        }
        assert_eq!(opening.seal(&[0; 32], &[], &mut data, &mut v), Err(Error::Failed));
        assert_eq!(sealing.open(&[0; 32], &[], &[2; 20], &v, &mut data), Err(Error::Failed));
        assert_eq!(data, [0; 20]);
        assert_eq!(opening.open(&[0; 32], &[], &[2; 19], &v, &mut data), Err(Error::DataLength));
    }
}
