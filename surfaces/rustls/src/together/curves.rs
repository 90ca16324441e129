//! The curves of key exchange.

use lanecrypt_pk::{KeyError, Request, p256, x25519};
use rustls::{Error, NamedGroup, PeerMisbehaved};

/// A curve.
pub(crate) trait Curve: 'static {
    type Secret: Send + Sync + 'static;
    type Public;
    /// A public key as it is sent.
    type Share: AsRef<[u8]> + Send + Sync + 'static;

    const NAME: NamedGroup;
    /// Room for a public key.
    const EMPTY: Self::Share;

    fn generate() -> Result<Self::Secret, KeyError>;

    /// The other side's key, if it is valid.
    fn read(share: &[u8]) -> Option<Self::Public>;

    /// Computes our share.
    fn share<'a>(secret: &'a Self::Secret, share: &'a mut Self::Share) -> Request<'a>;

    /// Computes the shared secret.
    fn agree<'a>(
        secret: &'a Self::Secret,
        peer: &'a Self::Public,
        shared: &'a mut [u8; 32],
    ) -> Request<'a>;
}

/// The other side's share is not one.
pub(crate) fn invalid() -> Error {
    PeerMisbehaved::InvalidKeyShare.into()
}

pub(crate) struct X25519;

impl Curve for X25519 {
    type Secret = x25519::SecretKey;
    type Public = x25519::PublicKey;
    type Share = [u8; 32];

    const NAME: NamedGroup = NamedGroup::X25519;
    const EMPTY: Self::Share = [0; 32];

    fn generate() -> Result<Self::Secret, KeyError> {
        x25519::SecretKey::generate()
    }

    fn read(share: &[u8]) -> Option<Self::Public> {
        share.try_into().ok().map(x25519::PublicKey::from_bytes)
    }

    fn share<'a>(secret: &'a Self::Secret, share: &'a mut Self::Share) -> Request<'a> {
        Request::x25519_public_key(secret, share)
    }

    fn agree<'a>(
        secret: &'a Self::Secret,
        peer: &'a Self::Public,
        shared: &'a mut [u8; 32],
    ) -> Request<'a> {
        Request::x25519_shared_secret(secret, peer, shared)
    }
}

pub(crate) struct P256;

impl Curve for P256 {
    type Secret = p256::SecretKey;
    type Public = p256::PublicKey;
    type Share = [u8; 65];

    const NAME: NamedGroup = NamedGroup::secp256r1;
    const EMPTY: Self::Share = [0; 65];

    fn generate() -> Result<Self::Secret, KeyError> {
        p256::SecretKey::generate()
    }

    fn read(share: &[u8]) -> Option<Self::Public> {
        // TLS has no other form.
        let is_uncompressed = share.len() == Self::EMPTY.len() && share[0] == 4;
        is_uncompressed.then(|| p256::PublicKey::from_sec1_bytes(share).ok())?
    }

    fn share<'a>(secret: &'a Self::Secret, share: &'a mut Self::Share) -> Request<'a> {
        Request::p256_public_key(secret, share)
    }

    fn agree<'a>(
        secret: &'a Self::Secret,
        peer: &'a Self::Public,
        shared: &'a mut [u8; 32],
    ) -> Request<'a> {
        Request::p256_shared_secret(secret, peer, shared)
    }
}
