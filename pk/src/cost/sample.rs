//! Requests to be timed, with keys that are no secrets.

use core::time::Duration;
use std::time::Instant;

use arrayvec::ArrayVec;

use crate::lanes::MOST;
use crate::mlkem768::{CIPHERTEXT_LENGTH, DecapsulationKey};
use crate::{Operation, Request, ed25519, p256, x25519};

/// Each is timed so many times, and the fastest counts.
const SAMPLES: usize = 3;

/// Most keys, and what is signed.
const BYTES: [u8; 32] = [5; 32];

/// Wrong signatures, for which everything is computed: their numbers are in range, and the first
/// half is the base point of Ed25519.
const SIGNATURE: [u8; 64] = {
    let mut bytes = [5; 64];
    bytes.split_at_mut(32).0.copy_from_slice(&[0x66; 32]);
    bytes[0] = 0x58;
    bytes
};

/// The time that `serve` takes for so many requests of an operation.
pub(super) fn time(
    operation: Operation,
    count: usize,
    serve: &dyn Fn(&mut [Request<'_>]),
) -> Duration {
    let small = &mut [[0; 32]; MOST][..count];
    let signatures = &mut [[0; 64]; MOST][..count];
    let x25519 = || x25519::SecretKey::from_bytes(&BYTES);
    let ed25519 = || ed25519::SigningKey::from_bytes(&BYTES);
    let p256 = || p256::SecretKey::from_bytes(&BYTES).expect("in range");
    let p256_signs = || p256::SigningKey::from_bytes(&BYTES).expect("in range");
    let mlkem = || DecapsulationKey::from_seed(&[5; 64]);
    match operation {
        Operation::X25519PublicKey => {
            run(x25519, true, small, |key, public| Request::x25519_public_key(key, public), serve)
        }
        Operation::X25519SharedSecret => run(
            || (x25519(), x25519::PublicKey::from_bytes(&BYTES)),
            false,
            small,
            |(key, public), shared| Request::x25519_shared_secret(key, public, shared),
            serve,
        ),
        Operation::Ed25519Sign => run(
            ed25519,
            false,
            signatures,
            |key, signature| Request::ed25519_sign(key, &BYTES, signature),
            serve,
        ),
        Operation::Ed25519Verify => run(
            ed25519,
            false,
            small,
            |key, _| Request::ed25519_verify(key.verifying_key(), &BYTES, &SIGNATURE),
            serve,
        ),
        Operation::P256PublicKey => {
            let publics = &mut [[0; 65]; MOST][..count];
            run(p256, true, publics, |key, public| Request::p256_public_key(key, public), serve)
        }
        Operation::P256SharedSecret => run(
            || (p256(), p256_signs()),
            false,
            small,
            |(key, other), shared| Request::p256_shared_secret(key, other.public_key(), shared),
            serve,
        ),
        Operation::P256Sign => run(
            p256_signs,
            false,
            signatures,
            |key, signature| Request::p256_sign_digest(key, &BYTES, signature),
            serve,
        ),
        Operation::P256Verify => run(
            p256_signs,
            false,
            small,
            |key, _| Request::p256_verify_digest(key.public_key(), &BYTES, &SIGNATURE),
            serve,
        ),
        Operation::MlKem768Generate => {
            let keys = &mut [const { None }; MOST][..count];
            run(|| (), false, keys, |(), key| Request::mlkem768_generate(key), serve)
        }
        Operation::MlKem768Encapsulate => run(
            mlkem,
            false,
            &mut [([0; CIPHERTEXT_LENGTH], [0; 32]); MOST][..count],
            |key, (ciphertext, shared)| {
                Request::mlkem768_encapsulate(key.encapsulation_key(), ciphertext, shared)
            },
            serve,
        ),
        Operation::MlKem768Decapsulate => run(
            mlkem,
            false,
            small,
            |key, shared| Request::mlkem768_decapsulate(key, &[5; CIPHERTEXT_LENGTH], shared),
            serve,
        ),
    }
}

/// Serves a request for each output, under a new key each time if the key is one that serves once.
fn run<K, O>(
    make: impl Fn() -> K,
    serves_once: bool,
    outs: &mut [O],
    request: impl for<'a> Fn(&'a K, &'a mut O) -> Request<'a>,
    serve: &dyn Fn(&mut [Request<'_>]),
) -> Duration {
    let mut key = make();
    let mut fastest = Duration::MAX;
    for _ in 0..SAMPLES {
        if serves_once {
            key = make();
        }
        let mut requests = outs.iter_mut().map(|out| request(&key, out));
        fastest = fastest.min(serve_all(&mut requests, serve));
    }
    fastest
}

fn serve_all<'a>(
    requests: &mut dyn Iterator<Item = Request<'a>>,
    serve: &dyn Fn(&mut [Request<'_>]),
) -> Duration {
    let mut requests: ArrayVec<_, MOST> = requests.collect();
    let start = Instant::now();
    serve(&mut requests);
    start.elapsed()
}
