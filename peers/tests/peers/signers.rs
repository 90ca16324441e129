//! Every library for RSA signatures that is found works, with keys of several sizes.

use std::fs::read_to_string;

use lanecrypt_peers::{Direction, PeerLibraries, RsaKey, Run, Signature, signers};
use serde_json::Value;

use crate::name;

/// A key by its name, and the known signatures of messages under it.
struct Known {
    bits: usize,
    numbers: [Vec<u8>; 8],
    signatures: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Known {
    fn key(&self, crt: bool) -> RsaKey<'_> {
        let [n, e, d, p, q, dp, dq, qinv] = self.numbers.each_ref().map(Vec::as_slice);
        RsaKey { n, e, d, crt: crt.then_some([p, q, dp, dq, qinv]) }
    }
}

/// A number, whose digits may be odd.
fn hex(text: &str) -> Vec<u8> {
    let text = if text.len().is_multiple_of(2) { text.to_owned() } else { format!("0{text}") };
    let digits: Vec<u32> = text.chars().map(|c| c.to_digit(16).expect("hexadecimal")).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).expect("a byte")).collect()
}

/// The generated keys of the vectors.
fn keys() -> Vec<Known> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/rsa.jsonl");
    let text = read_to_string(path).expect("the file of vectors");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let is_generated =
        |line: &&Value| line["name"].as_str().is_some_and(|name| name.starts_with("generated-"));
    let known = |key: &Value| {
        let number = |name: &str| hex(key[name].as_str().expect("a number"));
        let numbers = ["n", "e", "d", "p", "q", "dp", "dq", "qinv"].map(number);
        let of_it = lines
            .iter()
            .filter(|line| line["key"] == key["name"] && line["alg"] == "rsa-pkcs1v15-sign-sha256");
        let signatures = of_it.map(|line| {
            let bytes = |name: &str| hex(line[name].as_str().expect("bytes"));
            (bytes("inp"), bytes("out"))
        });
        Known { bits: 8 * numbers[0].len(), signatures: signatures.collect(), numbers }
    };
    lines.iter().filter(is_generated).map(known).collect()
}

fn digest(message: &[u8]) -> [u8; 32] {
    use sha2::Digest as _;
    sha2::Sha256::digest(message).into()
}

#[test]
fn the_list_is_whole_and_says_how_to_get_what_is_missing() {
    let peers = signers(&PeerLibraries::new());
    assert!(peers.len() >= 6, "some are lost");
    crate::is_whole(&peers);
}

#[test]
fn known_signatures_are_made_and_accepted_and_wrong_ones_refused() {
    let keys = keys();
    assert_eq!(keys.len(), 14);
    for peer in crate::found(signers) {
        let (mut sizes, mut bare) = (0, 0);
        for pair in keys.chunks(2) {
            for crt in [true, false] {
                let numbers: Vec<RsaKey<'_>> = pair.iter().map(|known| known.key(crt)).collect();
                let Some(mut sign) = peer.with_keys(Direction::Encrypt, &numbers) else {
                    // Some take no short keys, and some need the primes.
                    let bits = pair[0].bits;
                    assert!(!crt || bits < 2048 && peer.source == "ring", "{bits} {}", name(&peer));
                    continue;
                };
                sizes += usize::from(crt);
                bare += usize::from(!crt);
                let mut verify = peer.with_keys(Direction::Decrypt, &numbers).expect("it signs");
                for (session, known) in pair.iter().enumerate() {
                    for (message, expected) in &known.signatures {
                        let digest = digest(message);
                        let mut made = vec![0; expected.len()];
                        let call = |signer: &mut dyn lanecrypt_peers::Signer, made: &mut [u8]| {
                            let digest = &digest;
                            let one = Signature { session, message, digest, signature: made };
                            signer.messages(&mut [one], Run::of(1))
                        };
                        assert_eq!(call(&mut *sign, &mut made), Ok(()), "{}", name(&peer));
                        assert_eq!(&made, expected, "{}", name(&peer));
                        assert_eq!(call(&mut *verify, &mut made), Ok(()), "{}", name(&peer));
                        made[11] ^= 2;
                        assert!(call(&mut *verify, &mut made).is_err(), "{}", name(&peer));
                    }
                }
            }
        }
        assert!(sizes >= 3, "{}", name(&peer));
        // These take keys without primes.
        let takes = !["ring", "rustcrypto"].contains(&peer.source);
        assert_eq!(bare, if takes { 7 } else { 0 }, "{}", name(&peer));
    }
}
