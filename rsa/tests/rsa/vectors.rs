//! The vectors of `vectors/rsa.jsonl`: with and without primes, one by one and in batches, at every
//! level, signed and verified.

use std::collections::BTreeMap;

use lanecrypt_rsa::{
    Backend, Error, Hash, Isa, Padding, PrivateKey, Request, Workspace, hazmat, process,
};

use crate::common::{BACKENDS, Operation, Vector, levels, vectors};

/// Keys of a level, by name, with and without primes.
fn keys(isa: Isa) -> BTreeMap<String, [PrivateKey; 2]> {
    let keys = vectors().0.into_iter().map(|(name, numbers)| {
        let keys = [numbers.key(), numbers.key_without_primes()];
        (name, keys.map(|key| key.expect("a good key").with_isa(isa)))
    });
    keys.collect()
}

fn request<'a>(vector: &'a Vector, key: &'a PrivateKey, out: &'a mut [u8]) -> Request<'a> {
    match (vector.operation, &vector.salt) {
        (Operation::Raw, _) => hazmat::raw_private(key, &vector.input, out),
        (Operation::Sign(padding), None) => Request::sign(key, padding, &vector.input, out),
        (Operation::Sign(padding), Some(salt)) => {
            hazmat::sign_with_salt(key, padding, &vector.input, salt, out)
        }
    }
}

/// What must come out. Inputs that are refused are too large or have another length.
fn check(vector: &Vector, outcome: Option<Result<(), Error>>, out: &[u8]) {
    match &vector.output {
        Some(output) => {
            assert_eq!(outcome, Some(Ok(())), "line {}", vector.place);
            assert_eq!(out, output, "line {}", vector.place);
        }
        None => {
            let refused = [Error::OutOfRange, Error::InputLength].map(|error| Some(Err(error)));
            assert!(refused.contains(&outcome), "line {}: {outcome:?}", vector.place);
            assert!(out.iter().all(|&byte| byte == 0), "line {}: output", vector.place);
        }
    }
}

/// Every level with everything that may serve requests.
fn ways() -> impl Iterator<Item = (Isa, Backend)> {
    levels().flat_map(|isa| BACKENDS.iter().map(move |&backend| (isa, backend)))
}

#[test]
fn one_by_one() {
    let (_, vectors) = vectors();
    for (isa, backend) in ways() {
        let mut workspace = Workspace::with_backend(backend);
        let keys = keys(isa);
        for vector in &vectors {
            for key in &keys[&vector.key] {
                // Long keys take long without primes.
                if !key.has_primes() && key.public_key().bits() > 2048 && vector.place % 4 != 0 {
                    continue;
                }
                let mut out = vec![0; key.signature_length()];
                let mut requests = [request(vector, key, &mut out)];
                let _ = process(&mut requests, &mut workspace);
                let outcome = requests[0].outcome();
                check(vector, outcome, &out);
            }
        }
    }
}

#[test]
fn in_batches_of_mixed_keys() {
    let (_, vectors) = vectors();
    // Neighbours in the file have one key; these have not.
    let mut order: Vec<_> = (0..vectors.len()).collect();
    let mut numbers = lanecrypt_testing::numbers::Numbers(1);
    for i in (1..order.len()).rev() {
        order.swap(i, numbers.below(i + 1));
    }
    for (isa, backend) in ways() {
        let keys = keys(isa);
        let mut workspace = Workspace::with_backend(backend);
        let mut outs: Vec<_> =
            order.iter().map(|&i| vec![0; keys[&vectors[i].key][0].signature_length()]).collect();
        let mut requests: Vec<_> = order
            .iter()
            .zip(&mut outs)
            .enumerate()
            .map(|(place, (&i, out))| {
                let keys = &keys[&vectors[i].key];
                let key = &keys[usize::from(place % 8 == 0 && keys[0].public_key().bits() <= 2048)];
                request(&vectors[i], key, out)
            })
            .collect();
        let failed = process(&mut requests, &mut workspace).expect_err("some are refused").failed;
        assert_eq!(failed, vectors.iter().filter(|vector| vector.output.is_none()).count());
        let outcomes: Vec<_> = requests.iter().map(Request::outcome).collect();
        for ((&i, outcome), out) in order.iter().zip(outcomes).zip(&outs) {
            check(&vectors[i], outcome, out);
        }
    }
}

#[test]
fn signatures_are_verified() {
    let (_, vectors) = vectors();
    for (isa, backend) in ways() {
        let keys = keys(isa);
        let mut workspace = Workspace::with_backend(backend);
        let mut wrong: Vec<Vec<u8>> = Vec::new();
        let mut cases = Vec::new();
        for vector in &vectors {
            let (Operation::Sign(padding), Some(signature)) = (vector.operation, &vector.output)
            else {
                continue;
            };
            let mut changed = signature.clone();
            changed[vector.place % signature.len()] ^= 1 << (vector.place % 8);
            wrong.push(changed);
            cases.push((vector, padding, signature));
        }
        let mut requests = Vec::new();
        for (&(vector, padding, signature), wrong) in cases.iter().zip(&wrong) {
            let key = keys[&vector.key][0].public_key();
            requests.push(Request::verify(key, padding, &vector.input, signature));
            requests.push(Request::verify(key, padding, &vector.input, wrong));
            requests.push(Request::verify(key, padding, b"another message", signature));
            requests.push(Request::verify(key, padding, &vector.input, &signature[1..]));
        }
        let _ = process(&mut requests, &mut workspace);
        for (requests, (vector, ..)) in requests.chunks(4).zip(&cases) {
            let outcomes: Vec<_> = requests.iter().map(Request::outcome).collect();
            let wrong = Some(Err(Error::Signature));
            assert_eq!(outcomes, [Some(Ok(())), wrong, wrong, wrong], "line {}", vector.place);
        }
    }
}

/// Each byte of a padded digest counts: a signature of a number that differs in one is wrong.
#[test]
fn no_byte_of_a_padded_digest_may_differ() {
    let (keys, _) = vectors();
    let mut workspace = Workspace::with_backend(Backend::Own);
    // The digest of PSS has as many bytes as the modulus, or one less.
    for name in ["generated-1024-1", "pss-1025-1", "pss-1031-1"] {
        let key = keys[name].key().expect("a good key");
        let length = key.signature_length();
        for padding in [Padding::pkcs1v15(Hash::SHA256), Padding::pss(Hash::SHA256)] {
            let (mut signature, mut padded) = (vec![0; length], vec![0; length]);
            key.sign(padding, b"message", &mut signature, &mut workspace).expect("a good key");
            let mut raw = [hazmat::raw_public(key.public_key(), &signature, &mut padded)];
            process(&mut raw, &mut workspace).expect("a good number");
            let mut wrong = 0;
            for at in 0..8 * length {
                let mut padded = padded.clone();
                padded[at / 8] ^= 1 << (at % 8);
                let mut raw = [hazmat::raw_private(&key, &padded, &mut signature)];
                if process(&mut raw, &mut workspace).is_err() {
                    assert_eq!(raw[0].outcome(), Some(Err(Error::OutOfRange)));
                    continue;
                }
                wrong += 1;
                let verified =
                    key.public_key().verify(padding, b"message", &signature, &mut workspace);
                assert_eq!(verified, Err(Error::Signature), "{padding:?}, bit {at}");
            }
            assert!(wrong > 8 * length - 16, "{wrong}");
        }
    }
}
