//! The built-in test vectors at every level of this machine.

use lanecrypt_ciphers::{Algorithm, Error, Isa, Level};
use serde::Deserialize;

mod rsa;

use super::case::{Case, Direction};
use super::code::{Code, CodeRequest};
use super::hex::{decode, encode};
use super::packet::{Packet, Way};
use super::refusal::Refusal;

/// The files of test vectors: JSON lines. The first line names the source.
const FILES: [&str; 17] = [
    include_str!("../../vectors/aegis-128l.jsonl"),
    include_str!("../../vectors/aegis-256.jsonl"),
    include_str!("../../vectors/aes.jsonl"),
    include_str!("../../vectors/arc4.jsonl"),
    include_str!("../../vectors/chacha.jsonl"),
    include_str!("../../vectors/chacha20poly1305.jsonl"),
    include_str!("../../vectors/chained.jsonl"),
    include_str!("../../vectors/des.jsonl"),
    include_str!("../../vectors/gcm.jsonl"),
    include_str!("../../vectors/gcm_siv.jsonl"),
    include_str!("../../vectors/hc128.jsonl"),
    include_str!("../../vectors/null.jsonl"),
    include_str!("../../vectors/poly1305.jsonl"),
    include_str!("../../vectors/salsa.jsonl"),
    include_str!("../../vectors/serpent.jsonl"),
    include_str!("../../vectors/siv.jsonl"),
    include_str!("../../vectors/xts.jsonl"),
];

/// A line of a file; all strings but the first are hexadecimal.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Vector {
    alg: String,
    key: String,
    iv: String,
    skip: u64,
    counter: u64,
    chunks: Vec<usize>,
    aad: String,
    /// None if the message must be refused.
    pt: Option<String>,
    ct: String,
    tag: String,
    msg: String,
    mac: String,
    /// XOR of the 64-byte blocks of the first `len` bytes of keystream, instead of the texts.
    xor_digest: Option<String>,
    len: u64,
}

/// The result of a self test.
pub(crate) struct Report {
    /// One line for each algorithm.
    pub(crate) text: String,
    pub(crate) failed: bool,
}

/// Runs all vectors in both directions, at `isa` and at every level below.
pub(crate) fn run(isa: Isa) -> Report {
    let vectors = vectors();
    let mut report = Report { text: String::new(), failed: false };
    for name in names() {
        let own: Vec<_> = vectors.iter().filter(|vector| vector.alg == name).collect();
        let mut wrong = Vec::new();
        for &level in Level::built().iter().filter(|&&level| isa.has(level)) {
            let fails = |vector: &&&Vector| passes(isa.at_most(level), vector) != Some(true);
            let failures = own.iter().filter(fails).count();
            if failures != 0 {
                wrong.push(format!("{failures} wrong at {level}"));
            }
        }
        if own.is_empty() {
            wrong.push(String::from("no vectors"));
        }
        let verdict = if wrong.is_empty() {
            format!("ok at every level up to {}", isa.level())
        } else {
            report.failed = true;
            format!("FAILED: {}", wrong.join(", "))
        };
        report.text += &format!("{name:<24}{:>4} vectors  {verdict}\n", own.len());
    }
    for (name, outcome) in rsa::run(isa) {
        let levels = outcome.wrong.iter().map(|(level, _)| level.to_string());
        let wrong = outcome.wrong.iter().filter(|(_, wrong)| *wrong != 0);
        let wrong: Vec<String> =
            wrong.map(|(level, wrong)| format!("{wrong} wrong at {level}")).collect();
        let verdict = if wrong.is_empty() {
            format!("ok at {}", levels.collect::<Vec<_>>().join(" and "))
        } else {
            report.failed = true;
            format!("FAILED: {}", wrong.join(", "))
        };
        report.text += &format!("{name:<24}{:>4} vectors  {verdict}\n", outcome.vectors);
    }
    report
}

/// All lines but the first of each file.
fn vectors() -> Vec<Vector> {
    let lines = FILES.iter().flat_map(|file| file.lines().skip(1));
    lines.map(|line| serde_json::from_str(line).unwrap_or_default()).collect()
}

/// The names of the algorithms and codes that have vectors.
fn names() -> impl Iterator<Item = String> {
    let code = Code::Poly1305.name().to_owned();
    Algorithm::ALL.iter().map(Algorithm::to_string).chain([code])
}

/// Whether the answers are right in both directions; none if there is no answer.
fn passes(isa: Isa, vector: &Vector) -> Option<bool> {
    if let Some(code) = Code::named(&vector.alg) {
        let (key, data) = (decode(&vector.key)?, decode(&vector.msg)?);
        let message = CodeRequest { code, key, chunks: Vec::new(), data };
        return Some(encode(&message.run(isa).ok()?) == vector.mac);
    }
    let algorithm: Algorithm = vector.alg.parse().ok()?;
    if algorithm.is_aead() {
        return packet_passes(isa, algorithm, vector);
    }
    let Some(digest) = &vector.xor_digest else {
        let pt = vector.pt.as_deref()?;
        let encrypted = case(vector, Direction::Encrypt, pt)?.run(isa).ok()?;
        let decrypted = case(vector, Direction::Decrypt, &vector.ct)?.run(isa).ok()?;
        return Some(encode(&encrypted) == vector.ct && encode(&decrypted) == pt);
    };
    let mut stream = case(vector, Direction::Encrypt, "")?.stream(isa).ok()?;
    let mut sum = [0; 64];
    for _ in 0..vector.len / 64 {
        stream.xor(&mut sum[..]).ok()?;
    }
    Some(encode(&sum) == *digest)
}

/// Whether a message is sealed right and opened again; or, if it must be refused, is refused.
fn packet_passes(isa: Isa, algorithm: Algorithm, vector: &Vector) -> Option<bool> {
    let packet = |way, data: &str| {
        Some(Packet {
            algorithm,
            way,
            key: decode(&vector.key)?,
            nonce: decode(&vector.iv)?,
            aad: decode(&vector.aad)?,
            tag: vector.tag.len() / 2,
            chunks: Vec::new(),
            data: decode(data)?,
        })
    };
    let whole = format!("{}{}", vector.ct, vector.tag);
    let opened = packet(Way::Open, &whole)?.run(isa);
    let Some(pt) = &vector.pt else {
        return Some(opened == Err(Refusal::from(Error::Authentication)));
    };
    let sealed = packet(Way::Seal, pt)?.run(isa).ok()?;
    Some(encode(&sealed) == whole && opened.is_ok_and(|opened| encode(&opened) == *pt))
}

/// The request of a vector in one direction; `data` is hexadecimal.
fn case(vector: &Vector, direction: Direction, data: &str) -> Option<Case> {
    Some(Case {
        algorithm: vector.alg.parse().ok()?,
        direction,
        key: decode(&vector.key)?,
        nonce: decode(&vector.iv)?,
        skip: vector.skip,
        counter: vector.counter,
        chunks: vector.chunks.clone(),
        data: decode(data)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_are_read_and_pass() {
        let report = run(Isa::of_processor());
        assert!(!report.failed, "{}", report.text);
        // Poly1305, and five operations of RSA.
        assert_eq!(report.text.lines().count(), Algorithm::ALL.len() + 1 + 5);
        let lines: usize = FILES.iter().map(|file| file.lines().count() - 1).sum();
        let known = |vector: &&Vector| names().any(|name| name == vector.alg);
        assert_eq!(vectors().iter().filter(known).count(), lines);
    }

    /// Changes the first digit. The last would not do: keys of DES have a parity bit there, which
    /// has no effect.
    fn change(hex: &mut String) {
        let digit = if hex.starts_with('0') { "1" } else { "0" };
        hex.replace_range(..1, digit);
    }

    /// The self test finds errors.
    #[test]
    fn a_wrong_answer_is_found() {
        let vectors = vectors();
        for name in names() {
            let long = |vector: &Vector| {
                vector.pt.as_ref().is_some_and(|pt| pt.len() >= 32) || vector.msg.len() >= 32
            };
            let good = vectors.iter().find(|vector| vector.alg == name && long(vector));
            let good = good.expect("a vector");
            assert_eq!(passes(Isa::PORTABLE, good), Some(true));
            for field in 0..8 {
                let mut bad = good.clone();
                // Not every algorithm has all of these.
                let texts = [&mut bad.key, &mut bad.iv, &mut bad.aad, &mut bad.ct, &mut bad.tag]
                    .into_iter()
                    .chain([&mut bad.msg, &mut bad.mac])
                    .chain(&mut bad.pt);
                let Some(hex) = texts.filter(|hex| !hex.is_empty()).nth(field) else { break };
                change(hex);
                assert_eq!(passes(Isa::PORTABLE, &bad), Some(false), "{name}: {field}");
            }
        }
        for digest in vectors.iter().filter(|vector| vector.xor_digest.is_some()) {
            let shorter = Vector { len: digest.len - 64, ..digest.clone() };
            assert_eq!(passes(Isa::PORTABLE, &shorter), Some(false), "{}", digest.alg);
        }
    }

    /// A forged tag that is expected to be accepted, and a right one that is expected to be
    /// refused.
    #[test]
    fn a_wrong_verdict_is_found() {
        let vectors = vectors();
        for &algorithm in Algorithm::ALL.iter().filter(|row| row.is_aead()) {
            let name = algorithm.to_string();
            let of_it = |vector: &&Vector| vector.alg == name && vector.pt.is_some();
            let good = vectors.iter().find(of_it).expect("a vector");
            let accepted = Vector { pt: None, ..good.clone() };
            assert_eq!(passes(Isa::PORTABLE, &accepted), Some(false), "{name}");
            let mut forged = accepted;
            change(&mut forged.tag);
            assert_eq!(passes(Isa::PORTABLE, &forged), Some(true), "{name}");
            let refused = Vector { pt: good.pt.clone(), ..forged };
            assert_eq!(passes(Isa::PORTABLE, &refused), Some(false), "{name}");
        }
    }
}
