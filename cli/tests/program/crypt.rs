//! `lanecrypt encrypt`, `decrypt` and `keygen`: files, pipes, and what is left of them.

mod damaged;
mod ended;
mod format;
mod places;
mod secrets;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use crate::support::{Folder, assert_one_line, errors, lanecrypt, run};

/// The lengths of the header and of a full chunk with its tag.
const HEADER: usize = 80;
const CHUNK: usize = 64 << 10;
const SEALED: usize = CHUNK + 16;

const ALGORITHMS: [&str; 3] = ["aes-256-gcm", "chacha20-poly1305", "xchacha20-poly1305"];

fn data(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i ^ (i >> 8) ^ (i >> 15)).to_le_bytes()[0]).collect()
}

/// Makes a key file by the program itself.
fn key(folder: &Folder) -> String {
    let path = folder.path("key");
    let output = run(lanecrypt(&["keygen", &path]), b"");
    assert!(output.status.success(), "{}", errors(&output));
    path
}

/// Standard input to standard output.
fn through(command: &str, key: &str, more: &[&str], input: &[u8]) -> Output {
    run(lanecrypt(&[&[command, "--key-file", key], more].concat()), input)
}

fn encrypted(key: &str, more: &[&str], input: &[u8]) -> Vec<u8> {
    let output = through("encrypt", key, more, input);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", errors(&output));
    output.stdout
}

/// A key that comes by standard input, and one that goes to standard output.
#[test]
fn a_key_by_a_pipe() {
    let folder = Folder::new("crypt-key-pipe");
    let made = run(lanecrypt(&["keygen", "-"]), b"");
    assert!(made.status.success() && made.stdout.len() == 32, "{}", errors(&made));
    let (plain, path) = (folder.path("plain"), folder.path("key"));
    fs::write(&plain, data(100)).expect("a new file");
    let output = run(lanecrypt(&["encrypt", "-k", "-", &plain]), &made.stdout);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", errors(&output));
    fs::write(&path, &made.stdout).expect("a new file");
    set_mode(&path, 0o600);
    let sealed = folder.path("plain.lanecrypt");
    let opened = run(lanecrypt(&["decrypt", "-k", &path, &sealed, "-o", "-"]), b"");
    assert_eq!(opened.stdout, data(100));
    let output = run(lanecrypt(&["decrypt", "-k", "-", &sealed, "-o", "-"]), &made.stdout[..31]);
    assert_one_line(&output, 1, "31 bytes where a key has 32");
    let output = run(lanecrypt(&["encrypt", "-k", "-", "-"]), &made.stdout);
    assert_one_line(&output, 2, "the key or a file, not both");
    assert_eq!(names(&folder), ["key", "plain", "plain.lanecrypt"]);
}

/// The names of what is in a folder, in order.
fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path("")).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> =
        entries.map(|entry| name(entry).into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

fn mode(path: &str) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

fn set_mode(path: &str, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

#[test]
fn every_length_through_pipes() {
    let folder = Folder::new("crypt-pipes");
    let key = key(&folder);
    for algorithm in ALGORITHMS {
        for bytes in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 8 * CHUNK, 21 * CHUNK + 7] {
            let data = data(bytes);
            let sealed = encrypted(&key, &["--algorithm", algorithm], &data);
            let chunks = bytes.div_ceil(CHUNK).max(1);
            assert_eq!(sealed.len(), HEADER + bytes + 16 * chunks, "{algorithm} {bytes}");
            // Without names, and with the one of standard input.
            for more in [&[][..], &["-"], &["-", "--output", "-"]] {
                let opened = through("decrypt", &key, more, &sealed);
                assert!(opened.status.success(), "{}", errors(&opened));
                assert!(opened.stdout == data && opened.stderr.is_empty(), "{algorithm} {bytes}");
            }
        }
    }
}

#[test]
fn files_of_one_key_have_nothing_in_common() {
    let folder = Folder::new("crypt-twice");
    let key = key(&folder);
    let twice = [(); 2].map(|()| encrypted(&key, &[], &[0; 1000]));
    assert_eq!(twice[0][..16], twice[1][..16], "magic, version, algorithm, chunks");
    let same = twice[0][16..].iter().zip(&twice[1][16..]).filter(|(a, b)| a == b).count();
    assert!(same < 40, "{same} of {} bytes are the same", twice[0].len() - 16);
}

#[test]
fn a_new_key_is_for_its_user_alone_and_replaces_nothing() {
    let folder = Folder::new("crypt-keygen");
    let path = key(&folder);
    assert_eq!((fs::read(&path).expect("the key").len(), mode(&path)), (32, 0o600));
    let before = fs::read(&path).expect("the key");
    let again = run(lanecrypt(&["keygen", &path]), b"");
    assert_one_line(&again, 1, "already exists");
    assert_eq!(fs::read(&path).expect("the key"), before);
    let other = folder.path("other");
    assert!(run(lanecrypt(&["keygen", &other]), b"").status.success());
    assert_ne!(fs::read(&other).expect("a key"), before);
    let output = run(lanecrypt(&["keygen", &folder.path("no/key")]), b"");
    assert_one_line(&output, 1, "No such file");
}

#[test]
fn a_key_file_that_is_not_secret_or_no_key_is_refused() {
    let folder = Folder::new("crypt-keys");
    let path = key(&folder);
    let sealed = encrypted(&path, &[], b"text");
    let refused = |path: &str, about: &str| {
        for (command, input) in [("encrypt", &b"text"[..]), ("decrypt", &sealed)] {
            let output = through(command, path, &[], input);
            assert_one_line(&output, 1, about);
            assert!(output.stdout.is_empty());
        }
    };
    for open in [0o640, 0o604, 0o620, 0o602, 0o644, 0o610] {
        set_mode(&path, open);
        refused(&path, "others can read or change it");
    }
    set_mode(&path, 0o400);
    assert_eq!(through("decrypt", &path, &[], &sealed).stdout, b"text");
    refused(&folder.path("none"), "No such file");
    refused(&folder.path(""), "not a file");
    refused(&folder.fifo("fifo"), "not a file");
    for (bytes, about) in [(0, "0 bytes"), (31, "31 bytes"), (33, "33 bytes"), (64, "64 bytes")] {
        let path = folder.path(&bytes.to_string());
        fs::write(&path, vec![7; bytes]).expect("a new file");
        set_mode(&path, 0o600);
        refused(&path, about);
    }
}
