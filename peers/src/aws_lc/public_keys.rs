//! Handshakes of AWS-LC: X25519 and Ed25519 by its plain functions, which have no context, and the
//! rest by the crate aws-lc-rs.

use aws_lc_rs::agreement::{self, ECDH_P256, PrivateKey, UnparsedPublicKey};
use aws_lc_rs::awslc_version;
use aws_lc_rs::kem::{DecapsulationKey, EncapsulationKey, ML_KEM_768};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, ParsedPublicKey,
};
use aws_lc_sys::{ED25519_keypair_from_seed, ED25519_sign, ED25519_verify, X25519, X25519_keypair};

use crate::array::array;
use crate::public_key::{KeyPair, Operation, PublicKey, Session, generating};
use crate::{Failed, Job, Peer};

pub(super) fn public_key(api: &'static str, operation: Operation) -> Peer<dyn PublicKey> {
    Peer::of_operation(["aws-lc", api], operation, &Ok(awslc_version()), |_, operation, key| {
        open(operation, key)
    })
}

fn open(operation: Operation, key: &KeyPair<'_>) -> Result<Session, Failed> {
    match operation {
        Operation::X25519Generate => Ok(generating(
            |public| {
                let (mut own, mut private) = ([0; 32], [0; 32]);
                // SAFETY: both keys have 32 bytes.
                unsafe { X25519_keypair(own.as_mut_ptr(), private.as_mut_ptr()) };
                public.copy_from_slice(&own);
                Ok(private)
            },
            |private: [u8; 32], public, secret| x25519(&private, public, secret),
        )),
        Operation::X25519Derive => {
            let private = array::<32>(key.private)?;
            Ok(Box::new(move |job: &mut Job<'_>| x25519(&private, job.input, job.output)))
        }
        Operation::Ed25519Sign => {
            let seed = array::<32>(key.private)?;
            let (mut public, mut private) = ([0; 32], [0; 64]);
            // SAFETY: these are the lengths of the keys and of the seed.
            unsafe {
                ED25519_keypair_from_seed(public.as_mut_ptr(), private.as_mut_ptr(), seed.as_ptr());
            };
            Ok(Box::new(move |job: &mut Job<'_>| {
                let Job { message, output, .. } = job;
                let signature: &mut [u8; 64] = (&mut **output).try_into().or(Err(Failed))?;
                // SAFETY: a signature has 64 bytes, and the message so many.
                let status = unsafe {
                    ED25519_sign(
                        signature.as_mut_ptr(),
                        message.as_ptr(),
                        message.len(),
                        private.as_ptr(),
                    )
                };
                Failed::unless(status == 1)
            }))
        }
        Operation::Ed25519Verify => {
            let public = array::<32>(key.public)?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                let Job { message, output, .. } = job;
                let signature: &[u8; 64] = (&**output).try_into().or(Err(Failed))?;
                // SAFETY: a signature has 64 bytes, a key 32, and the message so many.
                let status = unsafe {
                    ED25519_verify(
                        message.as_ptr(),
                        message.len(),
                        signature.as_ptr(),
                        public.as_ptr(),
                    )
                };
                Failed::unless(status == 1)
            }))
        }
        Operation::P256Generate => Ok(generating(
            |public| {
                let key = PrivateKey::generate(&ECDH_P256).or(Err(Failed))?;
                let own = key.compute_public_key().or(Err(Failed))?;
                public.copy_from_slice(own.as_ref());
                Ok(key)
            },
            |key: PrivateKey, public, secret| ecdh(&key, public, secret),
        )),
        Operation::P256Derive => {
            let key = PrivateKey::from_private_key(&ECDH_P256, key.private).or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| ecdh(&key, job.input, job.output)))
        }
        Operation::P256Sign => {
            let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
            let KeyPair { private, public } = key;
            let key = EcdsaKeyPair::from_private_key_and_public_key(algorithm, private, public);
            let (key, random) = (key.or(Err(Failed))?, SystemRandom::new());
            Ok(Box::new(move |job: &mut Job<'_>| {
                let made = key.sign(&random, job.message).or(Err(Failed))?;
                job.output.copy_from_slice(made.as_ref());
                Ok(())
            }))
        }
        Operation::P256Verify => {
            let key = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public).or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                key.verify_sig(job.message, job.output).or(Err(Failed))
            }))
        }
        Operation::MlKemGenerate => Ok(generating(
            |public| {
                let key = DecapsulationKey::generate(&ML_KEM_768).or(Err(Failed))?;
                let own = key.encapsulation_key().or(Err(Failed))?;
                public.copy_from_slice(own.key_bytes().or(Err(Failed))?.as_ref());
                Ok(key)
            },
            |key: DecapsulationKey, ciphertext, secret| decapsulate(&key, ciphertext, secret),
        )),
        Operation::MlKemEncapsulate => Ok(Box::new(|job: &mut Job<'_>| {
            let key = EncapsulationKey::new(&ML_KEM_768, job.input).or(Err(Failed))?;
            let (made, shared) = key.encapsulate().or(Err(Failed))?;
            let (ciphertext, secret) = job.output.split_at_mut(1088);
            ciphertext.copy_from_slice(made.as_ref());
            secret.copy_from_slice(shared.as_ref());
            Ok(())
        })),
        Operation::MlKemDecapsulate => {
            let key = DecapsulationKey::new(&ML_KEM_768, key.private).or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| decapsulate(&key, job.input, job.output)))
        }
        Operation::Server | Operation::ServerHybrid => Err(Failed),
    }
}

fn x25519(private: &[u8; 32], public: &[u8], secret: &mut [u8]) -> Result<(), Failed> {
    let public: &[u8; 32] = public.try_into().or(Err(Failed))?;
    let secret: &mut [u8; 32] = secret.try_into().or(Err(Failed))?;
    // SAFETY: all three have 32 bytes.
    let status = unsafe { X25519(secret.as_mut_ptr(), private.as_ptr(), public.as_ptr()) };
    Failed::unless(status == 1)
}

fn ecdh(key: &PrivateKey, public: &[u8], secret: &mut [u8]) -> Result<(), Failed> {
    agreement::agree(key, UnparsedPublicKey::new(&ECDH_P256, public), Failed, |shared| {
        secret.copy_from_slice(shared);
        Ok(())
    })
}

fn decapsulate(key: &DecapsulationKey, ciphertext: &[u8], secret: &mut [u8]) -> Result<(), Failed> {
    let shared = key.decapsulate(ciphertext.into()).or(Err(Failed))?;
    secret.copy_from_slice(shared.as_ref());
    Ok(())
}
