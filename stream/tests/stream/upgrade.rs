//! Streams and files that earlier releases wrote.

use std::fs;
use std::path::Path;

#[cfg(feature = "file")]
use lanecrypt_ciphers::Algorithm;
#[cfg(feature = "file")]
use lanecrypt_stream::file::{self, Argon2id, Error, Options, Secret};
use lanecrypt_testing::fixtures;

use crate::support::{ALGORITHMS, open, seal};

const CHUNK: usize = 64;

/// `NAME-BYTES` of a file, and the bytes of its plaintext.
fn bytes(name: &str) -> usize {
    let (_, bytes) = name.rsplit_once('-').expect("a number of bytes");
    bytes.parse().expect("a number")
}

fn write_streams(folder: &Path) {
    for algorithm in ALGORITHMS {
        for bytes in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1] {
            let stream = seal(algorithm, CHUNK, &fixtures::text(bytes));
            fs::write(folder.join(format!("{algorithm}-{bytes}.stream")), stream).expect("new");
        }
    }
}

#[test]
fn streams_of_earlier_releases() {
    fixtures::write("streams", write_streams);
    for folder in fixtures::of_every_version("streams") {
        let mut read = 0;
        for (name, stream) in fixtures::files(&folder, ".stream") {
            let algorithm = ALGORITHMS.into_iter().find(|it| name.starts_with(&it.to_string()));
            let algorithm = algorithm.expect("a name");
            let (text, error) = open(algorithm, CHUNK, &stream);
            assert!(error.is_none() && text == fixtures::text(bytes(&name)), "{name}");
            // The key, the prefix and the associated data are those of `support`.
            assert_eq!(seal(algorithm, CHUNK, &text), stream, "{name}");
            read += 1;
        }
        assert!(read >= 7 * ALGORITHMS.len(), "{}: {read}", folder.display());
    }
}

#[cfg(feature = "file")]
fn write_files(folder: &Path) {
    let (key, words) = (fixtures::text(32), b"correct horse battery staple");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("a new file");
    write("key", &key);
    write("passphrase", words);
    let key = key.try_into().expect("32 bytes");
    let encrypted = |algorithm, argon2id, secret, bytes: usize| {
        let (options, mut sealed) = (Options { algorithm, argon2id }, Vec::new());
        file::encrypt(&options, secret, &fixtures::text(bytes)[..], &mut sealed).expect("a vector");
        sealed
    };
    let cheap = Argon2id { memory: 64, passes: 2, lanes: 2 };
    for algorithm in
        [Algorithm::AES_256_GCM, Algorithm::CHACHA20_POLY1305, Algorithm::XCHACHA20_POLY1305]
    {
        for bytes in [0, 1, 1000] {
            let sealed = encrypted(algorithm, cheap, Secret::Key(&key), bytes);
            write(&format!("key-{algorithm}-{bytes}.lanecrypt"), &sealed);
        }
        let sealed = encrypted(algorithm, cheap, Secret::Passphrase(words), 1000);
        write(&format!("passphrase-{algorithm}-1000.lanecrypt"), &sealed);
    }
    // A full chunk, and a byte more; the usual cost of a passphrase.
    let usual = Argon2id::default();
    for (algorithm, bytes) in
        [(Algorithm::AES_256_GCM, 65_536), (Algorithm::CHACHA20_POLY1305, 65_537)]
    {
        let sealed = encrypted(algorithm, usual, Secret::Key(&key), bytes);
        write(&format!("key-{algorithm}-{bytes}.lanecrypt"), &sealed);
    }
    let sealed = encrypted(Algorithm::AES_256_GCM, usual, Secret::Passphrase(words), 100);
    write("passphrase-usual-100.lanecrypt", &sealed);
}

#[cfg(feature = "file")]
#[test]
fn files_of_earlier_releases() {
    fixtures::write("files", write_files);
    for folder in fixtures::of_every_version("files") {
        let secret = |name: &str| fs::read(folder.join(name)).expect("a secret");
        let (key, words) = (secret("key"), secret("passphrase"));
        let key = key.try_into().expect("32 bytes");
        let mut read = 0;
        for (name, sealed) in fixtures::files(&folder, ".lanecrypt") {
            let secret = match name.starts_with("key-") {
                true => Secret::Key(&key),
                false => Secret::Passphrase(&words),
            };
            let mut text = Vec::new();
            let outcome = file::decrypt(secret, &sealed[..], &mut text);
            assert!(outcome.is_ok() && text == fixtures::text(bytes(&name)), "{name}: {outcome:?}");
            read += 1;
        }
        assert!(read >= 15, "{}: {read}", folder.display());
    }
}

#[cfg(feature = "file")]
#[test]
fn formats_of_later_releases_are_named() {
    let key = [7; 32];
    let mut sealed = Vec::new();
    file::encrypt(&Options::default(), Secret::Key(&key), &b"text"[..], &mut sealed).expect("new");
    for version in [0, 3, 255] {
        sealed[10] = version;
        let refused = file::decrypt(Secret::Key(&key), &sealed[..], Vec::new()).expect_err("other");
        assert!(matches!(refused, Error::Version(it) if it == version), "{refused}");
        assert!(refused.to_string().contains(&format!("format {version}")), "{refused}");
    }
}
