//! Files that somebody has changed: what is given out is authentic, and a file is whole or not
//! there.

use std::fs;

use super::{CHUNK, HEADER, SEALED, data, encrypted, key, names, through};
use crate::support::{Folder, assert_one_line, lanecrypt, run};

/// To a pipe comes what is before the damage; a file does not appear.
fn refused(folder: &Folder, key: &str, sealed: &[u8], before: &[u8], about: &str) {
    let output = through("decrypt", key, &[], sealed);
    assert_one_line(&output, 1, about);
    assert!(output.stdout == before, "{} bytes: {about}", output.stdout.len());

    let path = folder.path("file.lanecrypt");
    fs::write(&path, sealed).expect("a file");
    let output = run(lanecrypt(&["decrypt", "--key-file", key, &path]), b"");
    assert_one_line(&output, 1, about);
    assert_eq!(names(folder), ["file.lanecrypt", "key"]);
    assert!(output.stdout.is_empty());
}

#[test]
fn every_chunk_that_was_changed_is_refused_at_its_place() {
    let folder = Folder::new("crypt-damaged");
    let key = key(&folder);
    let data = data(4 * CHUNK + 100);
    let sealed = encrypted(&key, &[], &data);
    let (header, stream) = sealed.split_at(HEADER);
    let chunks: Vec<&[u8]> = stream.chunks(SEALED).collect();
    assert_eq!(chunks.len(), 5);
    let at = |chunk: usize| format!("in chunk {chunk} at byte {}", HEADER + chunk * SEALED);
    for i in 0..5 {
        // A bit of the message, and one of the tag.
        for place in [i * SEALED, i * SEALED + chunks[i].len() - 1] {
            let mut changed = sealed.clone();
            changed[HEADER + place] ^= 0x10;
            refused(&folder, &key, &changed, &data[..i * CHUNK], &at(i));
        }
        for j in i + 1..5 {
            let mut swapped = chunks.clone();
            swapped.swap(i, j);
            let changed = [&[header], &swapped[..]].concat().concat();
            refused(&folder, &key, &changed, &data[..i * CHUNK], &at(i));
        }
        if i < 4 {
            let mut twice = chunks.clone();
            twice.insert(i, chunks[i]);
            let changed = [&[header], &twice[..]].concat().concat();
            refused(&folder, &key, &changed, &data[..(i + 1) * CHUNK], &at(i + 1));
            let mut without = chunks.clone();
            without.remove(i);
            let changed = [&[header], &without[..]].concat().concat();
            refused(&folder, &key, &changed, &data[..i * CHUNK], &at(i));
        }
        // Cut at the end of a chunk, in its tag, and in its message.
        let end = HEADER + i * SEALED;
        let before = &data[..i.saturating_sub(1) * CHUNK];
        refused(
            &folder,
            &key,
            &sealed[..end],
            before,
            &format!("truncated before the end of chunk {i}"),
        );
        refused(&folder, &key, &sealed[..end + 15], &data[..i * CHUNK], "truncated");
        refused(&folder, &key, &sealed[..end + 50], &data[..i * CHUNK], &at(i));
    }
    let longer = [&sealed[..], b"!"].concat();
    refused(&folder, &key, &longer, &data[..4 * CHUNK], &at(4));
    let full = encrypted(&key, &[], &data[..2 * CHUNK]);
    let longer = [&full[..], &full[HEADER..]].concat();
    refused(&folder, &key, &longer, &data[..CHUNK], "more data behind the last chunk, 1 at byte");
}

#[test]
fn every_bit_of_the_header_counts() {
    let folder = Folder::new("crypt-header");
    let key = key(&folder);
    let sealed = encrypted(&key, &["--algorithm", "chacha20-poly1305"], &data(100));
    for at in 0..HEADER {
        let about = match at {
            ..10 => "not a file that 'lanecrypt encrypt' has made",
            10 => "of another version of this program",
            // Some of the other values are other algorithms, or other sizes.
            11 => "",
            12..16 => "",
            _ => "another key, or its header was changed",
        };
        for bit in 0..8 {
            let mut changed = sealed.clone();
            changed[at] ^= 1 << bit;
            refused(&folder, &key, &changed, b"", about);
        }
    }
    for end in 0..HEADER {
        let about = match end {
            ..11 => "not a file that 'lanecrypt encrypt' has made",
            _ => "truncated within its header",
        };
        refused(&folder, &key, &sealed[..end], b"", about);
    }
    refused(&folder, &key, &sealed[..HEADER], b"", "truncated");
}

#[test]
fn another_key_opens_nothing() {
    let folder = Folder::new("crypt-other-key");
    let key = key(&folder);
    let sealed = encrypted(&key, &[], &data(CHUNK * 3));
    let mut other = fs::read(&key).expect("the key");
    other[31] ^= 1;
    fs::write(&key, other).expect("it is ours");
    refused(&folder, &key, &sealed, b"", "another key");
}
