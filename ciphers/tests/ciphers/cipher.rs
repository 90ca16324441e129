//! Whole messages: against the crates of RustCrypto on random input, with padding and without, and
//! one cipher shared by several threads.

use cipher::block_padding::{NoPadding, Pkcs7};
use cipher::{BlockModeEncrypt, KeyInit, KeyIvInit, StreamCipher};
use lanecrypt_ciphers::hazmat::{BURN_DEPTH, Decryptor, Encryptor, RawCipher, Stream, burn_stack};
use lanecrypt_ciphers::{Algorithm, Error, InOutBuf, Mode};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::Numbers;

/// Encrypts with the type of another crate, whatever the mode is.
enum Peer {
    /// Key, initialization vector and message to ciphertext, padded or not.
    Blocks(fn([&[u8]; 3], bool) -> Vec<u8>),
    /// Key and nonce, applied to a message.
    Stream(fn([&[u8]; 2], &mut [u8])),
}

/// A block mode, with or without padding.
macro_rules! blocks {
    ($mode:ty) => {
        Peer::Blocks(|[key, iv, data], padded| {
            let mode = <$mode>::new_from_slices(key, iv).expect("good lengths");
            if padded {
                mode.encrypt_padded_vec::<Pkcs7>(data)
            } else {
                mode.encrypt_padded_vec::<NoPadding>(data)
            }
        })
    };
}

/// Single blocks.
macro_rules! ecb {
    ($cipher:ty) => {
        Peer::Blocks(|[key, iv, data], padded| {
            use cipher::{BlockCipherEncrypt, BlockSizeUser};
            assert!(iv.is_empty());
            let cipher = <$cipher>::new_from_slice(key).expect("a good length");
            let size = <$cipher>::block_size();
            let mut out = data.to_vec();
            if padded {
                let pad = size - data.len() % size;
                out.resize(data.len() + pad, u8::try_from(pad).expect("a byte"));
            }
            for block in out.chunks_mut(size) {
                cipher.encrypt_block(block.try_into().expect("whole blocks"));
            }
            out
        })
    };
}

macro_rules! stream {
    ($stream:ty) => {
        Peer::Stream(|[key, iv], data| {
            let mut stream = <$stream>::new_from_slices(key, iv).expect("good lengths");
            stream.apply_keystream(data);
        })
    };
}

fn peers() -> Vec<(&'static str, Peer)> {
    vec![
        ("aes-128-cbc", blocks!(cbc::Encryptor<aes::Aes128>)),
        ("aes-192-cbc", blocks!(cbc::Encryptor<aes::Aes192>)),
        ("aes-256-cbc", blocks!(cbc::Encryptor<aes::Aes256>)),
        ("aes-128-ecb", ecb!(aes::Aes128)),
        ("aes-192-ecb", ecb!(aes::Aes192)),
        ("aes-256-ecb", ecb!(aes::Aes256)),
        ("aes-128-ctr", stream!(ctr::Ctr128BE<aes::Aes128>)),
        ("aes-192-ctr", stream!(ctr::Ctr128BE<aes::Aes192>)),
        ("aes-256-ctr", stream!(ctr::Ctr128BE<aes::Aes256>)),
        ("serpent-128-ecb", ecb!(serpent::Serpent)),
        ("serpent-192-ecb", ecb!(serpent::Serpent)),
        ("serpent-256-ecb", ecb!(serpent::Serpent)),
        ("serpent-128-cbc", blocks!(cbc::Encryptor<serpent::Serpent>)),
        ("serpent-128-ctr", stream!(ctr::Ctr128BE<serpent::Serpent>)),
        ("des-ecb", ecb!(des::Des)),
        ("des-cbc", blocks!(cbc::Encryptor<des::Des>)),
        ("des-ctr", stream!(ctr::Ctr64BE<des::Des>)),
        ("3des-ecb", ecb!(des::TdesEde3)),
        ("3des-cbc", blocks!(cbc::Encryptor<des::TdesEde3>)),
        ("3des-ctr", stream!(ctr::Ctr64BE<des::TdesEde3>)),
        ("chacha8-ietf", stream!(chacha20::ChaCha8)),
        ("chacha12-ietf", stream!(chacha20::ChaCha12)),
        ("chacha20-ietf", stream!(chacha20::ChaCha20)),
        ("chacha20-djb", stream!(chacha20::ChaCha20Legacy)),
        ("salsa20/8", stream!(salsa20::Salsa8)),
        ("salsa20/12", stream!(salsa20::Salsa12)),
        ("salsa20/20", stream!(salsa20::Salsa20)),
    ]
}

/// Lengths at the edges of blocks and kernels, and others.
fn lengths(numbers: &mut Numbers) -> Vec<usize> {
    let edges = [16, 64, 128, 256, 512, 1024, 2048, 4096];
    let near = |edge: usize| [edge - 1, edge, edge + 1];
    let mut lengths: Vec<_> = edges.into_iter().flat_map(near).chain(0..=16).collect();
    lengths.extend((0..20).map(|_| numbers.below(6000)));
    lengths
}

#[test]
fn other_crates_agree() {
    let mut numbers = Numbers(1);
    for (name, peer) in peers() {
        let algorithm: Algorithm = name.parse().expect("a name");
        for len in lengths(&mut numbers) {
            let key = numbers.bytes(algorithm.key_lengths().longest());
            let iv = numbers.bytes(algorithm.nonce_length());
            let data = numbers.bytes(len);
            for isa in levels() {
                let cipher = RawCipher::with_isa(isa, algorithm, &key).expect("a good key");
                agree(&cipher, &peer, &key, &iv, &data);
            }
        }
    }
}

fn agree(cipher: &RawCipher, peer: &Peer, key: &[u8], iv: &[u8], data: &[u8]) {
    let (place, len) = (format!("{cipher:?} {}", data.len()), data.len());
    match peer {
        Peer::Stream(apply) => {
            let mut expected = data.to_vec();
            apply([key, iv], &mut expected);
            both_ways(cipher, iv, data, &expected, &place);
        }
        Peer::Blocks(encrypt) => {
            let whole = &data[..len - len % cipher.algorithm().granularity()];
            both_ways(cipher, iv, whole, &encrypt([key, iv, whole], false), &place);

            let expected = encrypt([key, iv, data], true);
            let mut out = vec![0; expected.len()];
            assert_eq!(cipher.encrypt_padded(iv, data, &mut out), Ok(out.len()), "{place}");
            assert_eq!(out, expected, "{place}: padded");
            let mut plain = vec![0; out.len()];
            assert_eq!(cipher.decrypt_padded(iv, &out, &mut plain), Ok(len), "{place}");
            assert_eq!(plain[..len], *data, "{place}: unpadded");

            let mut buffer = data.to_vec();
            buffer.resize(expected.len() + 3, 0);
            let written = cipher.encrypt_padded_in_place(iv, &mut buffer, len);
            assert_eq!(written, Ok(expected.len()), "{place}");
            assert_eq!(buffer[..expected.len()], expected, "{place}: padded in place");
            assert_eq!(buffer[expected.len()..], [0; 3], "{place}");
            buffer.truncate(expected.len());
            assert_eq!(cipher.decrypt_padded_in_place(iv, &mut buffer), Ok(len), "{place}");
            assert_eq!(buffer[..len], *data, "{place}: unpadded in place");
        }
    }
}

/// In place and apart.
fn both_ways(cipher: &RawCipher, iv: &[u8], plain: &[u8], sealed: &[u8], place: &str) {
    let mut data = plain.to_vec();
    cipher.encrypt(iv, &mut data[..]).expect(place);
    assert_eq!(data, sealed, "{place}: encrypt");
    cipher.decrypt(iv, &mut data[..]).expect(place);
    assert_eq!(data, plain, "{place}: decrypt");
    let mut out = vec![0; plain.len()];
    cipher.encrypt(iv, InOutBuf::new(plain, &mut out).expect("equal lengths")).expect(place);
    assert_eq!(out, sealed, "{place}: encrypt apart");
    cipher.decrypt(iv, InOutBuf::new(sealed, &mut out).expect("equal lengths")).expect(place);
    assert_eq!(out, plain, "{place}: decrypt apart");
}

/// As a cipher that was made with that key; a key of a wrong length leaves the old one.
#[test]
fn another_key_takes_the_place_of_the_first() {
    let mut numbers = Numbers(6);
    for isa in levels() {
        for &algorithm in Algorithm::ALL {
            let lengths: Vec<usize> = algorithm.key_lengths().iter().collect();
            let first = numbers.bytes(lengths[0]);
            let Ok(mut cipher) = RawCipher::with_isa(isa, algorithm, &first) else { continue };
            let iv = numbers.bytes(algorithm.nonce_length());
            let data = numbers.bytes(4096);
            let both = |cipher: &RawCipher| {
                let mut out = [data.clone(), data.clone()];
                cipher.encrypt(&iv, &mut out[0][..]).expect("whole blocks");
                cipher.decrypt(&iv, &mut out[1][..]).expect("whole blocks");
                out
            };
            for len in lengths {
                let key = numbers.bytes(len);
                assert_eq!(cipher.set_key(&key), Ok(()), "{algorithm} {len}");
                let fresh = RawCipher::with_isa(isa, algorithm, &key).expect("a good key");
                assert_eq!(both(&cipher), both(&fresh), "{algorithm} {len} {isa:?}");
                let refused = cipher.set_key(&[0; 300]).expect_err("too long");
                assert_eq!(refused, Error::KeyLength);
                assert_eq!(cipher.set_key(&key[..len.saturating_sub(1).min(4)]).is_ok(), len == 0);
                assert_eq!(both(&cipher), both(&fresh), "{algorithm} {len}: refused");
            }
        }
    }
}

/// What no crate above does: the other key lengths.
#[test]
fn shorter_keys_are_other_keys() {
    for &algorithm in Algorithm::ALL {
        let lengths = algorithm.key_lengths();
        if algorithm.mode() == Mode::Ietf || lengths.shortest() == lengths.longest() {
            continue;
        }
        let (key, iv) = (vec![5; lengths.longest()], vec![0; algorithm.nonce_length()]);
        let run = |key: &[u8]| {
            let mut data = [0; 64];
            let cipher = RawCipher::new(algorithm, key).ok()?;
            cipher.encrypt(&iv, &mut data[..]).expect("whole blocks");
            Some(data)
        };
        // Except where the key is its own repetition.
        let same = algorithm.to_string().starts_with("3des");
        assert_eq!(run(&key) == run(&key[..16]), same || run(&key).is_none(), "{algorithm}");
    }
}

/// Equal to the stream that the same algorithm is as a raw keystream.
#[test]
fn a_cipher_is_its_stream() {
    let mut numbers = Numbers(2);
    let streams = || Algorithm::ALL.iter().copied().filter(|row| row.is_stream());
    for (isa, algorithm) in levels().flat_map(|isa| streams().map(move |row| (isa, row))) {
        let key = numbers.bytes(algorithm.key_lengths().shortest());
        let iv = numbers.bytes(algorithm.nonce_length());
        let Ok(cipher) = RawCipher::with_isa(isa, algorithm, &key) else {
            assert_eq!(algorithm.to_string(), "arc4");
            continue;
        };
        for len in [0, 1, 7, 8, 9, 63, 64, 65, 1500] {
            let mut data = numbers.bytes(len);
            let mut expected = data.clone();
            let stream = Stream::new(isa, algorithm, &key, &iv);
            stream.expect("a stream").xor(&mut expected[..]).expect("long enough");
            cipher.encrypt(&iv, &mut data[..]).expect("long enough");
            assert_eq!(data, expected, "{algorithm} {} {len}", isa.level());
        }
    }
}

#[test]
fn threads_share_a_cipher() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<RawCipher>();
    is_shared::<Encryptor<'_>>();
    is_shared::<Decryptor<'_>>();
    for &algorithm in Algorithm::ALL {
        let key: Vec<u8> = (7..=255).cycle().take(algorithm.key_lengths().longest()).collect();
        let Ok(cipher) = RawCipher::new(algorithm, &key) else { continue };
        let message = |n: u8| {
            let iv = vec![n; algorithm.nonce_length()];
            let mut data = vec![n; 160 * usize::from(1 + n % 7)];
            cipher.encrypt(&iv, &mut data[..]).expect("whole blocks");
            data
        };
        let alone: Vec<_> = (0..60).map(message).collect();
        std::thread::scope(|scope| {
            let run = || (0..60).map(message).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
            for thread in threads {
                assert_eq!(thread.join().expect("no panic"), alone, "{algorithm}");
            }
        });
    }
}

#[test]
fn debug_output_hides_keys_and_data() {
    for &algorithm in Algorithm::ALL {
        let key: Vec<u8> = (77..=255).cycle().take(algorithm.key_lengths().longest()).collect();
        let Ok(cipher) = RawCipher::new(algorithm, &key) else { continue };
        assert_eq!(format!("{cipher:?}"), format!("RawCipher {{ algorithm: {algorithm}, .. }}"));
        if algorithm.mode() == Mode::Xts {
            continue;
        }
        let iv = vec![77; algorithm.nonce_length()];
        let mut encryptor = cipher.encryptor(&iv, Default::default()).expect("a good iv");
        encryptor.update(&[77; 5], &mut [0; 16]).expect("room enough");
        let decryptor = cipher.decryptor(&iv, Default::default()).expect("a good iv");
        let expected = format!(
            "RawCipher {{ algorithm: {algorithm}, .. }} Encryptor {{ algorithm: {algorithm}, .. }} \
             Decryptor {{ algorithm: {algorithm}, .. }}"
        );
        assert_eq!(format!("{cipher:?} {encryptor:?} {decryptor:?}"), expected);
    }
}

/// That nothing breaks: what is cleared is shown by the tests of the kernels.
#[test]
fn the_stack_can_be_burned_between_calls() {
    const { assert!(BURN_DEPTH >= 16 << 10) };
    let cipher = RawCipher::new(Algorithm::AES_256_CBC, &[1; 32]).expect("a key");
    let mut data = [2; 64];
    cipher.encrypt(&[3; 16], &mut data[..]).expect("whole blocks");
    burn_stack();
    cipher.decrypt(&[3; 16], &mut data[..]).expect("whole blocks");
    burn_stack();
    assert_eq!(data, [2; 64]);
}
