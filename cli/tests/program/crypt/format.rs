//! The format, by another implementation of it: `docs/file-format.md` in code.

use std::fs;

use aead_stream::{DecryptorBE32, EncryptorBE32};
use aes_gcm::Aes256Gcm;
use chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{CHUNK, HEADER, data, encrypted, key, through};
use crate::support::{Folder, errors};

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// HKDF-SHA256 (RFC 5869).
fn hkdf(salt: &[u8], key: &[u8], info: &[u8], bytes: usize) -> Vec<u8> {
    let extracted = hmac(salt, &[key]);
    let mut out = Vec::new();
    let mut before = Vec::new();
    for counter in 1.. {
        before = hmac(&extracted, &[&before, info, &[counter]]).to_vec();
        out.extend_from_slice(&before);
        if out.len() >= bytes {
            break;
        }
    }
    out.truncate(bytes);
    out
}

/// The first bytes of a header, and the salt.
fn begin(algorithm: u8, chunk: u32, salt: &[u8; 32]) -> Vec<u8> {
    [b"\x8clanecrypt\x01", &[algorithm][..], &chunk.to_be_bytes(), salt].concat()
}

/// All that follows from a key file and the first 48 bytes: the key, the prefix, the check value.
fn derive(key: &[u8], begin: &[u8]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let prefix = if begin[11] == 3 { 19 } else { 7 };
    let mut all = hkdf(&begin[16..48], key, &begin[..16], 32 + prefix + 32);
    let check = all.split_off(32 + prefix);
    let prefix = all.split_off(32);
    (all, prefix, check)
}

macro_rules! by {
    ($kind:ident, $cipher:ty, $next:ident, $last:ident, $derived:expr, $chunks:expr) => {{
        let (key, prefix) = (&$derived.0[..], &$derived.1[..]);
        let key = key.try_into().expect("a key");
        let prefix = prefix.try_into().expect("a prefix");
        let mut stream = $kind::<$cipher>::new(&key, &prefix);
        let (last, before) = $chunks.split_last().expect("at least one");
        let mut out = Vec::new();
        for chunk in before {
            out.extend(stream.$next(*chunk).expect("it is right"));
        }
        out.extend(stream.$last(*last).expect("it is right"));
        out
    }};
}

fn chunks(data: &[u8], size: usize) -> Vec<&[u8]> {
    if data.is_empty() { vec![data] } else { data.chunks(size).collect() }
}

fn encrypt(key: &[u8], algorithm: u8, chunk: u32, data: &[u8]) -> Vec<u8> {
    let begin = begin(algorithm, chunk, &[0xa5; 32]);
    let derived = derive(key, &begin);
    let chunks = chunks(data, chunk as usize);
    let sealed = match algorithm {
        1 => by!(EncryptorBE32, Aes256Gcm, encrypt_next, encrypt_last, derived, chunks),
        2 => by!(EncryptorBE32, ChaCha20Poly1305, encrypt_next, encrypt_last, derived, chunks),
        _ => by!(EncryptorBE32, XChaCha20Poly1305, encrypt_next, encrypt_last, derived, chunks),
    };
    [begin, derived.2, sealed].concat()
}

fn decrypt(key: &[u8], file: &[u8]) -> Vec<u8> {
    let (header, stream) = file.split_at(HEADER);
    assert_eq!(header[..11], *b"\x8clanecrypt\x01");
    let derived = derive(key, &header[..48]);
    assert_eq!(derived.2, header[48..]);
    let size = u32::from_be_bytes(header[12..16].try_into().expect("4 bytes")) as usize;
    let chunks = chunks(stream, size + 16);
    match header[11] {
        1 => by!(DecryptorBE32, Aes256Gcm, decrypt_next, decrypt_last, derived, chunks),
        2 => by!(DecryptorBE32, ChaCha20Poly1305, decrypt_next, decrypt_last, derived, chunks),
        3 => by!(DecryptorBE32, XChaCha20Poly1305, decrypt_next, decrypt_last, derived, chunks),
        other => panic!("algorithm {other}"),
    }
}

#[test]
fn files_of_either_are_read_by_the_other() {
    let folder = Folder::new("crypt-format");
    let path = key(&folder);
    let secret = fs::read(&path).expect("the key");
    for (number, algorithm) in (1..).zip(super::ALGORITHMS) {
        for bytes in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let data = data(bytes);
            let ours = encrypted(&path, &["--algorithm", algorithm], &data);
            assert_eq!(ours[11], number);
            assert!(decrypt(&secret, &ours) == data, "{algorithm} {bytes}");
        }
        // The sizes of chunks at their bounds, and what is beyond them.
        let data = data(100_000);
        for chunk in [1 << 10, 1025, 1 << 20, 16 << 20] {
            let output = through("decrypt", &path, &[], &encrypt(&secret, number, chunk, &data));
            assert!(output.status.success() && output.stdout == data, "{}", errors(&output));
        }
        for chunk in [1, 1023, (16 << 20) + 1, u32::MAX] {
            let output = through("decrypt", &path, &[], &encrypt(&secret, number, chunk, &data));
            assert!(!output.status.success() && output.stdout.is_empty());
            assert!(errors(&output).contains("a size that is not allowed"));
        }
    }
}

/// Made once, by Python's `cryptography`, with the key 0, 1 to 31: whatever changes, it must be
/// read.
const KNOWN: &str = "\
    8c6c616e6563727970740101000004006465666768696a6b6c6d6e6f707172737475767778797a7b7c7d\
    7e7f808182839b797731574dc91f57977af06df77420ec5fb2f59517449897c7f6800a38e42fed8b38e7\
    695f902707dcc628dc50dab7e5819a13119f7145f9f2435ba102f81d5596a0a5d65d02e28860bc290498";

#[test]
fn a_known_file() {
    let folder = Folder::new("crypt-known");
    let path = folder.path("key");
    let secret: Vec<u8> = (0..32).collect();
    fs::write(&path, &secret).expect("a new file");
    super::set_mode(&path, 0o600);
    let file: Vec<u8> = (0..KNOWN.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&KNOWN[at..at + 2], 16).expect("digits"))
        .collect();
    let output = through("decrypt", &path, &[], &file);
    assert_eq!(errors(&output), "");
    assert_eq!(output.stdout, b"A file of lanecrypt, format 1.");
}
