//! Test vectors of encryption without a nonce: JSON lines.

use serde_json::Value;

use super::decode;

/// A value, or what must be refused.
pub struct Vector {
    /// The line, for messages.
    pub place: String,
    pub key: Vec<u8>,
    pub strings: Vec<Vec<u8>>,
    pub packet: Vec<u8>,
    /// None if the packet must be refused.
    pub plain: Option<Vec<u8>>,
}

/// Those of AES-SIV.
pub fn aes_siv() -> Vec<Vector> {
    let text = include_str!("../../../vectors/siv_deterministic.jsonl");
    let lines = text.lines().enumerate().skip(1);
    lines
        .map(|(i, line)| {
            let place = format!("siv_deterministic.jsonl:{}", i + 1);
            let value: Value = serde_json::from_str(line).expect(&place);
            let bytes = |value: &Value| decode(value.as_str().expect("hexadecimal"), &place);
            let strings = value["strings"].as_array().expect("a list");
            Vector {
                key: bytes(&value["key"]),
                strings: strings.iter().map(bytes).collect(),
                packet: bytes(&value["packet"]),
                plain: (!value["pt"].is_null()).then(|| bytes(&value["pt"])),
                place,
            }
        })
        .collect()
}
