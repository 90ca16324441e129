//! Test vectors: JSON lines, parsed once, with their origin.

pub mod deterministic;
pub mod tagged;
pub mod whole;

use std::path::PathBuf;

use lanecrypt_ciphers::Algorithm;
use serde_json::Value;

/// One line of a vector file.
pub struct Vector {
    /// File and line, for messages.
    pub place: String,
    pub algorithm: Algorithm,
    /// The file that it was taken from.
    pub source: String,
    pub key: Vec<u8>,
    pub nonce: Vec<u8>,
    pub skip: u64,
    pub counter: u64,
    pub chunks: Vec<usize>,
    pub answer: Answer,
    /// What the block becomes after so many encryptions.
    pub iterated: Vec<(usize, Vec<u8>)>,
}

/// What must come out.
pub enum Answer {
    Text {
        plain: Vec<u8>,
        cipher: Vec<u8>,
    },
    /// XOR of the 64-byte blocks of so many keystream bytes.
    Digest {
        len: usize,
        digest: Vec<u8>,
    },
}

/// The lines of the workspace's own files.
pub fn own() -> Vec<Vector> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    let files = std::fs::read_dir(folder).expect("the folder of vectors");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file of vectors").path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a file of vectors");
        parse_file(&path.display().to_string(), &text)
    };
    paths.iter().flat_map(read).collect()
}

/// The lines of the vectors that may not be copied, if they lie beside the workspace.
pub fn shared() -> Option<Vec<Vector>> {
    let folder = shared_vectors();
    let mut lines = Vec::new();
    let names = ["normalized.jsonl", "generated/stream.jsonl", "generated/block.jsonl"];
    for name in names {
        let text = std::fs::read_to_string(folder.join(name)).ok()?;
        lines.extend(parse_file(name, &text));
    }
    Some(lines)
}

/// The folder of the vectors that may not be copied, which need not be there.
fn shared_vectors() -> PathBuf {
    let folder = match std::env::var_os("LANECRYPT_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
    };
    folder.join("vectors")
}

fn parse_file(name: &str, text: &str) -> Vec<Vector> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(i, line)| parse(format!("{name}:{}", i + 1), line)).collect()
}

/// The vector of a line; none for the first line, for what is not built in, and for what has tags.
fn parse(place: String, line: &str) -> Option<Vector> {
    let value: Value = serde_json::from_str(line).expect(&place);
    let algorithm: Algorithm = value["alg"].as_str()?.parse().ok()?;
    if algorithm.is_aead() {
        return None;
    }
    let bytes = |name: &str| value[name].as_str().map(|hex| decode(hex, &place));
    let number = |name: &str| value[name].as_u64().unwrap_or(0);
    let answer = match bytes("xor_digest") {
        Some(digest) => Answer::Digest { len: size(number("len")), digest },
        None => Answer::Text {
            plain: bytes("pt").expect("pt or xor_digest"),
            cipher: bytes("ct").expect("ct or xor_digest"),
        },
    };
    let chunks = value["chunks"].as_array();
    let iterated = [(100, "iter100"), (1000, "iter1000")];
    // The generated lines of `shared` name their origin by their file alone.
    let source = value["src"].as_str().or_else(|| place.split(':').next());
    Some(Vector {
        algorithm,
        source: source.unwrap_or_default().to_owned(),
        key: bytes("key").expect("key"),
        nonce: bytes("iv").unwrap_or_default(),
        skip: number("skip"),
        counter: number("counter"),
        chunks: chunks.map_or_else(Vec::new, |chunks| {
            chunks.iter().map(|n| size(n.as_u64().expect("chunk"))).collect()
        }),
        answer,
        iterated: iterated
            .into_iter()
            .filter_map(|(times, name)| Some((times, bytes(name)?)))
            .collect(),
        place,
    })
}

fn size(n: u64) -> usize {
    usize::try_from(n).expect("a length fits")
}

fn decode(hex: &str, place: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{place}");
    let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).expect(place);
    (0..hex.len()).step_by(2).map(byte).collect()
}
