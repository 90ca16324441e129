//! Handshakes by the crates `p256` and `ml-kem`, with X25519 by x25519-dalek where that is a part.

use ml_kem::kem::{Decapsulate as _, Encapsulate as _, Kem as _, KeyExport as _};
use ml_kem::{DecapsulationKey, EncapsulationKey, MlKem768};
use p256::ecdsa::signature::hazmat::{PrehashSigner as _, PrehashVerifier as _};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::Generate as _;
use p256::{PublicKey as Public, SecretKey};

use crate::array::array;
use crate::dalek;
use crate::public_key::{KeyPair, Operation, PublicKey, Session, generating};
use crate::{Failed, Job, Peer};

// tests/peers/crate_versions.rs holds them to the lock file.
const P256: &str = "p256 0.14.0";
const ML_KEM: &str = "ml-kem 0.3.4";
const SERVER: &str = "p256 0.14.0, x25519-dalek 3.0.0, curve25519-dalek 5.0.0";
const HYBRID: &str = "p256 0.14.0, ml-kem 0.3.4, x25519-dalek 3.0.0, curve25519-dalek 5.0.0";

pub(super) fn all() -> Vec<Peer<dyn PublicKey>> {
    let version = |operation| match operation {
        Operation::P256Generate
        | Operation::P256Derive
        | Operation::P256Sign
        | Operation::P256Verify => Some(P256),
        Operation::MlKemGenerate | Operation::MlKemEncapsulate | Operation::MlKemDecapsulate => {
            Some(ML_KEM)
        }
        Operation::Server => Some(SERVER),
        Operation::ServerHybrid => Some(HYBRID),
        _ => None,
    };
    let peer = |operation| {
        Some(Peer::of_operation(
            ["rustcrypto", "crate"],
            operation,
            &Ok(version(operation)?),
            |_, operation, key| open(operation, key),
        ))
    };
    Operation::ALL.into_iter().filter_map(peer).collect()
}

fn open(operation: Operation, key: &KeyPair<'_>) -> Result<Session, Failed> {
    match operation {
        Operation::P256Generate => Ok(generating(
            |public| {
                let secret = SecretKey::generate_from_rng(&mut rand::rng());
                public.copy_from_slice(&secret.public_key().to_sec1_bytes());
                Ok(secret)
            },
            |secret: SecretKey, public, shared| derive(&secret, public, shared),
        )),
        Operation::P256Derive => {
            let secret = SecretKey::from_slice(key.private).or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| derive(&secret, job.input, job.output)))
        }
        Operation::P256Sign => {
            let key = SigningKey::from_slice(key.private).or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                let made: Signature = key.sign_prehash(job.digest).or(Err(Failed))?;
                job.output.copy_from_slice(&made.to_bytes());
                Ok(())
            }))
        }
        Operation::P256Verify => {
            let key = VerifyingKey::from_sec1_bytes(key.public).or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                let signature = Signature::from_slice(job.output).or(Err(Failed))?;
                key.verify_prehash(job.digest, &signature).or(Err(Failed))
            }))
        }
        Operation::MlKemGenerate => Ok(generating(
            |public| {
                let (secret, key) = MlKem768::generate_keypair_from_rng(&mut rand::rng());
                public.copy_from_slice(&key.to_bytes());
                Ok(secret)
            },
            |secret: DecapsulationKey<MlKem768>, ciphertext, shared| {
                decapsulate(&secret, ciphertext, shared)
            },
        )),
        Operation::MlKemEncapsulate => Ok(Box::new(|job: &mut Job<'_>| {
            let key = array::<1184>(job.input)?;
            let key = EncapsulationKey::<MlKem768>::new(&key.into()).or(Err(Failed))?;
            let (ciphertext, secret) = key.encapsulate_with_rng(&mut rand::rng());
            let (to, shared) = job.output.split_at_mut(ciphertext.len());
            to.copy_from_slice(&ciphertext);
            shared.copy_from_slice(&secret);
            Ok(())
        })),
        Operation::MlKemDecapsulate => {
            #[expect(deprecated, reason = "the form that all libraries take")]
            let secret =
                DecapsulationKey::<MlKem768>::from_expanded(&array::<2400>(key.private)?.into());
            let secret = secret.or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| decapsulate(&secret, job.input, job.output)))
        }
        _ => dalek::open(operation, key),
    }
}

fn derive(secret: &SecretKey, public: &[u8], shared: &mut [u8]) -> Result<(), Failed> {
    let public = Public::from_sec1_bytes(public).or(Err(Failed))?;
    shared.copy_from_slice(secret.diffie_hellman(&public).raw_secret_bytes());
    Ok(())
}

fn decapsulate(
    secret: &DecapsulationKey<MlKem768>,
    ciphertext: &[u8],
    shared: &mut [u8],
) -> Result<(), Failed> {
    shared.copy_from_slice(&secret.decapsulate_slice(ciphertext).or(Err(Failed))?);
    Ok(())
}
