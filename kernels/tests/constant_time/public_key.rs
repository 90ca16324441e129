//! X25519, Ed25519, P-256 and ML-KEM: private keys, nonces and shared secrets are secret; what the
//! other side sends, messages and digests are public.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use lanecrypt_kernels::curve25519::{ed25519, x25519};
use lanecrypt_kernels::mlkem::{
    self, CIPHERTEXT, DECAPSULATION_KEY, Decapsulation, DecapsulationKey, Encapsulation, SEED,
};
use lanecrypt_kernels::p256::{self, SecretKey};
use lanecrypt_kernels::{Isa, Level};

use crate::secrets::{Secrets, unseen};

/// The levels with kernels of their own.
pub(crate) const LEVELS: &[Level] = &[Level::Portable, Level::Avx2, Level::Avx512];

/// More than fill a register and fewer.
const JOBS: usize = 9;

fn each<T>(mut make: impl FnMut() -> T) -> Vec<T> {
    let mut all = unseen(|| Vec::with_capacity(JOBS));
    (0..JOBS).for_each(|_| all.push(make()));
    all
}

pub(crate) fn x25519(isa: Isa, secrets: &mut Secrets) {
    let scalars: Vec<[u8; 32]> = each(|| secrets.bytes());
    let points: Vec<[u8; 32]> = each(|| secrets.known());
    let mut out = unseen(|| vec![[0; 32]; JOBS]);
    let scalars: Vec<_> = scalars.iter().collect();
    x25519::public_keys(isa, &scalars, &mut out);
    out.iter_mut().for_each(|out| secrets.reveal(out));
    let points: Vec<_> = points.iter().collect();
    x25519::shared_secrets(isa, &scalars, &points, &mut out);
    out.iter_mut().for_each(|out| secrets.reveal(out));
}

pub(crate) fn ed25519(isa: Isa, secrets: &mut Secrets) {
    let seeds: Vec<[u8; 32]> = each(|| secrets.bytes());
    let mut keys = unseen(|| (0..JOBS).map(|_| None).collect::<Vec<_>>());
    ed25519::expand(isa, &seeds.iter().collect::<Vec<_>>(), &mut keys);
    let message: [u8; 150] = secrets.known();
    let jobs: Vec<_> = keys
        .iter()
        .flatten()
        .zip([0, 1, 31, 32, 64, 100, 111, 112, 150])
        .map(|(key, length)| ed25519::Sign { key, message: &message[..length] })
        .collect();
    let mut signatures = unseen(|| vec![[0; 64]; JOBS]);
    ed25519::sign(isa, &jobs, &mut signatures);
    signatures.iter_mut().for_each(|signature| secrets.reveal(signature));
}

pub(crate) fn p256(isa: Isa, secrets: &mut Secrets) {
    let keys = each(|| {
        let bytes = secrets.bytes();
        // Whether the number is in range is public.
        secrets.judge();
        SecretKey::new(&bytes).expect("nearly all are in range")
    });
    let keys: Vec<_> = keys.iter().collect();
    let mut publics = unseen(|| vec![p256::PublicKey::BASE; JOBS]);
    p256::public_keys(isa, &keys, &mut publics);
    publics.iter().for_each(|public| secrets.reveal(&mut public.to_bytes()[1..]));

    let points = unseen(|| vec![p256::PublicKey::BASE; JOBS]);
    let mut shared = unseen(|| vec![[0; 32]; JOBS]);
    p256::shared_secrets(isa, &keys, &points.iter().collect::<Vec<_>>(), &mut shared);
    shared.iter_mut().for_each(|shared| secrets.reveal(shared));
}

/// The seed of the public part of keys. It is the same in each run, because how long it takes to
/// sample the matrix depends on it.
const PUBLIC: [u8; SEED] = [1; SEED];

/// A key with that public part, and the secret part of a seed.
fn decapsulation_key(isa: Isa, secrets: &Secrets, seed: &[u8; SEED]) -> DecapsulationKey {
    let mut key = DecapsulationKey::empty();
    let [mut bytes, mut public] = [[0; DECAPSULATION_KEY]; 2];
    unseen(|| {
        key.set_seed(isa, &PUBLIC);
        key.copy_bytes(isa, &mut public);
        key.set_seed(isa, seed);
        key.copy_bytes(isa, &mut bytes);
        bytes[1152..DECAPSULATION_KEY - 32].copy_from_slice(&public[1152..DECAPSULATION_KEY - 32]);
    });
    secrets.hide(&mut bytes[..1152]);
    secrets.hide(&mut bytes[DECAPSULATION_KEY - 32..]);
    assert!(key.set_bytes(isa, &bytes), "it was copied");
    key
}

pub(crate) fn encapsulate(isa: Isa, secrets: &mut Secrets) {
    let key = decapsulation_key(isa, secrets, &PUBLIC);
    let randomness: Vec<[u8; 32]> = each(|| secrets.bytes());
    let jobs = randomness
        .iter()
        .map(|randomness| Encapsulation { key: key.encapsulation_key(), randomness })
        .collect::<Vec<_>>();
    let mut ciphertexts = unseen(|| vec![[0; CIPHERTEXT]; JOBS]);
    let mut shared = unseen(|| vec![[0; 32]; JOBS]);
    mlkem::encapsulate(isa, &jobs, &mut ciphertexts, &mut shared);
    ciphertexts.iter_mut().for_each(|ciphertext| secrets.reveal(ciphertext));
    shared.iter_mut().for_each(|shared| secrets.reveal(shared));
}

/// Of ciphertexts that are accepted or rejected, depending on secrets.
pub(crate) fn decapsulate(isa: Isa, secrets: &mut Secrets) {
    let seed = secrets.known();
    let keys = [PUBLIC, seed].map(|seed| decapsulation_key(isa, secrets, &seed));
    let randomness: Vec<[u8; 32]> = each(|| secrets.known());
    let (mut ciphertexts, mut ignored) = (vec![[0; CIPHERTEXT]; JOBS], vec![[0; 32]; JOBS]);
    unseen(|| {
        let jobs = randomness
            .iter()
            .map(|randomness| Encapsulation { key: keys[0].encapsulation_key(), randomness })
            .collect::<Vec<_>>();
        mlkem::encapsulate(isa, &jobs, &mut ciphertexts, &mut ignored);
        for (ciphertext, randomness) in ciphertexts.iter_mut().zip(&randomness) {
            ciphertext[500] ^= randomness[0] & 1;
        }
    });
    let jobs = ciphertexts
        .iter()
        .zip(keys.iter().cycle())
        .map(|(ciphertext, key)| Decapsulation { key, ciphertext })
        .collect::<Vec<_>>();
    let mut shared = unseen(|| vec![[0; 32]; JOBS]);
    mlkem::decapsulate(isa, &jobs, &mut shared);
    shared.iter_mut().for_each(|shared| secrets.reveal(shared));
}
