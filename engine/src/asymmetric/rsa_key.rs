//! RSA keys of sessions.

use std::sync::Arc;

use lanecrypt_rsa::{PrivateKey, PublicKey};

/// The RSA key of a session: a private key, to sign and to verify, or a public key, to verify.
///
/// It is shared, so that many sessions may have the same key: one for each queue, or one for each
/// padding. The key is wiped when its last owner is dropped. It is converted from a key or from an
/// [`Arc`] of one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RsaKey {
    /// Signs and verifies.
    Private(Arc<PrivateKey>),
    /// Verifies.
    Public(Arc<PublicKey>),
}

impl RsaKey {
    /// The private key, if it is one.
    #[must_use]
    pub fn private_key(&self) -> Option<&PrivateKey> {
        match self {
            Self::Private(key) => Some(key),
            Self::Public(_) => None,
        }
    }

    /// The public key, or that of the private key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        match self {
            Self::Private(key) => key.public_key(),
            Self::Public(key) => key,
        }
    }

    /// The length of its signatures in bytes: that of the modulus.
    #[must_use]
    pub fn signature_length(&self) -> usize {
        self.public_key().signature_length()
    }
}

impl From<PrivateKey> for RsaKey {
    fn from(key: PrivateKey) -> Self {
        Self::Private(Arc::new(key))
    }
}

impl From<PublicKey> for RsaKey {
    fn from(key: PublicKey) -> Self {
        Self::Public(Arc::new(key))
    }
}

impl From<Arc<PrivateKey>> for RsaKey {
    fn from(key: Arc<PrivateKey>) -> Self {
        Self::Private(key)
    }
}

impl From<Arc<PublicKey>> for RsaKey {
    fn from(key: Arc<PublicKey>) -> Self {
        Self::Public(key)
    }
}
