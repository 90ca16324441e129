//! X25519MLKEM768: both are computed at once.

use lanecrypt_pk::mlkem768::{
    CIPHERTEXT_LENGTH, DecapsulationKey, ENCAPSULATION_KEY_LENGTH, EncapsulationKey,
};
use lanecrypt_pk::x25519;
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, ProtocolVersion};
use zeroize::Zeroizing;

use super::curves::{Curve as _, X25519, invalid};
use super::jobs::{Agreement, Failed, Job, Kem};
use super::pool;

/// The group over the base's.
#[derive(Debug)]
pub(crate) struct Hybrid(pub(crate) &'static dyn SupportedKxGroup);

impl SupportedKxGroup for Hybrid {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        if pool::is_here() {
            let job = Job {
                x25519: Some(Agreement::new(None)?),
                kem: Some(Box::new(Kem::Generate(None))),
                ..Job::default()
            };
            if let Some(Ok(job)) = pool::together(job)
                && let Some(kem) = job.kem
                && let Kem::Generate(Some(key)) = *kem
                && let Some(Agreement { secret, share: Some(share), .. }) = job.x25519
            {
                let shares = [&key.encapsulation_key().as_bytes()[..], &share].concat();
                return Ok(Box::new(Active { key, secret, shares }));
            }
        }
        self.0.start()
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        if pool::is_here() {
            let (key, share) =
                peer.split_first_chunk::<ENCAPSULATION_KEY_LENGTH>().ok_or_else(invalid)?;
            let key = EncapsulationKey::from_bytes(key).map_err(|_| invalid())?;
            let peer = X25519::read(share).ok_or_else(invalid)?;
            let job = Job {
                x25519: Some(Agreement::new(Some(peer))?),
                kem: Some(Box::new(Kem::Encapsulate {
                    key,
                    ciphertext: [0; CIPHERTEXT_LENGTH],
                    shared: Zeroizing::new([0; 32]),
                })),
                ..Job::default()
            };
            match pool::together(job) {
                None => (),
                Some(Err(Failed)) => return Err(invalid()),
                Some(Ok(job)) => {
                    if let Some(Kem::Encapsulate { ciphertext, shared, .. }) = job.kem.as_deref()
                        && let Some(Agreement { share: Some(share), shared: other, .. }) =
                            &job.x25519
                    {
                        return Ok(CompletedKeyExchange {
                            group: self.name(),
                            pub_key: [&ciphertext[..], share].concat(),
                            secret: secret(shared, other),
                        });
                    }
                }
            }
        }
        self.0.start_and_complete(peer)
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        self.0.usable_for_version(version)
    }
}

/// Both secrets, that of ML-KEM first. It is wiped on drop.
fn secret(kem: &[u8; 32], curve: &[u8; 32]) -> SharedSecret {
    SharedSecret::from([&kem[..], curve].concat())
}

/// A key exchange that began in a pool.
struct Active {
    key: DecapsulationKey,
    secret: x25519::SecretKey,
    /// That of ML-KEM first.
    shares: Vec<u8>,
}

impl ActiveKeyExchange for Active {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let (ciphertext, share) = peer.split_first_chunk().ok_or_else(invalid)?;
        let peer = X25519::read(share).ok_or_else(invalid)?;
        let job = Job {
            x25519: Some(Agreement::continued(self.secret, Some(peer))),
            kem: Some(Box::new(Kem::Decapsulate {
                key: self.key,
                ciphertext: *ciphertext,
                shared: Zeroizing::new([0; 32]),
            })),
            ..Job::default()
        };
        let job = pool::finish(job).map_err(|Failed| invalid())?;
        match (job.kem.as_deref(), &job.x25519) {
            (Some(Kem::Decapsulate { shared, .. }), Some(agreement)) => {
                Ok(secret(shared, &agreement.shared))
            }
            _ => Err(invalid()),
        }
    }

    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((NamedGroup::X25519, &self.shares[ENCAPSULATION_KEY_LENGTH..]))
    }

    fn complete_hybrid_component(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = X25519::read(peer).ok_or_else(invalid)?;
        let x25519 = Some(Agreement::continued(self.secret, Some(peer)));
        let job = pool::finish(Job { x25519, ..Job::default() }).map_err(|Failed| invalid())?;
        let agreement = job.x25519.ok_or_else(invalid)?;
        Ok(SharedSecret::from(&agreement.shared[..]))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn pub_key(&self) -> &[u8] {
        &self.shares
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}
