//! The built-in test vectors at every level of this machine.

use lanecrypt_ciphers::{Algorithm, Isa, Level};
use serde::Deserialize;

use super::case::{Case, Direction};
use super::request::{decode, encode};

/// The files of test vectors: JSON lines, of which the first names the origin.
const FILES: [&str; 8] = [
    include_str!("../../vectors/aes.jsonl"),
    include_str!("../../vectors/arc4.jsonl"),
    include_str!("../../vectors/chacha.jsonl"),
    include_str!("../../vectors/des.jsonl"),
    include_str!("../../vectors/hc128.jsonl"),
    include_str!("../../vectors/null.jsonl"),
    include_str!("../../vectors/salsa.jsonl"),
    include_str!("../../vectors/serpent.jsonl"),
];

/// A line of a file; strings are hexadecimal but the first.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Vector {
    alg: String,
    key: String,
    iv: String,
    skip: u64,
    counter: u64,
    chunks: Vec<usize>,
    pt: String,
    ct: String,
    /// XOR of the 64-byte blocks of the first `len` bytes of keystream, instead of the texts.
    xor_digest: Option<String>,
    len: u64,
}

/// What came out.
pub(crate) struct Report {
    /// One line an algorithm.
    pub(crate) text: String,
    pub(crate) failed: bool,
}

/// Runs all vectors in both directions, at `isa` and at every level below.
pub(crate) fn run(isa: Isa) -> Report {
    let vectors = vectors();
    let mut report = Report { text: String::new(), failed: false };
    for &algorithm in Algorithm::ALL {
        let name = algorithm.to_string();
        let own: Vec<_> = vectors.iter().filter(|vector| vector.alg == name).collect();
        let mut wrong = Vec::new();
        for level in Level::ALL.into_iter().filter(|&level| isa.has(level)) {
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
        report.text += &format!("{name:<16}{:>4} vectors  {verdict}\n", own.len());
    }
    report
}

/// All lines but the first of each file.
fn vectors() -> Vec<Vector> {
    let lines = FILES.iter().flat_map(|file| file.lines().skip(1));
    lines.map(|line| serde_json::from_str(line).unwrap_or_default()).collect()
}

/// Whether the answers are right in both directions; none if there is no answer.
fn passes(isa: Isa, vector: &Vector) -> Option<bool> {
    let Some(digest) = &vector.xor_digest else {
        let encrypted = case(vector, Direction::Encrypt, &vector.pt)?.run(isa).ok()?;
        let decrypted = case(vector, Direction::Decrypt, &vector.ct)?.run(isa).ok()?;
        return Some(encode(&encrypted) == vector.ct && encode(&decrypted) == vector.pt);
    };
    let mut stream = case(vector, Direction::Encrypt, "")?.stream(isa).ok()?;
    let mut sum = [0; 64];
    for _ in 0..vector.len / 64 {
        stream.xor(&mut sum[..]).ok()?;
    }
    Some(encode(&sum) == *digest)
}

/// What a vector asks for, in one direction; `data` are hexadecimal.
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
        assert_eq!(report.text.lines().count(), Algorithm::ALL.len());
        let lines: usize = FILES.iter().map(|file| file.lines().count() - 1).sum();
        let known = |vector: &&Vector| vector.alg.parse::<Algorithm>().is_ok();
        assert_eq!(vectors().iter().filter(known).count(), lines);
    }

    /// A self test that cannot fail tests nothing.
    #[test]
    fn a_wrong_answer_is_found() {
        let vectors = vectors();
        for &algorithm in Algorithm::ALL {
            let of_it =
                |vector: &&Vector| vector.alg == algorithm.to_string() && vector.pt.len() >= 32;
            let good = vectors.iter().find(of_it).expect("a vector");
            assert_eq!(passes(Isa::PORTABLE, good), Some(true));
            for field in 0..3 {
                let mut bad = good.clone();
                let hex = [&mut bad.key, &mut bad.pt, &mut bad.ct].into_iter().nth(field);
                // The null cipher has no key.
                let Some(hex) = hex.filter(|hex| !hex.is_empty()) else { continue };
                // Not the last digit, where keys of DES have a bit of parity, which does nothing.
                let digit = if hex.starts_with('0') { "1" } else { "0" };
                hex.replace_range(..1, digit);
                assert_eq!(passes(Isa::PORTABLE, &bad), Some(false), "{algorithm}");
            }
        }
        for digest in vectors.iter().filter(|vector| vector.xor_digest.is_some()) {
            let shorter = Vector { len: digest.len - 64, ..digest.clone() };
            assert_eq!(passes(Isa::PORTABLE, &shorter), Some(false), "{}", digest.alg);
        }
    }
}
