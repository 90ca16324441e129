//! Signing keys.

use core::fmt;
use std::sync::Arc;

use lanecrypt_pk::{ed25519, p256};
use lanecrypt_rsa::{self as rsa, Hash, Padding};
use rustls::crypto::KeyProvider;
use rustls::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};

use super::jobs::{Failed, Job, Signature};
use super::known::Known;
use super::pool;

/// Loads keys that sign by the base outside of pools, and together in pools.
pub(crate) fn ours(base: &'static dyn KeyProvider) -> &'static dyn KeyProvider {
    static KNOWN: Known<dyn KeyProvider> = Known::new();
    KNOWN.of(base, || Box::leak(Box::new(Keys(base))))
}

#[derive(Debug)]
struct Keys(&'static dyn KeyProvider);

impl KeyProvider for Keys {
    fn load_private_key(&self, der: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        let ours = Ours::read(&der);
        let base = self.0.load_private_key(der)?;
        Ok(match ours {
            Some(ours) => Arc::new(Key { base, ours }),
            None => base,
        })
    }
}

/// A key of ours.
#[derive(Clone)]
enum Ours {
    P256(Arc<p256::SigningKey>),
    Ed25519(Arc<ed25519::SigningKey>),
    Rsa(Arc<rsa::PrivateKey>),
}

impl Ours {
    /// The key, if it is of an algorithm that we have.
    fn read(der: &PrivateKeyDer<'_>) -> Option<Self> {
        match der {
            PrivateKeyDer::Pkcs8(der) => {
                let der = der.secret_pkcs8_der();
                let p256 = || p256::SigningKey::from_pkcs8_der(der).map(Arc::new).map(Self::P256);
                let ed25519 =
                    || ed25519::SigningKey::from_pkcs8_der(der).map(Arc::new).map(Self::Ed25519);
                let rsa = || rsa::PrivateKey::from_pkcs8_der(der).map(Arc::new).map(Self::Rsa);
                p256().or_else(|_| ed25519()).ok().or_else(|| rsa().ok())
            }
            PrivateKeyDer::Sec1(der) => p256::SigningKey::from_sec1_der(der.secret_sec1_der())
                .map(|key| Self::P256(Arc::new(key)))
                .ok(),
            PrivateKeyDer::Pkcs1(der) => rsa::PrivateKey::from_pkcs1_der(der.secret_pkcs1_der())
                .map(|key| Self::Rsa(Arc::new(key)))
                .ok(),
            _ => None,
        }
    }

    /// The signature that a scheme asks for; `None` if the key does not have the scheme.
    fn signature(&self, scheme: SignatureScheme, message: &[u8]) -> Option<Signature> {
        let message = message.to_vec();
        Some(match (self, scheme) {
            (Self::P256(key), SignatureScheme::ECDSA_NISTP256_SHA256) => {
                Signature::P256 { key: key.clone(), message, signature: [0; 64] }
            }
            (Self::Ed25519(key), SignatureScheme::ED25519) => {
                Signature::Ed25519 { key: key.clone(), message, signature: [0; 64] }
            }
            (Self::Rsa(key), scheme) => {
                let padding = match scheme {
                    SignatureScheme::RSA_PSS_SHA256 => Padding::pss(Hash::SHA256),
                    SignatureScheme::RSA_PSS_SHA384 => Padding::pss(Hash::SHA384),
                    SignatureScheme::RSA_PSS_SHA512 => Padding::pss(Hash::SHA512),
                    SignatureScheme::RSA_PKCS1_SHA256 => Padding::pkcs1v15(Hash::SHA256),
                    SignatureScheme::RSA_PKCS1_SHA384 => Padding::pkcs1v15(Hash::SHA384),
                    SignatureScheme::RSA_PKCS1_SHA512 => Padding::pkcs1v15(Hash::SHA512),
                    _ => return None,
                };
                let signature = vec![0; key.signature_length()];
                Signature::Rsa { key: key.clone(), padding, message, signature }
            }
            _ => return None,
        })
    }
}

/// A key, twice.
struct Key {
    base: Arc<dyn SigningKey>,
    ours: Ours,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt(f)
    }
}

impl SigningKey for Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let base = self.base.choose_scheme(offered)?;
        Some(Box::new(Chosen { base, ours: self.ours.clone() }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.base.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.base.algorithm()
    }
}

/// A key and the scheme of the base's signer.
struct Chosen {
    base: Box<dyn Signer>,
    ours: Ours,
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt(f)
    }
}

impl Signer for Chosen {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        if pool::is_here()
            && let Some(signature) = self.ours.signature(self.scheme(), message)
        {
            let job = Job { signature: Some(signature), ..Job::default() };
            match pool::together(job) {
                None => (),
                Some(Err(Failed)) => return Err(Error::General("signing failed".into())),
                Some(Ok(job)) => match job.signature {
                    None => (),
                    Some(Signature::P256 { signature, .. }) => {
                        let room = &mut [0; p256::MAX_DER_LENGTH];
                        return Ok(p256::signature_to_der(&signature, room).to_vec());
                    }
                    Some(Signature::Ed25519 { signature, .. }) => return Ok(signature.to_vec()),
                    Some(Signature::Rsa { signature, .. }) => return Ok(signature),
                },
            }
        }
        self.base.sign(message)
    }

    fn scheme(&self) -> SignatureScheme {
        self.base.scheme()
    }
}
