//! The built-in test vectors of RSA, with and without the primes of their keys.

use std::collections::BTreeMap;

use lanecrypt_ciphers::{Isa, Level};
use lanecrypt_rsa::{PrivateKey, PublicKey};
use serde::Deserialize;

use super::super::hex::{decode, encode};
use super::super::signature::{Numbers, Scheme};

const FILE: &str = include_str!("../../../vectors/rsa.jsonl");
/// The levels whose kernels differ.
const LEVELS: [Level; 2] = [Level::Portable, Level::Avx512];
/// Longer keys take long without their primes, so that they get only some of the vectors.
const SHORT: usize = 1024;
const SOME: usize = 8;

/// A line of the file: a key or a vector. All strings but names are hexadecimal.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Vector {
    name: String,
    #[serde(flatten)]
    numbers: Numbers,
    alg: String,
    key: String,
    inp: String,
    salt: Option<String>,
    /// None if the input must be refused.
    out: Option<String>,
}

/// A key at a level, with its primes and without.
struct Keys {
    private: [PrivateKey; 2],
    public: PublicKey,
}

/// What came of the vectors of an algorithm.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) vectors: usize,
    /// The wrong ones at a level; with the levels that were tried.
    pub(super) wrong: Vec<(Level, usize)>,
}

/// Runs all vectors at the levels up to `isa` whose kernels differ.
pub(super) fn run(isa: Isa) -> BTreeMap<String, Outcome> {
    of(&lines(), isa)
}

fn lines() -> Vec<Vector> {
    let lines = FILE.lines().skip(1);
    lines.map(|line| serde_json::from_str(line).unwrap_or_default()).collect()
}

fn of(lines: &[Vector], isa: Isa) -> BTreeMap<String, Outcome> {
    let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
    for level in LEVELS.into_iter().filter(|&level| isa.has(level)) {
        let isa = isa.at_most(level);
        let named = lines.iter().filter(|line| !line.name.is_empty());
        let keys: BTreeMap<&str, Option<Keys>> =
            named.map(|line| (&*line.name, keys(&line.numbers, isa))).collect();
        for (at, vector) in lines.iter().enumerate().filter(|(_, line)| line.name.is_empty()) {
            let outcome = outcomes.entry(vector.alg.clone()).or_default();
            if outcome.wrong.last().map(|(tried, _)| *tried) != Some(level) {
                outcome.wrong.push((level, 0));
            }
            outcome.vectors += usize::from(outcome.wrong.len() == 1);
            let keys = keys.get(&*vector.key).and_then(Option::as_ref);
            let is_right = keys.and_then(|keys| passes(vector, keys, at)) == Some(true);
            if let Some((_, wrong)) = outcome.wrong.last_mut() {
                *wrong += usize::from(!is_right);
            }
        }
    }
    outcomes
}

fn keys(numbers: &Numbers, isa: Isa) -> Option<Keys> {
    let with = numbers.private(Some(true), isa).ok()?;
    let without = with.without_primes();
    Some(Keys { public: numbers.public(isa).ok()?, private: [with, without] })
}

/// Whether the answer is right, and a signature is accepted and refused once it is changed; none if
/// there is no answer.
fn passes(vector: &Vector, keys: &Keys, at: usize) -> Option<bool> {
    let scheme = Scheme::named(&vector.alg)?;
    let data = decode(&vector.inp)?;
    let salt = vector.salt.as_deref().map(decode).map_or(Some(None), |salt| salt.map(Some))?;
    let [with, without] = &keys.private;
    let is_fast = keys.public.bits() <= SHORT || at.is_multiple_of(SOME);
    for key in [Some(with), is_fast.then_some(without)].into_iter().flatten() {
        let answer = scheme.sign(key, &data, salt.as_deref());
        if answer.ok().as_deref().map(encode) != vector.out {
            return Some(false);
        }
    }
    let (Some(out), false) = (&vector.out, scheme == Scheme::Raw) else { return Some(true) };
    let mut signature = decode(out)?;
    let accepted = scheme.verify(&keys.public, &data, &signature, salt.as_deref()).is_ok();
    signature[at % 8] ^= 1;
    let forged = scheme.verify(&keys.public, &data, &signature, salt.as_deref()).is_ok();
    Some(accepted && !forged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_answer_a_wrong_key_and_a_wrong_verdict_are_found() {
        let lines = lines();
        let outcomes = of(&lines, Isa::PORTABLE);
        assert!(outcomes.len() >= 5, "{outcomes:?}");
        let keys = lines.iter().filter(|line| !line.name.is_empty()).count();
        let vectors: usize = outcomes.values().map(|outcome| outcome.vectors).sum();
        assert_eq!(keys + vectors, lines.len(), "every line is read");
        let failures = |lines: &[Vector]| {
            let outcomes = of(lines, Isa::PORTABLE);
            outcomes.values().flat_map(|o| &o.wrong).map(|(_, wrong)| wrong).sum::<usize>()
        };
        for alg in outcomes.keys() {
            // 0 and 1 have the same answers under all keys.
            let is_good = |line: &&Vector| {
                line.alg == *alg && line.out.is_some() && !line.inp.starts_with("0000")
            };
            let good = lines.iter().find(is_good);
            let good = good.expect("a vector");
            let key = lines.iter().find(|line| line.name == good.key).expect("its key");
            assert_eq!(failures(&[key.clone(), good.clone()]), 0, "{alg}");
            let other = lines.iter().find(|line| !line.name.is_empty() && line.name != key.name);
            let mut other = other.expect("another key").clone();
            other.name.clone_from(&key.name);
            assert_eq!(failures(&[other, good.clone()]), 1, "{alg}");
            let refused = Vector { out: None, ..good.clone() };
            assert_eq!(failures(&[key.clone(), refused]), 1, "{alg}");
            let mut wrong = good.clone();
            let digit = if wrong.inp.starts_with('1') { "0" } else { "1" };
            wrong.inp =
                format!("{digit}{}", wrong.inp.get(1..).filter(|s| !s.is_empty()).unwrap_or("0"));
            assert_eq!(failures(&[key.clone(), wrong]), 1, "{alg}");
            assert_eq!(failures(core::slice::from_ref(good)), 1, "{alg}: no key");
        }
    }
}
