//! Types with one algorithm do what a [`Cipher`] of that algorithm does, by every method and at
//! every level, and refuse what does not fit their constants.

use lanecrypt_ciphers::{
    AeadCipher, AeadKey, Cipher, Error, InOutBuf, Level, Nonces, Sealer, typed, typed_ciphers,
};
use lanecrypt_testing::aeads::any_nonce;
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::Numbers;
use lanecrypt_testing::vectors::tagged;

/// The tests of each type, in a module of its own.
macro_rules! whole_messages {
    ($($name:ident)+) => { $(
        mod $name {
            use super::*;
            use typed::$name;

            const KEY: usize = $name::KEY_LENGTH;
            const NONCE: usize = $name::NONCE_LENGTH;

            fn key(numbers: &mut Numbers) -> [u8; KEY] {
                numbers.bytes(KEY).try_into().expect("as many bytes")
            }

            #[test]
            fn constants_are_those_of_the_table() {
                let algorithm = $name::ALGORITHM;
                assert_eq!(algorithm.key_lengths().iter().collect::<Vec<_>>(), [KEY]);
                assert_eq!((algorithm.nonce_length(), algorithm.tag_length()), (NONCE, 16));
                let cipher = $name::new(&[1; KEY]);
                assert_eq!((cipher.algorithm(), cipher.tag_length()), (algorithm, 16));
                assert_eq!($name::TAG_LENGTH, 16);
            }

            #[test]
            fn every_vector_at_every_level() {
                let lines = tagged::own();
                let lines = lines.iter().filter(|line| line.algorithm == $name::ALGORITHM);
                let (mut sealed, mut forged, mut others) = (0, 0, 0);
                for (isa, line) in levels().flat_map(|isa| lines.clone().map(move |l| (isa, l))) {
                    let place = format!("{} at {}", line.place, isa.level());
                    let key = line.key[..].try_into().expect("a good key");
                    let cipher = $name::with_isa(isa, key);
                    let (nonce, aad) = (&line.nonce[..], &line.aad[..]);
                    let mut packet = [&line.ciphertext[..], &line.tag].concat();
                    let opened = cipher.open(nonce, aad, &mut packet).map(|it| it.to_vec());
                    if line.tag.len() != 16 {
                        assert!(opened.is_err(), "{place}");
                    } else if nonce.len() != NONCE {
                        assert_eq!(opened, Err(Error::NonceLength), "{place}");
                        others += 1;
                    } else if let Some(plain) = &line.plain {
                        assert_eq!(opened.as_ref(), Ok(plain), "{place}");
                        assert_eq!(cipher.seal(nonce, aad, &mut packet), Ok(()), "{place}");
                        assert_eq!(packet, [&line.ciphertext[..], &line.tag].concat(), "{place}");
                        sealed += 1;
                    } else {
                        assert_eq!(opened, Err(Error::Authentication), "{place}");
                        let (message, _) = packet.split_at(line.ciphertext.len());
                        assert!(message.iter().all(|&byte| byte == 0), "{place}: not wiped");
                        forged += 1;
                    }
                }
                let levels = levels().count();
                assert!(sealed > 10 * levels && forged > 3 * levels, "{sealed} {forged}");
                assert_eq!(others > 0, any_nonce($name::ALGORITHM), "other nonces");
            }

            #[test]
            fn every_method_does_what_that_of_a_cipher_does() {
                let mut numbers = Numbers(31);
                for length in (0..=300).chain([1023, 1024, 1500, 4111, 9000]) {
                    let (key, nonce) = (key(&mut numbers), numbers.bytes(NONCE));
                    let (aad, plain) = (numbers.bytes(length % 45), numbers.bytes(length));
                    let named = Cipher::new($name::ALGORITHM, &key).expect("a good key");
                    let mut packet = [&plain[..], &[0; 16]].concat();
                    named.seal(&nonce, &aad, &mut packet).expect("short enough");
                    for isa in levels() {
                        let cipher = $name::with_isa(isa, &key);
                        let message = Message { nonce: &nonce, aad: &aad, plain: &plain };
                        methods!(cipher, message, &packet, isa.level());
                    }
                }
            }

            #[test]
            fn a_sequence_of_nonces_is_used_as_by_a_cipher() {
                let key = key(&mut Numbers(32));
                let named = Cipher::new($name::ALGORITHM, &key).expect("a good key");
                let cipher = $name::new(&key);
                let nonces = || Nonces::counter($name::ALGORITHM, b"from").expect("short enough");
                let (mut ours, mut theirs) = (nonces(), nonces());
                for length in [0, 1, 100] {
                    let mut packets = [vec![1; length + 16], vec![1; length + 16]];
                    let nonce = cipher.seal_next(&mut ours, b"aad", &mut packets[0]);
                    let expected = named.seal_next(&mut theirs, b"aad", &mut packets[1]);
                    assert_eq!(nonce, expected);
                    assert_eq!(packets[0], packets[1]);
                }
                let others = lanecrypt_ciphers::Algorithm::AES_128_CTR_HMAC_SHA1;
                let others = if NONCE == 12 {
                    lanecrypt_ciphers::Algorithm::XCHACHA20_POLY1305
                } else {
                    others
                };
                let mut others = Nonces::counter(others, b"").expect("short enough");
                let mut packet = [0x5a; 20];
                let refused = cipher.seal_next(&mut others, b"", &mut packet);
                assert_eq!((refused, packet), (Err(Error::NonceLength), [0x5a; 20]));
                let mut short = [0x5a; 15];
                let refused = cipher.seal_next(&mut ours, b"", &mut short);
                assert_eq!((refused, short), (Err(Error::OutputLength), [0x5a; 15]));
            }

            #[test]
            fn another_key_replaces_the_first() {
                let mut numbers = Numbers(33);
                let (first, second) = (key(&mut numbers), key(&mut numbers));
                for isa in levels() {
                    let mut expected = [7; 80];
                    let cipher = $name::with_isa(isa, &second);
                    cipher.seal(&[1; NONCE], b"", &mut expected).expect("short enough");
                    let mut cipher = $name::with_isa(isa, &first);
                    cipher.set_key(&second);
                    for cipher in [Box::new(cipher), $name::boxed_with_isa(isa, &second)] {
                        let mut packet = [7; 80];
                        cipher.seal(&[1; NONCE], b"", &mut packet).expect("short enough");
                        assert_eq!(packet, expected, "{}", isa.level());
                    }
                }
                let mut packet = [7; 80];
                $name::boxed(&first).seal(&[1; NONCE], b"", &mut packet).expect("short enough");
                assert!($name::new(&first).open(&[1; NONCE], b"", &mut packet).is_ok());
            }

            #[test]
            fn other_lengths_are_refused_and_change_nothing() {
                let cipher = $name::new(&[1; KEY]);
                for length in (0..=40).filter(|&length| length != NONCE) {
                    let (nonce, mut data, mut tag) = (vec![1; length], [0x5a; 40], [0x5a; 16]);
                    let refused = Err(Error::NonceLength);
                    assert_eq!(cipher.seal(&nonce, b"", &mut data), refused);
                    assert_eq!(cipher.open(&nonce, b"", &mut data).map(drop), refused);
                    assert_eq!(cipher.open_within(&nonce, b"", &mut data, 3).map(drop), refused);
                    let sealed = cipher.seal_detached(&nonce, b"", &mut data[..], &mut tag);
                    assert_eq!(sealed, refused);
                    assert_eq!(cipher.open_detached(&nonce, b"", &mut data[..], &tag), refused);
                    assert_eq!(cipher.seal_to(&nonce, b"", &[1; 24], &mut data), refused);
                    assert_eq!(cipher.open_to(&nonce, b"", &[1; 56], &mut data), refused);
                    let mut vec = vec![0x5a; 9];
                    assert_eq!(cipher.seal_vec(&nonce, b"", &mut vec), refused);
                    assert_eq!(vec, [0x5a; 9]);
                    assert_eq!((data, tag), ([0x5a; 40], [0x5a; 16]), "{length}");
                }
                let nonce = [2; NONCE];
                for length in (0..=40).filter(|&length| length != 16) {
                    let (mut data, mut tag) = ([0x5a; 40], vec![0x5a; length]);
                    let refused = Err(Error::TagLength);
                    let sealed = cipher.seal_detached(&nonce, b"", &mut data[..], &mut tag);
                    assert_eq!(sealed, refused);
                    assert_eq!(cipher.open_detached(&nonce, b"", &mut data[..], &tag), refused);
                    assert_eq!((data, tag), ([0x5a; 40], vec![0x5a; length]));
                }
                for length in 0..16 {
                    let mut packet = vec![0x5a; length];
                    let room = Err(Error::OutputLength);
                    assert_eq!(cipher.seal(&nonce, b"", &mut packet), room);
                    assert_eq!(cipher.seal_to(&nonce, b"", &[], &mut packet), room);
                    let opened = cipher.open(&nonce, b"", &mut packet).map(drop);
                    assert_eq!(opened, Err(Error::Authentication));
                    assert_eq!(packet, vec![0x5a; length]);
                }
            }

            #[test]
            fn it_is_smaller_than_a_cipher_shared_and_shown_without_its_key() {
                fn shared<T: Send + Sync + 'static>() {}
                shared::<$name>();
                assert!(size_of::<$name>() < size_of::<Cipher>());
                let cipher = $name::new(&[77; KEY]);
                let shown = format!("Cipher {{ algorithm: {}, .. }}", $name::ALGORITHM);
                assert_eq!(format!("{cipher:?}"), shown);
            }
        }
    )+ };
}

/// The same of messages in pieces.
macro_rules! in_pieces {
    ($($name:ident)+) => { $(
        mod $name {
            use super::*;
            use typed::$name;

            const KEY: usize = $name::KEY_LENGTH;
            const NONCE: usize = $name::NONCE_LENGTH;

            #[test]
            fn pieces_make_what_one_call_makes() {
                if !$name::ALGORITHM.has_pieces() {
                    return refused(&$name::new(&[1; KEY]), &[2; NONCE]);
                }
                let mut numbers = Numbers(34);
                for length in (0..=300).chain([1023, 1024, 1500, 4111, 9000]) {
                    let (key, nonce) = (numbers.bytes(KEY), numbers.bytes(NONCE));
                    let (aad, plain) = (numbers.bytes(length % 45), numbers.bytes(length));
                    for isa in levels() {
                        let key = key[..].try_into().expect("as many bytes");
                        let cipher = $name::with_isa(isa, key);
                        let mut packet = [&plain[..], &[0; 16]].concat();
                        cipher.seal(&nonce, &aad, &mut packet).expect("short enough");
                        let message = Message { nonce: &nonce, aad: &aad, plain: &plain };
                        pieces!(cipher, message, &packet, isa.level());
                    }
                }
            }

            #[test]
            fn other_lengths_are_refused() {
                if !$name::ALGORITHM.has_pieces() {
                    return refused(&$name::new(&[1; KEY]), &[2; NONCE + 1]);
                }
                let cipher = $name::new(&[1; KEY]);
                for length in (0..=40).filter(|&length| length != NONCE) {
                    let refused = Err(Error::NonceLength);
                    assert_eq!(cipher.sealer(&vec![1; length]).map(drop), refused);
                    assert_eq!(cipher.opener(&vec![1; length]).map(drop), refused);
                }
                let nonce = [2; NONCE];
                for length in (0..=40).filter(|&length| length != 16) {
                    let (mut tag, refused) = (vec![0x5a; length], Err(Error::TagLength));
                    let sealer: Sealer<'_, _> = cipher.sealer(&nonce).expect("a good nonce");
                    assert_eq!(sealer.finish(&mut tag), refused);
                    let opener = cipher.opener(&nonce).expect("a good nonce");
                    assert_eq!(opener.finish(&tag), refused);
                    assert_eq!(tag, vec![0x5a; length]);
                }
                let mut sealer = cipher.sealer(&nonce).expect("a good nonce");
                assert_eq!(sealer.encrypt(&mut [1][..]), Ok(()));
                assert_eq!(sealer.associate(b"late"), Err(Error::Finished));
            }

            #[test]
            fn messages_are_shown_without_their_key() {
                let cipher = $name::new(&[77; KEY]);
                let sealer = format!("{:?}", cipher.sealer(&[0; NONCE]));
                assert!(!sealer.contains("77"), "{sealer}");
                assert_eq!(sealer.contains("Sealer"), $name::ALGORITHM.has_pieces(), "{sealer}");
            }
        }
    )+ };
}

/// A type without messages in pieces.
fn refused<K: AeadKey>(cipher: &AeadCipher<K>, nonce: &[u8]) {
    assert_eq!(cipher.sealer(nonce).map(drop), Err(Error::Unsupported));
    assert_eq!(cipher.opener(nonce).map(drop), Err(Error::Unsupported));
}

struct Message<'m> {
    nonce: &'m [u8],
    aad: &'m [u8],
    plain: &'m [u8],
}

/// Every method that seals gives `$packet`, and every one that opens takes it, but not a forgery.
macro_rules! methods {
    ($cipher:ident, $message:ident, $packet:expr, $level:expr) => {
        let Message { nonce, aad, plain } = $message;
        let (packet, level, length): (&[u8], Level, _) = ($packet, $level, plain.len());
        let (ciphertext, tag) = packet.split_at(length);

        let mut out = [plain, &[0; 16]].concat();
        assert_eq!($cipher.seal(nonce, aad, &mut out), Ok(()));
        assert_eq!(out, packet, "{length} {level}");
        assert_eq!($cipher.open(nonce, aad, &mut out).as_deref(), Ok(plain), "{length} {level}");
        let mut out = plain.to_vec();
        assert_eq!($cipher.seal_vec(nonce, aad, &mut out), Ok(()));
        assert_eq!(out, packet, "{length} {level}");
        assert_eq!($cipher.open_vec(nonce, aad, &mut out), Ok(()));
        assert_eq!(out, plain, "{length} {level}");
        let mut out = vec![0; length + 16];
        assert_eq!($cipher.seal_to(nonce, aad, plain, &mut out), Ok(()));
        assert_eq!(out, packet, "{length} {level}");
        let mut out = vec![0; length];
        assert_eq!($cipher.open_to(nonce, aad, packet, &mut out), Ok(()));
        assert_eq!(out, plain, "{length} {level}");
        let mut record = [&[1; 5], packet].concat();
        assert_eq!($cipher.open_within(nonce, aad, &mut record, 5).as_deref(), Ok(plain));

        let (mut out, mut made) = (vec![0; length], [0; 16]);
        let apart = InOutBuf::new(plain, &mut out).expect("equal lengths");
        assert_eq!($cipher.seal_detached(nonce, aad, apart, &mut made), Ok(()));
        assert_eq!((&out[..], &made[..]), (ciphertext, tag), "{length} {level}");
        assert_eq!($cipher.open_detached(nonce, aad, &mut out[..], &made), Ok(()));
        assert_eq!(out, plain, "{length} {level}");

        made[length % 16] ^= 0x40;
        out.copy_from_slice(ciphertext);
        let opened = $cipher.open_detached(nonce, aad, &mut out[..], &made);
        assert_eq!(opened, Err(Error::Authentication), "{length} {level}");
        assert!(out.iter().all(|&byte| byte == 0), "{length} {level}: not wiped");
    };
}

/// A message in pieces is sealed to `$packet` and opened again.
macro_rules! pieces {
    ($cipher:ident, $message:ident, $packet:expr, $level:expr) => {
        let Message { nonce, aad, plain } = $message;
        let (packet, level, length): (&[u8], Level, _) = ($packet, $level, plain.len());
        let (ciphertext, tag) = packet.split_at(length);
        let (mut out, mut made) = (plain.to_vec(), [0; 16]);
        let mut sealer = $cipher.sealer(nonce).expect("a good nonce");
        aad.chunks(7).for_each(|piece| sealer.associate(piece).expect("short enough"));
        out.chunks_mut(37).for_each(|piece| sealer.encrypt(piece).expect("short enough"));
        assert_eq!(sealer.finish(&mut made), Ok(()));
        assert_eq!((&out[..], &made[..]), (ciphertext, tag), "{length} {level}: pieces");
        let mut opener = $cipher.opener(nonce).expect("a good nonce");
        opener.associate(aad).expect("short enough");
        out.chunks_mut(41).for_each(|piece| opener.decrypt_unverified(piece).expect("short"));
        assert_eq!(opener.finish(&made), Ok(()));
        assert_eq!(out, plain, "{length} {level}: pieces");
    };
}

mod whole {
    use super::*;

    typed_ciphers!(whole_messages!);
}

mod pieces {
    use super::*;

    typed_ciphers!(in_pieces!);
}

/// A cipher with one algorithm is as large as its key.
#[test]
fn types_are_not_larger_than_they_were() {
    assert_eq!(size_of::<typed::Aes128Gcm>(), 640);
    assert_eq!(size_of::<typed::Aes192Gcm>(), 640);
    assert_eq!(size_of::<typed::Aes256Gcm>(), 640);
    assert_eq!(size_of::<typed::Aes256GcmSiv>(), 256);
    assert_eq!(size_of::<typed::AesSiv512>(), 560);
    assert_eq!(size_of::<typed::ChaCha20Poly1305>(), 52);
    assert_eq!(size_of::<typed::XChaCha20Poly1305>(), 52);
}

/// A [`Cipher`] has room for the largest key.
#[test]
fn a_cipher_is_not_larger_than_it_was() {
    assert!(size_of::<Cipher>() <= 768, "{}", size_of::<Cipher>());
}
