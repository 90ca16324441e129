//! What is written is read, at all edges, by pieces of all sizes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use lanecrypt_ciphers::{
    Aes128Gcm, Aes192Gcm, Aes256Gcm, Algorithm, ChaCha20Poly1305, Cipher, Error, XChaCha20Poly1305,
};
use lanecrypt_stream::{ChunkCipher, Decryptor, Encryptor, LONGEST_CHUNK, Stream};

use crate::support::{ALGORITHMS, CHUNKS, KEY, data, decryptor, encryptor, lengths, open, seal};

#[test]
fn every_length_at_every_edge() {
    for algorithm in ALGORITHMS {
        for chunk in CHUNKS {
            for bytes in lengths(chunk) {
                let data = data(bytes);
                let sealed = seal(algorithm, chunk, &data);
                // The last chunk is empty only if all is.
                let chunks = bytes.div_ceil(chunk).max(1);
                assert_eq!(sealed.len(), bytes + 16 * chunks, "{algorithm} {chunk} {bytes}");
                assert_eq!(open(algorithm, chunk, &sealed), (data, None), "{algorithm} {chunk}");
            }
        }
    }
}

/// A type with one algorithm makes the stream that a `Cipher` of it makes, and reads it.
#[test]
fn types_with_one_algorithm_are_the_same() {
    macro_rules! same {
        ($($cipher:ident),*) => {$({
            let key = [0x5a; $cipher::KEY_LENGTH];
            let prefix = vec![3; $cipher::NONCE_LENGTH - 5];
            let text = data(200_000);
            let sealed = |cipher: &dyn ChunkCipher| {
                let stream = Stream::new(cipher, &prefix).expect("a prefix");
                let mut writer = Encryptor::new(stream, Vec::new());
                writer.write_all(&text).expect("a vector takes all");
                writer.finish().expect("a vector takes all")
            };
            let typed = $cipher::new(&key);
            let named = Cipher::new($cipher::ALGORITHM, &key).expect("a key");
            assert!(sealed(&typed) == sealed(&named), "{}", $cipher::ALGORITHM);

            let mut opened = Vec::new();
            let stream = Stream::new(&typed, &prefix).expect("a prefix");
            let whole = Decryptor::new(stream, &sealed(&named)[..]).read_to_end(&mut opened);
            assert!(whole.is_ok() && opened == text, "{}", $cipher::ALGORITHM);
        })*};
    }
    same!(Aes128Gcm, Aes192Gcm, Aes256Gcm, ChaCha20Poly1305, XChaCha20Poly1305);
}

/// The sizes of the pieces leave no trace.
#[test]
fn pieces_of_every_size() {
    let algorithm = Algorithm::AES_256_GCM;
    for chunk in [1, 17, 1000, 64 << 10] {
        let data = data(3 * chunk + 5);
        let sealed = seal(algorithm, chunk, &data);
        for piece in [1, 3, chunk - chunk / 2, chunk, chunk + 1, 2 * chunk + 1] {
            let mut encryptor = encryptor(algorithm, chunk, Vec::new());
            for (i, part) in data.chunks(piece).enumerate() {
                assert_eq!(encryptor.write(part).expect("memory"), part.len());
                if i % 5 == 0 {
                    encryptor.flush().expect("memory");
                    // What is whole is written; what may be the last chunk is not.
                    let whole = (i * piece + part.len() - 1) / chunk;
                    assert_eq!(encryptor.get_ref().len(), whole * (chunk + 16));
                }
            }
            assert!(encryptor.finish().expect("memory") == sealed, "{chunk} by {piece}");

            let mut decryptor = decryptor(algorithm, chunk, &sealed[..]);
            let mut out = Vec::new();
            let mut part = vec![0; piece];
            loop {
                let bytes = decryptor.read(&mut part).expect("it is authentic");
                if bytes == 0 {
                    break;
                }
                out.extend_from_slice(&part[..bytes]);
            }
            assert!(out == data, "{chunk} by {piece}");
            assert_eq!(decryptor.read(&mut part).expect("the end stays"), 0);
            assert_eq!(decryptor.fill_buf().expect("the end stays"), b"");
        }
    }
}

/// Memory is sealed and opened where it is, by whole chunks and by parts of them.
#[test]
fn without_copy_the_bytes_are_the_same() {
    let algorithm = Algorithm::AES_256_GCM;
    for chunk in [1, 17, 1000, 64 << 10] {
        for bytes in lengths(chunk) {
            let data = data(bytes);
            let sealed = seal(algorithm, chunk, &data);
            for piece in [chunk / 3 + 1, 2 * chunk + 1, 20 * chunk] {
                let before = b"before it".to_vec();
                let mut encryptor = encryptor(algorithm, chunk, before).without_copy();
                for part in data.chunks(piece) {
                    encryptor.write_all(part).expect("memory");
                }
                let all = encryptor.finish().expect("memory");
                assert!(all == [b"before it", &sealed[..]].concat(), "{chunk} {bytes}");

                let mut out = vec![0; piece];
                let mut read = Vec::new();
                let mut decryptor = decryptor(algorithm, chunk, &sealed[..]).without_copy();
                loop {
                    let given = decryptor.read(&mut out).expect("it is authentic");
                    if given == 0 {
                        break;
                    }
                    read.extend_from_slice(&out[..given]);
                }
                assert!(read == data, "{chunk} {bytes}");

                // A reader that has only parts of chunks in memory, or more than one.
                let reader = BufReader::with_capacity(piece, &sealed[..]);
                let mut read = b"before it".to_vec();
                let mut decryptor =
                    crate::support::decryptor(algorithm, chunk, reader).without_copy();
                assert_eq!(decryptor.read_to_end(&mut read).expect("it is authentic"), bytes);
                assert!(read == [b"before it", &data[..]].concat(), "{chunk} {bytes}");
            }
        }
    }
}

/// From any place on.
#[test]
fn without_copy_begins_behind_what_is_there() {
    let data = data(20 * 100 + 7);
    let sealed = seal(Algorithm::AES_256_GCM, 100, &data);
    for first in [0, 99, 100, 101, 1000, 2000] {
        let mut encryptor = encryptor(Algorithm::AES_256_GCM, 100, Vec::new());
        encryptor.write_all(&data[..first]).expect("memory");
        let mut encryptor = encryptor.without_copy();
        encryptor.write_all(&data[first..]).expect("memory");
        assert_eq!(encryptor.finish().expect("memory"), sealed, "{first}");

        let mut decryptor = decryptor(Algorithm::AES_256_GCM, 100, &sealed[..]);
        let mut out = vec![0; first];
        decryptor.read_exact(&mut out).expect("it is authentic");
        decryptor.without_copy().read_to_end(&mut out).expect("it is authentic");
        assert_eq!(out, data, "{first}");
    }
}

#[test]
fn text_is_read_by_lines() {
    let text: String = (0..1000).map(|i| format!("line {i}\n")).collect();
    let sealed = seal(Algorithm::CHACHA20_POLY1305, 100, text.as_bytes());
    let lines = decryptor(Algorithm::CHACHA20_POLY1305, 100, &sealed[..]).lines();
    let read: String = lines.map(|line| line.expect("it is authentic") + "\n").collect();
    assert_eq!(read, text);
}

#[test]
fn what_seals_no_streams_is_refused() {
    let cipher = |algorithm: Algorithm, key| Cipher::boxed(algorithm, key).expect("a key");
    let chained = cipher(Algorithm::AES_128_CBC_HMAC_SHA256, &[1; 48]);
    assert_eq!(Stream::new(&chained, &[0; 11]).err(), Some(Error::Unsupported));
    let mut gcm = cipher(Algorithm::AES_256_GCM, &KEY);
    for length in [0, 6, 8, 12] {
        let refused = Stream::new(&gcm, &[0; 12][..length]).err();
        assert_eq!(refused, Some(Error::NonceLength), "{length}");
    }
    let stream = || Stream::new(&gcm, &[0; 7]).expect("a prefix");
    for size in [0, LONGEST_CHUNK + 1, usize::MAX] {
        let refused = Encryptor::with_chunk_size(stream(), size, b"", Vec::new()).err();
        assert_eq!(refused, Some(Error::DataLength), "{size}");
    }
    gcm.set_tag_length(12).expect("a length of tags");
    assert_eq!(gcm.as_ref().tag_length(), 12);
    assert_eq!(Stream::new(&gcm, &[0; 7]).err(), Some(Error::TagLength));
}

#[test]
fn nothing_is_taken_after_the_end() {
    let mut encryptor = encryptor(Algorithm::AES_256_GCM, 10, Vec::new());
    encryptor.write_all(b"everything").expect("memory");
    encryptor.try_finish().expect("memory");
    encryptor.try_finish().expect("it is finished already");
    let refused = encryptor.write(b"more").expect_err("it is finished");
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
    let sealed = encryptor.finish().expect("memory");
    assert_eq!(open(Algorithm::AES_256_GCM, 10, &sealed), (b"everything".to_vec(), None));
}

#[test]
fn debug_output_shows_no_secret() {
    let mut encryptor = encryptor(Algorithm::AES_256_GCM, 100, Vec::new());
    encryptor.write_all(&[0xc7; 50]).expect("memory");
    let shown = format!("{encryptor:?} {:?}", decryptor(Algorithm::AES_256_GCM, 9, &b""[..]));
    // The key, the plaintext, the prefix.
    for secret in ["90, 90", "199", "100, 101"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
