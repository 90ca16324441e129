//! Handshakes of the crate `ring`. Its keys for key exchange are used once, so that deriving cannot
//! be measured without generating.

use ring::agreement::{self, Algorithm, ECDH_P256, EphemeralPrivateKey, X25519};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair,
    Ed25519KeyPair, UnparsedPublicKey,
};

use super::built::VERSION;
use crate::public_key::{KeyPair, Operation, PublicKey, Session, generating};
use crate::{Failed, Job, Peer};

pub(super) fn public_key(names: [&'static str; 2], operation: Operation) -> Peer<dyn PublicKey> {
    Peer::of_operation(names, operation, &Ok(VERSION), |_, operation, key| open(operation, key))
}

fn open(operation: Operation, key: &KeyPair<'_>) -> Result<Session, Failed> {
    match operation {
        Operation::X25519Generate => Ok(generate(&X25519)),
        Operation::P256Generate => Ok(generate(&ECDH_P256)),
        Operation::Ed25519Sign => {
            let key = Ed25519KeyPair::from_seed_and_public_key(key.private, key.public);
            let key = key.or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                job.output.copy_from_slice(key.sign(job.message).as_ref());
                Ok(())
            }))
        }
        Operation::Ed25519Verify => {
            let key = UnparsedPublicKey::new(&ED25519, key.public.to_vec());
            Ok(Box::new(move |job: &mut Job<'_>| {
                key.verify(job.message, job.output).or(Err(Failed))
            }))
        }
        Operation::P256Sign => {
            let random = SystemRandom::new();
            let key = EcdsaKeyPair::from_private_key_and_public_key(
                &ECDSA_P256_SHA256_FIXED_SIGNING,
                key.private,
                key.public,
                &random,
            );
            let key = key.or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                let made = key.sign(&random, job.message).or(Err(Failed))?;
                job.output.copy_from_slice(made.as_ref());
                Ok(())
            }))
        }
        Operation::P256Verify => {
            let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public.to_vec());
            Ok(Box::new(move |job: &mut Job<'_>| {
                key.verify(job.message, job.output).or(Err(Failed))
            }))
        }
        _ => Err(Failed),
    }
}

fn generate(algorithm: &'static Algorithm) -> Session {
    let random = SystemRandom::new();
    generating(
        move |public| {
            let key = EphemeralPrivateKey::generate(algorithm, &random).or(Err(Failed))?;
            let own = key.compute_public_key().or(Err(Failed))?;
            public.copy_from_slice(own.as_ref());
            Ok(key)
        },
        move |key: EphemeralPrivateKey, public, secret| {
            let public = agreement::UnparsedPublicKey::new(algorithm, public);
            let take = |shared: &[u8]| secret.copy_from_slice(shared);
            agreement::agree_ephemeral(key, &public, take).or(Err(Failed))
        },
    )
}
