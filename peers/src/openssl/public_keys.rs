//! Peer: handshakes of OpenSSL, by its EVP interface. Keys and contexts are kept; a public key that
//! the other side sends is parsed and checked as libssl does, which for P-256 takes another
//! multiplication.

use lanecrypt_libcrypto::{KeyType, Libcrypto, SecretKey};
use p256::ecdsa::Signature;

use super::{library, newest};
use crate::public_key::{KeyPair, Operation, PublicKey, Session, generating};
use crate::{Failed, Job, KeyKind, Peer, PeerLibraries};

/// The system's build, and that of `make peers` as the newest.
pub(super) fn all(libraries: &PeerLibraries) -> Vec<Peer<dyn PublicKey>> {
    let builds = [("evp", library(libraries)), ("evp-newest", newest(libraries))];
    let peers = builds.iter().flat_map(|(api, found)| {
        let peer = |operation| {
            let found = found.clone().and_then(|libcrypto| able(libcrypto, operation));
            Peer::of_operation(["openssl", api], operation, &found, open)
        };
        Operation::ALL.map(peer)
    });
    peers.collect()
}

/// The build, if it is new enough for an operation.
fn able(libcrypto: Libcrypto, operation: Operation) -> Result<Libcrypto, String> {
    let (of, least) = match operation {
        Operation::MlKemGenerate
        | Operation::MlKemEncapsulate
        | Operation::MlKemDecapsulate
        | Operation::ServerHybrid => (KeyType::MlKem768, "no ML-KEM before 3.5"),
        _ => (KeyType::X25519, "no handshakes before 3.0"),
    };
    let is_able = libcrypto.generator(of).is_ok();
    let version = libcrypto.version();
    if is_able { Ok(libcrypto) } else { Err(format!("{version} is here: {least}")) }
}

fn open(libcrypto: &Libcrypto, operation: Operation, key: &KeyPair<'_>) -> Result<Session, Failed> {
    match operation {
        Operation::X25519Generate | Operation::P256Generate | Operation::MlKemGenerate => {
            let of = key_type(operation.generated().ok_or(Failed)?);
            generate(libcrypto, of)
        }
        Operation::X25519Derive | Operation::P256Derive => {
            let mut key = private(libcrypto, operation, key)?.into_deriver().or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| key.derive(job.input, job.output).or(Err(Failed))))
        }
        Operation::Ed25519Sign => {
            let mut key = private(libcrypto, operation, key)?.into_signer().or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                let length = key.sign(job.message, job.output).or(Err(Failed))?;
                Failed::unless(length == job.output.len())
            }))
        }
        Operation::P256Sign => {
            let mut key = private(libcrypto, operation, key)?.into_signer().or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                let mut der = [0; 72];
                let length = key.sign(job.digest, &mut der).or(Err(Failed))?;
                let made = Signature::from_der(der.get(..length).ok_or(Failed)?).or(Err(Failed))?;
                job.output.copy_from_slice(&made.to_bytes());
                Ok(())
            }))
        }
        Operation::Ed25519Verify => {
            let mut key = public(libcrypto, operation, key)?.into_signer().or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                key.verify(job.message, job.output).or(Err(Failed))
            }))
        }
        Operation::P256Verify => {
            let mut key = public(libcrypto, operation, key)?.into_signer().or(Err(Failed))?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                let der = Signature::from_slice(job.output).or(Err(Failed))?.to_der();
                key.verify(job.digest, der.as_bytes()).or(Err(Failed))
            }))
        }
        Operation::MlKemEncapsulate => {
            let libcrypto = *libcrypto;
            Ok(Box::new(move |job: &mut Job<'_>| {
                let key = libcrypto.public_key(KeyType::MlKem768, job.input).or(Err(Failed))?;
                let (ciphertext, secret) = job.output.split_at_mut(1088);
                key.encapsulate(ciphertext, secret).or(Err(Failed))
            }))
        }
        Operation::MlKemDecapsulate => {
            let key = private(libcrypto, operation, key)?;
            Ok(Box::new(move |job: &mut Job<'_>| {
                key.decapsulate(job.input, job.output).or(Err(Failed))
            }))
        }
        Operation::Server | Operation::ServerHybrid => Err(Failed),
    }
}

fn generate(libcrypto: &Libcrypto, of: KeyType) -> Result<Session, Failed> {
    let mut generator = libcrypto.generator(of).or(Err(Failed))?;
    Ok(generating(
        move |public| {
            let key = generator.generate().or(Err(Failed))?;
            key.public(public).or(Err(Failed))?;
            Ok(key)
        },
        move |key: SecretKey, input, secret| match of {
            KeyType::MlKem768 => key.decapsulate(input, secret).or(Err(Failed)),
            _ => {
                let mut key = key.into_deriver().or(Err(Failed))?;
                key.derive(input, secret).or(Err(Failed))
            }
        },
    ))
}

const fn key_type(kind: KeyKind) -> KeyType {
    match kind {
        KeyKind::X25519 => KeyType::X25519,
        KeyKind::Ed25519 => KeyType::Ed25519,
        KeyKind::P256 => KeyType::P256,
        KeyKind::MlKem768 => KeyType::MlKem768,
    }
}

fn private(
    libcrypto: &Libcrypto,
    operation: Operation,
    key: &KeyPair<'_>,
) -> Result<SecretKey, Failed> {
    let of = key_type(operation.key().ok_or(Failed)?);
    libcrypto.private_key(of, key.private, key.public).or(Err(Failed))
}

fn public(
    libcrypto: &Libcrypto,
    operation: Operation,
    key: &KeyPair<'_>,
) -> Result<SecretKey, Failed> {
    let of = key_type(operation.key().ok_or(Failed)?);
    libcrypto.public_key(of, key.public).or(Err(Failed))
}
