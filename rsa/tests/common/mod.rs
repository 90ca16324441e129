//! What the tests share: the keys and vectors of `vectors/rsa.jsonl`.

#![allow(dead_code, reason = "no test uses all of it")]

use std::collections::BTreeMap;
use std::fs::read_to_string;

use lanecrypt_rsa::{
    Backend, Components, CrtComponents, Hash, Isa, KeyError, Level, Padding, PrivateKey,
};
use lanecrypt_testing::numbers::hex;
use serde_json::Value;

/// The numbers of a key, in bytes.
#[derive(Clone)]
pub(crate) struct Numbers {
    pub(crate) name: String,
    pub(crate) n: Vec<u8>,
    pub(crate) e: Vec<u8>,
    pub(crate) d: Vec<u8>,
    pub(crate) p: Vec<u8>,
    pub(crate) q: Vec<u8>,
    pub(crate) dp: Vec<u8>,
    pub(crate) dq: Vec<u8>,
    pub(crate) qinv: Vec<u8>,
}

impl Numbers {
    fn parse(name: &str, line: &Value) -> Self {
        let number = |name: &str| {
            let digits = line[name].as_str().expect("a number");
            hex(&format!("{}{digits}", if digits.len() % 2 == 1 { "0" } else { "" }))
        };
        Self {
            name: name.to_owned(),
            n: number("n"),
            e: number("e"),
            d: number("d"),
            p: number("p"),
            q: number("q"),
            dp: number("dp"),
            dq: number("dq"),
            qinv: number("qinv"),
        }
    }

    pub(crate) fn components(&self) -> Components<'_> {
        let Self { n, e, d, p, q, dp, dq, qinv, .. } = self;
        Components { n, e, d, crt: Some(CrtComponents { p, q, dp, dq, qinv }) }
    }

    pub(crate) fn key(&self) -> Result<PrivateKey, KeyError> {
        PrivateKey::legacy_from_components(&self.components())
    }

    /// A key that does not know its primes.
    pub(crate) fn key_without_primes(&self) -> Result<PrivateKey, KeyError> {
        let components = Components { crt: None, ..self.components() };
        PrivateKey::legacy_from_components(&components)
    }
}

/// One line of the vectors.
pub(crate) struct Vector {
    pub(crate) place: usize,
    pub(crate) operation: Operation,
    pub(crate) key: String,
    pub(crate) input: Vec<u8>,
    pub(crate) salt: Option<Vec<u8>>,
    /// None if the input must be refused.
    pub(crate) output: Option<Vec<u8>>,
}

#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Raw,
    Sign(Padding),
}

/// All keys by their names, and all vectors.
pub(crate) fn vectors() -> (BTreeMap<String, Numbers>, Vec<Vector>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/rsa.jsonl");
    let text = read_to_string(path).expect("the file of vectors");
    let (mut keys, mut vectors) = (BTreeMap::new(), Vec::new());
    for (place, line) in text.lines().enumerate().skip(1) {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        if let Some(name) = line["name"].as_str() {
            keys.insert(name.to_owned(), Numbers::parse(name, &line));
            continue;
        }
        let bytes = |name: &str| line[name].as_str().map(hex);
        let operation = match line["alg"].as_str().expect("an operation") {
            "rsa-raw-private" => Operation::Raw,
            "rsa-pkcs1v15-sign-sha1" => Operation::Sign(Padding::pkcs1v15(Hash::LEGACY_SHA1)),
            "rsa-pkcs1v15-sign-sha256" => Operation::Sign(Padding::pkcs1v15(Hash::SHA256)),
            "rsa-pkcs1v15-sign-sha512" => Operation::Sign(Padding::pkcs1v15(Hash::SHA512)),
            "rsa-pss-sha1" => Operation::Sign(Padding::pss(Hash::LEGACY_SHA1)),
            other => panic!("unknown operation {other}"),
        };
        vectors.push(Vector {
            place: place + 1,
            operation,
            key: line["key"].as_str().expect("a key").to_owned(),
            input: bytes("inp").expect("an input"),
            salt: bytes("salt"),
            output: bytes("out"),
        });
    }
    (keys, vectors)
}

/// All that may serve requests.
pub(crate) const BACKENDS: &[Backend] = &[
    Backend::Own,
    #[cfg(feature = "aws-lc")]
    Backend::AwsLc,
    #[cfg(feature = "aws-lc")]
    Backend::Measured,
];

/// The levels whose kernels differ.
pub(crate) fn levels() -> impl Iterator<Item = Isa> {
    let highest = Isa::of_processor();
    [Level::Portable, Level::Avx512]
        .into_iter()
        .filter(move |&level| highest.has(level))
        .map(move |level| highest.at_most(level))
}
