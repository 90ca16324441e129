//! The keys that are measured, with known signatures: those of `vectors/rsa.jsonl` that were
//! generated. There are two of each size.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use lanecrypt_peers::RsaKey;
use lanecrypt_rsa::{Components, CrtComponents, PrivateKey, PublicKey};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

/// The sizes of the moduli in bits, as in the study's figures.
pub(super) const SIZES: [usize; 7] = [512, 768, 1024, 1536, 2048, 3072, 4096];

/// What the names of the generated keys begin with.
const GENERATED: &str = "generated-";
/// The algorithm of the known signatures.
const ALGORITHM: &str = "rsa-pkcs1v15-sign-sha256";

/// A private key.
pub(super) struct Key {
    n: Vec<u8>,
    e: Vec<u8>,
    d: Vec<u8>,
    crt: [Vec<u8>; 5],
    /// Messages with their signatures, computed by integer arithmetic.
    pub(super) known: Vec<Signed>,
}

/// A message, its digest, and its signature.
#[derive(Clone)]
pub(super) struct Signed {
    pub(super) message: Vec<u8>,
    pub(super) digest: [u8; 32],
    pub(super) signature: Vec<u8>,
}

impl Signed {
    pub(super) fn new(message: Vec<u8>, signature: Vec<u8>) -> Self {
        let digest = Sha256::digest(&message).into();
        Self { message, digest, signature }
    }
}

/// The keys of a size; none of other sizes.
pub(super) fn of(bits: usize) -> &'static [Key] {
    static KEYS: OnceLock<BTreeMap<usize, Vec<Key>>> = OnceLock::new();
    KEYS.get_or_init(read).get(&bits).map_or(&[], Vec::as_slice)
}

impl Key {
    /// As peers take it, with or without what CRT needs.
    pub(super) fn for_peers(&self, crt: bool) -> RsaKey<'_> {
        let Self { n, e, d, .. } = self;
        RsaKey { n, e, d, crt: crt.then(|| self.crt.each_ref().map(Vec::as_slice)) }
    }

    /// As ours takes it.
    pub(super) fn private(&self, crt: bool) -> Option<PrivateKey> {
        let RsaKey { n, e, d, crt } = self.for_peers(crt);
        let crt = crt.map(|[p, q, dp, dq, qinv]| CrtComponents { p, q, dp, dq, qinv });
        PrivateKey::legacy_from_components(&Components { n, e, d, crt }).ok()
    }

    pub(super) fn public(&self) -> Option<PublicKey> {
        PublicKey::legacy_new(&self.n, &self.e).ok()
    }

    /// The length of signatures in bytes.
    pub(super) fn length(&self) -> usize {
        self.n.len()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

/// A line of the file; all strings but names are hexadecimal.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Key {
        name: String,
        n: String,
        e: String,
        d: String,
        p: String,
        q: String,
        dp: String,
        dq: String,
        qinv: String,
    },
    Answer {
        alg: String,
        key: String,
        inp: String,
        out: Option<String>,
    },
}

fn read() -> BTreeMap<usize, Vec<Key>> {
    let lines = include_str!("../../../vectors/rsa.jsonl").lines();
    let lines = lines.filter_map(|line| serde_json::from_str(line).ok());
    let mut keys: BTreeMap<String, Key> = BTreeMap::new();
    for line in lines {
        match line {
            Line::Key { name, n, e, d, p, q, dp, dq, qinv } if name.starts_with(GENERATED) => {
                let crt = [p, q, dp, dq, qinv].map(|number| bytes(&number));
                let [n, e, d] = [n, e, d].map(|number| bytes(&number));
                keys.insert(name, Key { n, e, d, crt, known: Vec::new() });
            }
            Line::Answer { alg, key, inp, out: Some(out) } if alg == ALGORITHM => {
                if let Some(key) = keys.get_mut(&key) {
                    key.known.push(Signed::new(bytes(&inp), bytes(&out)));
                }
            }
            Line::Key { .. } | Line::Answer { .. } => {}
        }
    }
    let mut by_size: BTreeMap<usize, Vec<Key>> = BTreeMap::new();
    for key in keys.into_values() {
        by_size.entry(8 * key.n.len()).or_default().push(key);
    }
    by_size
}

/// The bytes of a hexadecimal number, which may have an odd number of digits. The file is part of
/// the program.
fn bytes(text: &str) -> Vec<u8> {
    let digit = |c: char| u8::try_from(c.to_digit(16)?).ok();
    let mut digits: Vec<u8> = text.chars().filter_map(digit).collect();
    if digits.len() % 2 == 1 {
        digits.insert(0, 0);
    }
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_two_keys_with_known_signatures() {
        for bits in SIZES {
            let keys = of(bits);
            assert_eq!(keys.len(), 2, "{bits}");
            assert_ne!(keys[0].n, keys[1].n);
            for key in keys {
                assert!(key.known.len() >= 4 && key.length() * 8 == bits);
                let public = key.public().expect("a good key");
                assert_eq!(public.bits(), bits);
                assert!(key.known.iter().all(|known| known.signature.len() == key.length()));
            }
        }
        assert!(of(1000).is_empty());
    }
}
