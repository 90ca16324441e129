//! Files with a header: those of earlier programs and of others, what is refused, and why.

use std::io::{self, Read, Write};

use lanecrypt_ciphers::Algorithm;
use lanecrypt_stream::file::{self, Argon2id, Error, Options, Secret};

use crate::support::data;

const KEY: [u8; 32] = [0x5a; 32];
const WORDS: Secret<'_> = Secret::Passphrase(b"correct horse battery staple");
const CHUNK: usize = 64 << 10;
/// The lengths of headers: of a key, and of a passphrase.
const OF_KEY: usize = 80;
const OF_WORDS: usize = 104;

/// A passphrase that costs little, so that tests are fast.
fn options(algorithm: Algorithm) -> Options {
    Options { algorithm, argon2id: Argon2id { memory: 32, passes: 1, lanes: 2 } }
}

fn encrypted(algorithm: Algorithm, secret: Secret<'_>, data: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::new();
    let bytes = file::encrypt(&options(algorithm), secret, data, &mut sealed).expect("it is right");
    assert_eq!(bytes, data.len() as u64);
    sealed
}

/// What was decrypted, and why not more.
fn decrypted(secret: Secret<'_>, sealed: &[u8]) -> (Vec<u8>, Option<Error>) {
    let mut data = Vec::new();
    let outcome = file::decrypt(secret, sealed, &mut data);
    (data, outcome.err())
}

fn refused(secret: Secret<'_>, sealed: &[u8]) -> Error {
    let (data, error) = decrypted(secret, sealed);
    assert!(data.is_empty());
    error.expect("it is refused")
}

const ALGORITHMS: [Algorithm; 3] =
    [Algorithm::AES_256_GCM, Algorithm::CHACHA20_POLY1305, Algorithm::XCHACHA20_POLY1305];

#[test]
fn files_of_both_secrets_are_read() {
    for algorithm in ALGORITHMS {
        for (secret, header) in [(Secret::Key(&KEY), OF_KEY), (WORDS, OF_WORDS)] {
            for bytes in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 9 * CHUNK + 5] {
                let data = data(bytes);
                let sealed = encrypted(algorithm, secret, &data);
                assert_eq!(sealed.len(), header + bytes + 16 * bytes.div_ceil(CHUNK).max(1));
                let (opened, error) = decrypted(secret, &sealed);
                assert!(opened == data && error.is_none(), "{algorithm} {secret:?} {bytes}");
                let mut opened = Vec::new();
                let mut decryptor = file::decryptor(secret, &sealed[..]).expect("its header");
                decryptor.read_to_end(&mut opened).expect("it is right");
                assert!(opened == data);
            }
        }
    }
    let mut file =
        file::encryptor(&Options::default(), Secret::Key(&KEY), Vec::new()).expect("it is right");
    file.write_all(b"in pieces").expect("a vector");
    let sealed = file.finish().expect("a vector");
    assert_eq!(decrypted(Secret::Key(&KEY), &sealed).0, b"in pieces");
}

/// Written by the program when its format had version 1 only, with the key 0, 1 to 31.
#[test]
fn files_of_the_first_version_are_read() {
    let mut key = [0; 32];
    (0..).zip(&mut key).for_each(|(i, byte)| *byte = i);
    for sealed in [
        &include_bytes!("../files/aes-256-gcm.lanecrypt")[..],
        include_bytes!("../files/chacha20-poly1305.lanecrypt"),
        include_bytes!("../files/xchacha20-poly1305.lanecrypt"),
    ] {
        let (data, error) = decrypted(Secret::Key(&key), sealed);
        assert!(error.is_none(), "{error:?}");
        let text =
            b"This file was written by lanecrypt encrypt, when its format had one version.\n";
        assert_eq!(data, text);
    }
}

/// Made once, by Python's `cryptography`, with 64 KiB, 2 passes and 2 lanes.
#[test]
fn a_known_file_of_a_passphrase() {
    let (data, error) = decrypted(WORDS, include_bytes!("../files/passphrase.lanecrypt"));
    assert!(error.is_none(), "{error:?}");
    assert_eq!(data, b"A file of lanecrypt, format 2.");
}

#[test]
fn every_change_of_a_header_is_refused() {
    for (secret, length) in [(Secret::Key(&KEY), OF_KEY), (WORDS, OF_WORDS)] {
        let sealed = encrypted(Algorithm::AES_256_GCM, secret, b"text");
        for at in 0..length {
            // Other bits of the cost are allowed ones, which take long.
            let bits = if length == OF_WORDS && (17..23).contains(&at) { 0..1 } else { 0..8 };
            for bit in bits {
                let mut changed = sealed.clone();
                changed[at] ^= 1 << bit;
                let error = refused(secret, &changed);
                let is_right = match at {
                    ..10 => matches!(error, Error::NotThisFormat),
                    // Versions 1 and 2 do not differ by one bit.
                    10 => matches!(error, Error::Version(_)),
                    11 => matches!(error, Error::Algorithm | Error::Secret),
                    12..16 => matches!(error, Error::ChunkSize(_) | Error::Secret),
                    16 if length == OF_WORDS => matches!(error, Error::KeyKind(_)),
                    17..24 if length == OF_WORDS => {
                        matches!(error, Error::Argon2id(_) | Error::Secret)
                    }
                    _ => matches!(error, Error::Secret),
                };
                assert!(is_right, "{secret:?} {at} {bit}: {error}");
            }
        }
        for end in 0..length {
            match refused(secret, &sealed[..end]) {
                Error::NotThisFormat => assert!(end < 11),
                Error::TruncatedHeader => assert!(end >= 11),
                other => panic!("{end}: {other}"),
            }
        }
        let error = refused(secret, &sealed[..length]);
        assert!(matches!(error, Error::Stream(lanecrypt_stream::Error::Truncated { .. })));
    }
}

#[test]
fn another_secret_and_another_kind_of_secret_are_named() {
    let of_key = encrypted(Algorithm::AES_256_GCM, Secret::Key(&KEY), b"text");
    let of_words = encrypted(Algorithm::AES_256_GCM, WORDS, b"text");
    assert!(matches!(refused(Secret::Key(&[0; 32]), &of_key), Error::Secret));
    assert!(matches!(refused(Secret::Passphrase(b"Correct"), &of_words), Error::Secret));
    assert!(matches!(refused(WORDS, &of_key), Error::NeedsKey));
    assert!(matches!(refused(Secret::Key(&KEY), &of_words), Error::NeedsPassphrase));
    assert_eq!(format!("{WORDS:?} {:?}", Secret::Key(&KEY)), "Passphrase Key");
}

/// Neither memory nor time is spent on what a header may not ask for.
#[test]
fn costs_beyond_the_limits_are_refused() {
    let (memory, passes, lanes) =
        (Argon2id::MOST_MEMORY, Argon2id::MOST_PASSES, Argon2id::MOST_LANES);
    let sealed = encrypted(Algorithm::AES_256_GCM, WORDS, b"text");
    for (memory, passes, lanes) in [
        (memory + 1, 1, 1),
        (u32::MAX, passes, lanes),
        (64, passes + 1, 1),
        (64, u16::MAX, 1),
        (64, 0, 1),
        (64, 1, lanes + 1),
        (1 << 20, 1, 255),
        (64, 1, 0),
        (31, 1, 4),
        (0, 1, 1),
    ] {
        let cost = Argon2id { memory, passes, lanes };
        let mut changed = sealed.clone();
        changed[17] = lanes;
        changed[18..20].copy_from_slice(&passes.to_be_bytes());
        changed[20..24].copy_from_slice(&memory.to_be_bytes());
        assert!(matches!(refused(WORDS, &changed), Error::Argon2id(it) if it == cost), "{cost:?}");

        let mut out = Vec::new();
        let options = Options { argon2id: cost, ..Options::default() };
        let error = file::encrypt(&options, WORDS, io::empty(), &mut out).expect_err("a cost");
        assert!(matches!(error, Error::Argon2id(it) if it == cost) && out.is_empty());
        // Without effect on a key.
        assert!(file::encrypt(&options, Secret::Key(&KEY), io::empty(), &mut out).is_ok());
    }
    let mut out = Vec::new();
    let options = Options { algorithm: Algorithm::AES_128_GCM, ..Options::default() };
    let error = file::encrypt(&options, WORDS, io::empty(), &mut out).expect_err("an algorithm");
    assert!(matches!(error, Error::Algorithm) && out.is_empty());
}

#[test]
fn a_damaged_chunk_has_its_number_and_its_place_in_the_file() {
    let data = data(4 * CHUNK);
    for (secret, header) in [(Secret::Key(&KEY), OF_KEY), (WORDS, OF_WORDS)] {
        let sealed = encrypted(Algorithm::CHACHA20_POLY1305, secret, &data);
        for chunk in 0..4_u32 {
            let at = header + chunk as usize * (CHUNK + 16);
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            let (before, error) = decrypted(secret, &changed);
            assert!(before == data[..chunk as usize * CHUNK]);
            let Some(Error::Stream(error)) = error else { panic!("{error:?}") };
            let offset = at as u64;
            assert_eq!(error, lanecrypt_stream::Error::Authentication { chunk, offset });
        }
    }
}

/// Fails after some bytes.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = out.len().min(self.0);
        self.0 -= bytes;
        out[..bytes].fill(1);
        if bytes == 0 { Err(io::Error::other("the reader")) } else { Ok(bytes) }
    }
}

impl Write for Failing {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let bytes = data.len().min(self.0);
        self.0 -= bytes;
        if bytes == 0 { Err(io::Error::other("the writer")) } else { Ok(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_of_reader_and_writer_are_told_apart() {
    let secret = Secret::Key(&KEY);
    let options = Options::default();
    let data = data(3 * CHUNK);
    let sealed = encrypted(Algorithm::AES_256_GCM, secret, &data);
    for bytes in [0, 79, 80, 1000, CHUNK, 2 * CHUNK] {
        let error = file::encrypt(&options, secret, &data[..], Failing(bytes)).expect_err("full");
        assert!(matches!(&error, Error::Write(it) if it.to_string() == "the writer"), "{error}");
        let error = file::encrypt(&options, secret, Failing(bytes), io::sink()).expect_err("read");
        assert!(matches!(&error, Error::Read(it) if it.to_string() == "the reader"), "{error}");
        let error = file::decrypt(secret, &sealed[..], Failing(bytes)).expect_err("full");
        assert!(matches!(&error, Error::Write(it) if it.to_string() == "the writer"), "{error}");
        let from = (&sealed[..bytes]).chain(Failing(0));
        let error = file::decrypt(secret, from, io::sink()).expect_err("read");
        assert!(matches!(&error, Error::Read(it) if it.to_string() == "the reader"), "{error}");
    }
}
