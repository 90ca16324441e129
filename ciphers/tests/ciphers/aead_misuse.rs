//! What the front door refuses: the exact error, nothing written, and the message continues.

use lanecrypt_ciphers::{Algorithm, Cipher, Error, Isa, Mode};
use lanecrypt_testing::aeads::{any_nonce, tag_lengths, whole};

use crate::refusals::Refusals;

/// What no refused call may write over.
const UNTOUCHED: u8 = 0xa5;

/// Bytes of a message: whole blocks, for CBC has no others.
const LENGTH: usize = 48;

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
            if algorithm.has_pieces() {
                pieces_out_of_order(&mut refusals, &cipher);
            } else {
                no_pieces(&mut refusals, &cipher);
            }
            parts_of_blocks(&mut refusals, &cipher);
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
    let keyed = |length: usize| {
        let key: Vec<u8> = (3..).take(algorithm.key_lengths().longest()).collect();
        let mut cipher = Cipher::new(algorithm, &key).expect("a good key");
        cipher.set_tag_length(length).expect("a good length");
        cipher
    };
    tag_lengths(algorithm).into_iter().map(keyed).collect()
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
    let right: Vec<_> = algorithm.key_lengths().iter().collect();
    let mut cipher = Cipher::new(algorithm, &vec![1; right[0]]).expect("a good key");
    let near = right.iter().flat_map(|&length| [length - 1, length + 1]);
    let lengths = [0, 1, 15, 16, 17, 24, 31, 32, 33, 64, 300].into_iter().chain(near);
    for length in lengths.filter(|length| !right.contains(length)) {
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
    let lengths = tag_lengths(algorithm);
    let right = |n: usize| lengths.contains(&n);
    for length in (0..60).chain([usize::MAX]).filter(|&n| !right(n)) {
        let what = format!("no such tags: {algorithm}");
        refusals.note(&what, cipher.set_tag_length(length), Error::TagLength);
        assert_eq!(cipher.tag_length(), lengths[0]);
    }
    assert!((0..60).filter(|&n| right(n)).all(|n| cipher.set_tag_length(n) == Ok(())));
}

fn wrong_nonces(refusals: &mut Refusals, cipher: &Cipher) {
    let (error, tag) = (Error::NonceLength, cipher.tag_length());
    let wrong: &[usize] = match cipher.algorithm() {
        algorithm if any_nonce(algorithm) => &[0],
        Algorithm::XCHACHA20_POLY1305 => &[0, 8, 12, 23, 25],
        algorithm if algorithm.mode() == Mode::Cbc => &[0, 12, 15, 17, 24],
        _ => &[0, 8, 11, 13, 24],
    };
    for &length in wrong {
        let nonce = &vec![1; length][..];
        let what = what("nonce of a wrong length", cipher);
        untouched(refusals, &what, error, [LENGTH, tag], |data, tag| {
            cipher.seal_detached(nonce, b"", data, tag)
        });
        untouched(refusals, &what, error, [LENGTH, tag], |data, tag| {
            cipher.open_detached(nonce, b"", data, tag)
        });
        untouched(refusals, &what, error, [LENGTH + tag, 0], |packet, _| {
            cipher.seal(nonce, b"", packet)
        });
        untouched(refusals, &what, error, [LENGTH + tag, 0], |data, _| {
            cipher.open(nonce, b"", data).map(drop)
        });
        untouched(refusals, &what, error, [LENGTH + tag, 0], |packet, _| {
            cipher.seal_to(nonce, b"", &[1; LENGTH], packet)
        });
        untouched(refusals, &what, error, [LENGTH, 0], |message, _| {
            cipher.open_to(nonce, b"", &vec![1; LENGTH + tag], message)
        });
        if cipher.algorithm().has_pieces() {
            refusals.note(&what, cipher.sealer(nonce), error);
            refusals.note(&what, cipher.opener(nonce), error);
        }
    }
}

fn wrong_tags(refusals: &mut Refusals, cipher: &Cipher) {
    let (error, nonce) = (Error::TagLength, nonce(cipher));
    let what = what("tag of a wrong length", cipher);
    for length in (0..=17).chain([32, 49]).filter(|&n| n != cipher.tag_length()) {
        untouched(refusals, &what, error, [LENGTH, length], |data, tag| {
            cipher.seal_detached(&nonce, b"", data, tag)
        });
        untouched(refusals, &what, error, [LENGTH, length], |data, tag| {
            cipher.open_detached(&nonce, b"", data, tag)
        });
        if !cipher.algorithm().has_pieces() {
            continue;
        }
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
    for length in [0, tag, LENGTH - 1 + tag, LENGTH + 1 + tag, 100] {
        let what = what("packet of a wrong length", cipher);
        untouched(refusals, &what, error, [length, 0], |packet, _| {
            cipher.seal_to(&nonce, b"", &[1; LENGTH], packet)
        });
    }
    for length in [0, LENGTH - 1, LENGTH + 1, LENGTH + tag] {
        let what = what("message of a wrong length", cipher);
        untouched(refusals, &what, error, [length, 0], |message, _| {
            cipher.open_to(&nonce, b"", &vec![1; LENGTH + tag], message)
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

/// Associated data after data; the message continues as if nothing had been passed.
fn pieces_out_of_order(refusals: &mut Refusals, cipher: &Cipher) {
    let (error, nonce) = (Error::Finished, nonce(cipher));
    let what = what("associated data after data", cipher);
    let mut expected = ([1; LENGTH], vec![0; cipher.tag_length()]);
    cipher
        .seal_detached(&nonce, b"aad", &mut expected.0[..], &mut expected.1)
        .expect("short enough");

    for begin in [0, 16] {
        let mut data = [1; LENGTH];
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
        assert_eq!((data, opener.finish(&tag)), ([1; LENGTH], Ok(())), "{what}");
    }
}

/// Whatever the length of the nonce is.
fn no_pieces(refusals: &mut Refusals, cipher: &Cipher) {
    for length in [0, 11, nonce(cipher).len(), 24] {
        let what = what("no messages in pieces", cipher);
        refusals.note(&what, cipher.sealer(&vec![1; length]), Error::Unsupported);
        refusals.note(&what, cipher.opener(&vec![1; length]), Error::Unsupported);
    }
}

/// CBC encrypts whole blocks; the message continues as if nothing had been passed.
fn parts_of_blocks(refusals: &mut Refusals, cipher: &Cipher) {
    let (error, nonce, tag) = (Error::DataLength, nonce(cipher), cipher.tag_length());
    let what = what("not whole blocks", cipher);
    for length in (1..40).filter(|&length| length != whole(cipher.algorithm(), length)) {
        untouched(refusals, &what, error, [length, tag], |data, tag| {
            cipher.seal_detached(&nonce, b"", data, tag)
        });
        untouched(refusals, &what, error, [length, tag], |data, tag| {
            cipher.open_detached(&nonce, b"", data, tag)
        });
        untouched(refusals, &what, error, [length + tag, 0], |packet, _| {
            cipher.seal(&nonce, b"", packet)
        });
        untouched(refusals, &what, error, [length + tag, 0], |packet, _| {
            cipher.open(&nonce, b"", packet).map(drop)
        });
        let (mut sealer, mut opener) = (
            cipher.sealer(&nonce).expect("a good nonce"),
            cipher.opener(&nonce).expect("a good nonce"),
        );
        untouched(refusals, &what, error, [length, 0], |data, _| sealer.encrypt(data));
        untouched(refusals, &what, error, [length, 0], |data, _| opener.decrypt_unverified(data));
        let (mut expected, mut made) = (([7; 16], vec![0; tag]), ([7; 16], vec![0; tag]));
        cipher.seal_detached(&nonce, b"", &mut expected.0[..], &mut expected.1).expect("a block");
        sealer.encrypt(&mut made.0[..]).expect("a block");
        sealer.finish(&mut made.1).expect("room for the tag");
        assert_eq!(made, expected, "{what}");
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
