//! What the front door refuses: the exact error, nothing written, and the message goes on.

mod refusals;

use lanecrypt_ciphers::{Algorithm, Cipher, Error, Isa, Mode};
use refusals::Refusals;

/// What no refused call may write over.
const UNTOUCHED: u8 = 0xa5;

#[test]
fn every_misuse_is_refused_exactly() {
    let mut refusals = Refusals::default();
    not_aeads(&mut refusals);
    for &algorithm in Algorithm::ALL.iter().filter(|row| row.is_aead()) {
        wrong_keys(&mut refusals, algorithm);
        wrong_tag_lengths(&mut refusals, algorithm);
        for cipher in with_each_tag(algorithm) {
            wrong_nonces(&mut refusals, &cipher);
            wrong_tags(&mut refusals, &cipher);
            wrong_rooms(&mut refusals, &cipher);
            short_packets(&mut refusals, &cipher);
            pieces_out_of_order(&mut refusals, &cipher);
        }
    }
    for &(tag, longest) in &[(4, 1 << 10), (8, 1 << 21)] {
        long_packets(&mut refusals, tag, longest);
    }
    let (count, calls) = refusals.counts();
    println!("{count} distinct misuses in {calls} calls");
    assert!(count >= 100, "{count} misuses only");
}

fn with_each_tag(algorithm: Algorithm) -> Vec<Cipher> {
    let lengths: &[usize] =
        if algorithm.mode() == Mode::Gcm { &[16, 15, 14, 13, 12, 8, 4] } else { &[16] };
    let keyed = |&length: &usize| {
        let key: Vec<u8> = (3..).take(algorithm.key_lengths().longest()).collect();
        let mut cipher = Cipher::new(algorithm, &key).expect("a good key");
        cipher.set_tag_length(length).expect("a good length");
        cipher
    };
    lengths.iter().map(keyed).collect()
}

fn nonce(cipher: &Cipher) -> Vec<u8> {
    vec![0x3c; cipher.algorithm().nonce_length()]
}

fn what(kind: &str, cipher: &Cipher) -> String {
    format!("{kind}, {} with tags of {} bytes", cipher.algorithm(), cipher.tag_length())
}

/// Asserts that a call was refused that would have written over `len` bytes and `tag`.
fn untouched<T>(
    refusals: &mut Refusals,
    what: &str,
    error: Error,
    [len, tag]: [usize; 2],
    call: impl FnOnce(&mut [u8], &mut [u8]) -> Result<T, Error>,
) {
    let (mut data, mut tag) = (vec![UNTOUCHED; len], vec![UNTOUCHED; tag]);
    let answer = call(&mut data, &mut tag);
    refusals.note(what, answer, error);
    assert!(data.iter().chain(&tag).all(|&byte| byte == UNTOUCHED), "{what}: written");
}

fn not_aeads(refusals: &mut Refusals) {
    for &algorithm in Algorithm::ALL.iter().filter(|row| !row.is_aead()) {
        // Whatever the length of the key is.
        for length in [0, algorithm.key_lengths().longest()] {
            let refused = Cipher::new(algorithm, &vec![1; length]);
            refusals.note(&format!("not an aead: {algorithm}"), refused, Error::Unsupported);
        }
    }
}

fn wrong_keys(refusals: &mut Refusals, algorithm: Algorithm) {
    let right = algorithm.key_lengths().longest();
    let mut cipher = Cipher::new(algorithm, &vec![1; right]).expect("a good key");
    for length in [0, 1, 15, 16, 17, 24, 31, 32, 33, 64, 300].into_iter().filter(|&n| n != right) {
        let (key, error) = (vec![1; length], Error::KeyLength);
        let what = format!("key of a wrong length: {algorithm}");
        refusals.note(&what, Cipher::new(algorithm, &key), error);
        refusals.note(&what, Cipher::with_isa(Isa::PORTABLE, algorithm, &key), error);
        refusals.note(&what, cipher.set_key(&key), error);
    }
}

fn wrong_tag_lengths(refusals: &mut Refusals, algorithm: Algorithm) {
    let key = vec![1; algorithm.key_lengths().longest()];
    let mut cipher = Cipher::new(algorithm, &key).expect("a good key");
    let gcm = algorithm.mode() == Mode::Gcm;
    let right = |n: usize| n == 16 || gcm && (n == 4 || n == 8 || (12..16).contains(&n));
    for length in (0..40).chain([usize::MAX]).filter(|&n| !right(n)) {
        let what = format!("no such tags: {algorithm}");
        refusals.note(&what, cipher.set_tag_length(length), Error::TagLength);
        assert_eq!(cipher.tag_length(), 16);
    }
    assert!((0..40).filter(|&n| right(n)).all(|n| cipher.set_tag_length(n) == Ok(())));
}

fn wrong_nonces(refusals: &mut Refusals, cipher: &Cipher) {
    let (error, tag) = (Error::NonceLength, cipher.tag_length());
    let wrong: &[usize] = match cipher.algorithm() {
        algorithm if algorithm.mode() == Mode::Gcm => &[0],
        Algorithm::XCHACHA20_POLY1305 => &[0, 8, 12, 23, 25],
        _ => &[0, 8, 11, 13, 24],
    };
    for &length in wrong {
        let nonce = &vec![1; length][..];
        let what = what("nonce of a wrong length", cipher);
        untouched(refusals, &what, error, [33, tag], |data, tag| {
            cipher.seal_detached(nonce, b"", data, tag)
        });
        untouched(refusals, &what, error, [33, tag], |data, tag| {
            cipher.open_detached(nonce, b"", data, tag)
        });
        untouched(refusals, &what, error, [33, 0], |data, _| cipher.seal(nonce, b"", data));
        untouched(refusals, &what, error, [33, 0], |data, _| {
            cipher.open(nonce, b"", data).map(drop)
        });
        untouched(refusals, &what, error, [33 + tag, 0], |packet, _| {
            cipher.seal_to(nonce, b"", &[1; 33], packet)
        });
        untouched(refusals, &what, error, [33, 0], |message, _| {
            cipher.open_to(nonce, b"", &vec![1; 33 + tag], message)
        });
        refusals.note(&what, cipher.sealer(nonce), error);
        refusals.note(&what, cipher.opener(nonce), error);
    }
}

fn wrong_tags(refusals: &mut Refusals, cipher: &Cipher) {
    let (error, nonce) = (Error::TagLength, nonce(cipher));
    let what = what("tag of a wrong length", cipher);
    for length in (0..=17).chain([32]).filter(|&n| n != cipher.tag_length()) {
        untouched(refusals, &what, error, [33, length], |data, tag| {
            cipher.seal_detached(&nonce, b"", data, tag)
        });
        untouched(refusals, &what, error, [33, length], |data, tag| {
            cipher.open_detached(&nonce, b"", data, tag)
        });
        untouched(refusals, &what, error, [0, length], |_, tag| cipher.sealer(&nonce)?.finish(tag));
        untouched(refusals, &what, error, [0, length], |_, tag| cipher.opener(&nonce)?.finish(tag));
    }
}

fn wrong_rooms(refusals: &mut Refusals, cipher: &Cipher) {
    let (error, nonce, tag) = (Error::OutputLength, nonce(cipher), cipher.tag_length());
    for length in 0..tag {
        let what = what("no room for the tag", cipher);
        untouched(refusals, &what, error, [length, 0], |packet, _| {
            cipher.seal(&nonce, b"", packet)
        });
        untouched(refusals, &what, error, [length, 0], |packet, _| {
            cipher.seal_to(&nonce, b"", &[], packet)
        });
    }
    for length in [0, tag, 32 + tag, 34 + tag, 100] {
        let what = what("packet of a wrong length", cipher);
        untouched(refusals, &what, error, [length, 0], |packet, _| {
            cipher.seal_to(&nonce, b"", &[1; 33], packet)
        });
    }
    for length in [0, 32, 34, 33 + tag] {
        let what = what("message of a wrong length", cipher);
        untouched(refusals, &what, error, [length, 0], |message, _| {
            cipher.open_to(&nonce, b"", &vec![1; 33 + tag], message)
        });
    }
}

/// Nobody learns more of a packet that is too short than of one that was forged.
fn short_packets(refusals: &mut Refusals, cipher: &Cipher) {
    let (error, nonce) = (Error::Authentication, nonce(cipher));
    let what = what("shorter than a tag", cipher);
    for length in 0..cipher.tag_length() {
        untouched(refusals, &what, error, [length, 0], |packet, _| {
            cipher.open(&nonce, b"", packet).map(drop)
        });
        let mut message = [UNTOUCHED; 5];
        let answer = cipher.open_to(&nonce, b"", &vec![1; length], &mut message);
        refusals.note(&what, answer, error);
        assert_eq!(message, [0; 5], "{what}: not wiped");
    }
}

/// Associated data after data; the message goes on as if nothing had been.
fn pieces_out_of_order(refusals: &mut Refusals, cipher: &Cipher) {
    let (error, nonce) = (Error::Finished, nonce(cipher));
    let what = what("associated data after data", cipher);
    let mut expected = ([1; 50], vec![0; cipher.tag_length()]);
    cipher
        .seal_detached(&nonce, b"aad", &mut expected.0[..], &mut expected.1)
        .expect("short enough");

    for begin in [0, 20] {
        let mut data = [1; 50];
        let mut sealer = cipher.sealer(&nonce).expect("a good nonce");
        sealer.associate(b"aad").expect("short enough");
        sealer.encrypt(&mut data[..begin]).expect("short enough");
        for aad in [&b""[..], b"more"] {
            refusals.note(&what, sealer.associate(aad), error);
        }
        sealer.encrypt(&mut data[begin..]).expect("short enough");
        let mut tag = vec![0; cipher.tag_length()];
        sealer.finish(&mut tag).expect("room for the tag");
        assert_eq!((data, &tag), (expected.0, &expected.1), "{what}");

        let mut opener = cipher.opener(&nonce).expect("a good nonce");
        opener.associate(b"aad").expect("short enough");
        opener.decrypt_unverified(&mut data[..begin]).expect("short enough");
        refusals.note(&what, opener.associate(b"more"), error);
        opener.decrypt_unverified(&mut data[begin..]).expect("short enough");
        assert_eq!((data, opener.finish(&tag)), ([1; 50], Ok(())), "{what}");
    }
}

/// With short tags, ciphertext and associated data are limited together.
fn long_packets(refusals: &mut Refusals, tag: usize, longest: usize) {
    let error = Error::DataLength;
    for algorithm in [Algorithm::AES_128_GCM, Algorithm::AES_192_GCM, Algorithm::AES_256_GCM] {
        let mut cipher = Cipher::new(algorithm, &vec![1; algorithm.key_lengths().longest()])
            .expect("a good key");
        cipher.set_tag_length(tag).expect("a good length");
        let (what, nonce) = (what("too long for its tag", &cipher), nonce(&cipher));
        for aad_length in [0, 1, 100, longest] {
            let aad = vec![2; aad_length];
            let fits = longest - aad_length;
            untouched(refusals, &what, error, [fits + 1, tag], |data, tag| {
                cipher.seal_detached(&nonce, &aad, data, tag)
            });
            untouched(refusals, &what, error, [fits + 1, tag], |data, tag| {
                cipher.open_detached(&nonce, &aad, data, tag)
            });
            untouched(refusals, &what, error, [fits + 1 + tag, 0], |packet, _| {
                cipher.seal(&nonce, &aad, packet)
            });
            untouched(refusals, &what, error, [fits + 1, 0], |data, _| {
                let mut sealer = cipher.sealer(&nonce)?;
                sealer.associate(&aad)?;
                sealer.encrypt(data)
            });
            let mut packet = vec![3; fits + tag];
            assert_eq!(cipher.seal(&nonce, &aad, &mut packet), Ok(()), "{what}");
            assert!(cipher.open(&nonce, &aad, &mut packet).is_ok(), "{what}");
        }
        let mut sealer = cipher.sealer(&nonce).expect("a good nonce");
        let aad = vec![2; longest + 1];
        refusals.note(&what, sealer.associate(&aad), error);
        assert_eq!(sealer.associate(&aad[1..]), Ok(()), "{what}");
        refusals.note(&what, sealer.associate(&[1]), error);
        refusals.note(&what, sealer.encrypt(&mut [1][..]), error);
        // With whole tags the same message is short.
        cipher.set_tag_length(16).expect("a good length");
        assert_eq!(cipher.seal(&nonce, &aad, &mut [3; 100]), Ok(()), "{what}");
    }
}
