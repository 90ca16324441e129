//! Requests to be timed, with keys that are no secrets.

use core::time::Duration;

use arrayvec::ArrayVec;

use crate::lanes::MOST;
use crate::mlkem768::{CIPHERTEXT_LENGTH, DecapsulationKey};
use crate::{Operation, Request, ed25519, p256, x25519};

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

/// Calls `time` with so many requests of an operation.
pub(super) fn with(
    operation: Operation,
    count: usize,
    time: impl FnOnce(&mut [Request<'_>]) -> Duration,
) -> Duration {
    let small = &mut [[0; 32]; MOST][..count];
    let signatures = &mut [[0; 64]; MOST][..count];
    let x25519 = x25519::SecretKey::from_bytes(&BYTES);
    let p256 = p256::SecretKey::from_bytes(&BYTES);
    let p256 = p256.expect("in range");
    let p256_signs = || p256::SigningKey::from_bytes(&BYTES).expect("in range");
    let mlkem = || DecapsulationKey::from_seed(&[5; 64]);
    match operation {
        Operation::X25519PublicKey => {
            all(small, |public| Request::x25519_public_key(&x25519, public), time)
        }
        Operation::X25519SharedSecret => {
            let public = x25519::PublicKey::from_bytes(&BYTES);
            all(small, |shared| Request::x25519_shared_secret(&x25519, &public, shared), time)
        }
        Operation::Ed25519Sign => {
            let key = ed25519::SigningKey::from_bytes(&BYTES);
            all(signatures, |signature| Request::ed25519_sign(&key, &BYTES, signature), time)
        }
        Operation::Ed25519Verify => {
            let key = ed25519::SigningKey::from_bytes(&BYTES);
            let key = key.verifying_key();
            all(small, |_| Request::ed25519_verify(key, &BYTES, &SIGNATURE), time)
        }
        Operation::P256PublicKey => {
            let publics = &mut [[0; 65]; MOST][..count];
            all(publics, |public| Request::p256_public_key(&p256, public), time)
        }
        Operation::P256SharedSecret => {
            let key = p256_signs();
            all(small, |shared| Request::p256_shared_secret(&p256, key.public_key(), shared), time)
        }
        Operation::P256Sign => {
            let key = p256_signs();
            all(signatures, |signature| Request::p256_sign_digest(&key, &BYTES, signature), time)
        }
        Operation::P256Verify => {
            let key = p256_signs();
            let key = key.public_key();
            all(small, |_| Request::p256_verify_digest(key, &BYTES, &SIGNATURE), time)
        }
        Operation::MlKem768Generate => {
            let keys = &mut [const { None }; MOST][..count];
            all(keys, Request::mlkem768_generate, time)
        }
        Operation::MlKem768Encapsulate => {
            let key = mlkem();
            let key = key.encapsulation_key();
            let outs = &mut [([0; CIPHERTEXT_LENGTH], [0; 32]); MOST][..count];
            all(outs, |(to, shared)| Request::mlkem768_encapsulate(key, to, shared), time)
        }
        Operation::MlKem768Decapsulate => {
            let key = mlkem();
            let ciphertext = &[5; CIPHERTEXT_LENGTH];
            all(small, |shared| Request::mlkem768_decapsulate(&key, ciphertext, shared), time)
        }
    }
}

/// Calls `time` with a request for each output.
fn all<'a, O>(
    outs: &'a mut [O],
    request: impl Fn(&'a mut O) -> Request<'a>,
    time: impl FnOnce(&mut [Request<'_>]) -> Duration,
) -> Duration {
    let mut requests: ArrayVec<_, MOST> = outs.iter_mut().map(request).collect();
    time(&mut requests)
}
