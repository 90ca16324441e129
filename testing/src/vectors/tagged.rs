//! Test vectors of ciphers with authentication: JSON lines, and NIST's response files.

use std::path::Path;

use lanecrypt_ciphers::Algorithm;
use serde_json::Value;

use super::{decode, shared_vectors};

/// A message, or what must be refused.
pub struct Vector {
    /// File and line, for messages.
    pub place: String,
    pub algorithm: Algorithm,
    /// The file that it was taken from.
    pub source: String,
    pub key: Vec<u8>,
    pub nonce: Vec<u8>,
    pub aad: Vec<u8>,
    pub ciphertext: Vec<u8>,
    pub tag: Vec<u8>,
    /// None if the message must be refused.
    pub plain: Option<Vec<u8>>,
}

/// The lines with a tag of the workspace's own files.
pub fn own() -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    let files = std::fs::read_dir(folder).expect("the workspace has vectors");
    let mut files: Vec<_> = files.map(|file| file.expect("it is readable").path()).collect();
    files.sort();
    let lines = files.iter().flat_map(|file| {
        let text = std::fs::read_to_string(file).expect("it is readable");
        let text: Vec<_> =
            text.lines().map(|line| if line.contains("\"tag\"") { line } else { "{}" }).collect();
        json_lines(&file.file_name().unwrap_or_default().to_string_lossy(), &text.join("\n"))
    });
    lines.collect()
}

/// The vectors that may not be copied, if they lie beside the workspace.
pub fn shared() -> Option<Vec<Vector>> {
    let folder = shared_vectors();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let name = "generated/aead_mac.jsonl";
    let mut lines = json_lines(name, &read(name)?);
    for bits in ["128", "192", "256"] {
        for kind in ["Decrypt", "EncryptExtIV"] {
            let name = format!("nist/gcm/gcm{kind}{bits}.subset.rsp");
            lines.extend(responses(&name, &format!("aes-{bits}-gcm"), &read(&name)?));
        }
    }
    Some(lines)
}

/// The lines of a file that are about a cipher; its first names the origin, others are about codes
/// of authentication alone.
fn json_lines(file: &str, text: &str) -> Vec<Vector> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(i, line)| json_line(format!("{file}:{}", i + 1), line)).collect()
}

fn json_line(place: String, line: &str) -> Option<Vector> {
    let value: Value = serde_json::from_str(line).expect(&place);
    let algorithm: Algorithm = value["alg"].as_str()?.parse().ok()?;
    assert!(algorithm.is_aead(), "{place}");
    let bytes = |name: &str| decode(value[name].as_str().expect(name), &place);
    assert!(value["pt"].is_null() || value["pt"].is_string(), "{place}");
    let source = value["src"].as_str().or_else(|| place.split(':').next());
    Some(Vector {
        algorithm,
        source: source.unwrap_or_default().to_owned(),
        key: bytes("key"),
        nonce: bytes("iv"),
        aad: bytes("aad"),
        ciphertext: bytes("ct"),
        tag: bytes("tag"),
        plain: value["pt"].as_str().map(|hex| decode(hex, &place)),
        place,
    })
}

/// The cases of one of NIST's files: a paragraph each, with `FAIL` where there is no plaintext.
fn responses(file: &str, algorithm: &str, text: &str) -> Vec<Vector> {
    let paragraphs = text.replace('\r', "");
    let cases = paragraphs.split("\n\n").filter(|paragraph| paragraph.contains("Count ="));
    cases.map(|case| response(file, algorithm, case)).collect()
}

fn response(file: &str, algorithm: &str, case: &str) -> Vector {
    let count = case.lines().find(|line| line.starts_with("Count")).unwrap_or_default();
    let place = format!("{file}: {count}: {}", case.lines().nth(1).unwrap_or_default());
    let text = |name: &str| {
        let line = case.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_prefix('='));
        line.map(str::trim)
    };
    let bytes = |name: &str| decode(text(name).expect(name), &place);
    let refused = case.lines().any(|line| line == "FAIL");
    Vector {
        algorithm: algorithm.parse().expect("it is built in"),
        source: stem(file),
        key: bytes("Key"),
        nonce: bytes("IV"),
        aad: bytes("AAD"),
        ciphertext: bytes("CT"),
        tag: bytes("Tag"),
        plain: (!refused).then(|| bytes("PT")),
        place,
    }
}

fn stem(file: &str) -> String {
    let name = Path::new(file).file_name().expect("a file").to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}
