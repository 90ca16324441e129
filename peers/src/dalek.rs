//! Peer: the crates x25519-dalek and ed25519-dalek, both on curve25519-dalek.

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use rand::Rng as _;
use x25519_dalek::{PublicKey as Public, StaticSecret};

use crate::array::array;
use crate::project::Project;
use crate::public_key::{KeyPair, Operation, PublicKey, Session, generating};
use crate::{Failed, Job, Peer, PeerLibraries};

pub(crate) struct Dalek;

// A crate's version cannot be asked for, so it stands here; tests/peers/crate_versions.rs holds it
// to the lock file.
pub(crate) const X25519: &str = "x25519-dalek 3.0.0, curve25519-dalek 5.0.0";
const ED25519: &str = "ed25519-dalek 3.0.0, curve25519-dalek 5.0.0";

impl Project for Dalek {
    fn source(&self) -> &'static str {
        "dalek"
    }

    fn public_keys(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn PublicKey>> {
        let peer = |version: &'static str, operation| {
            Peer::of_operation(["dalek", "crate"], operation, &Ok(version), |_, operation, key| {
                open(operation, key)
            })
        };
        vec![
            peer(X25519, Operation::X25519Generate),
            peer(X25519, Operation::X25519Derive),
            peer(ED25519, Operation::Ed25519Sign),
            peer(ED25519, Operation::Ed25519Verify),
        ]
    }
}

/// A session of one of these operations.
pub(crate) fn open(operation: Operation, key: &KeyPair<'_>) -> Result<Session, Failed> {
    match operation {
        Operation::X25519Generate => Ok(generating(
            |public| {
                let mut bytes = [0; 32];
                rand::rng().fill_bytes(&mut bytes);
                let secret = StaticSecret::from(bytes);
                public.copy_from_slice(Public::from(&secret).as_bytes());
                Ok(secret)
            },
            |secret: StaticSecret, public, shared| derive(&secret, public, shared),
        )),
        Operation::X25519Derive => {
            let secret = StaticSecret::from(array::<32>(key.private)?);
            Ok(Box::new(move |job: &mut Job<'_>| derive(&secret, job.input, job.output)))
        }
        Operation::Ed25519Sign => {
            let key = SigningKey::from_bytes(&array(key.private)?);
            Ok(Box::new(move |job: &mut Job<'_>| {
                job.output.copy_from_slice(&key.sign(job.message).to_bytes());
                Ok(())
            }))
        }
        Operation::Ed25519Verify => {
            let key = VerifyingKey::from_bytes(&array(key.public)?).or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                let signature = Signature::from_bytes(&array(job.output)?);
                key.verify_strict(job.message, &signature).or(Err(Failed))
            }))
        }
        _ => Err(Failed),
    }
}

fn derive(secret: &StaticSecret, public: &[u8], shared: &mut [u8]) -> Result<(), Failed> {
    let secret = secret.diffie_hellman(&Public::from(array::<32>(public)?));
    Failed::unless(secret.was_contributory())?;
    shared.copy_from_slice(secret.as_bytes());
    Ok(())
}
