//! Keys of sessions for signatures.

#[cfg(feature = "pk")]
use std::sync::Arc;

#[cfg(feature = "pk")]
use lanecrypt_pk::{ed25519, p256};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::Padding;

#[cfg(feature = "rsa")]
use crate::RsaKey;

/// The key of a session that makes or checks signatures, and their scheme.
///
/// It is converted from a key of the crate `lanecrypt-pk`, or from an RSA key with a padding.
/// Sessions may share a key. It is wiped when its last owner is dropped.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SignatureKey {
    /// RSA, with this padding.
    #[cfg(feature = "rsa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
    Rsa(RsaKey, Padding),
    /// Ed25519 (RFC 8032): makes and checks signatures of 64 bytes.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    Ed25519(Arc<ed25519::SigningKey>),
    /// Ed25519: checks signatures.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    Ed25519Public(ed25519::VerifyingKey),
    /// ECDSA with P-256 and SHA-256 (FIPS 186-5): makes and checks signatures of 64 bytes, r and s.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    P256(Arc<p256::SigningKey>),
    /// ECDSA with P-256 and SHA-256: checks signatures.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    P256Public(p256::PublicKey),
}

impl SignatureKey {
    /// Whether it makes signatures. If not, it only checks them.
    #[must_use]
    pub fn is_private(&self) -> bool {
        match self {
            #[cfg(feature = "rsa")]
            Self::Rsa(key, _) => key.private_key().is_some(),
            #[cfg(feature = "pk")]
            Self::Ed25519(_) | Self::P256(_) => true,
            #[cfg(feature = "pk")]
            Self::Ed25519Public(_) | Self::P256Public(_) => false,
        }
    }

    /// The length of its signatures in bytes.
    #[must_use]
    pub fn signature_length(&self) -> usize {
        match self {
            #[cfg(feature = "rsa")]
            Self::Rsa(key, _) => key.signature_length(),
            #[cfg(feature = "pk")]
            _ => 64,
        }
    }

    /// Whether signatures of both keys have the same scheme. Of RSA, the padding is part of it.
    #[must_use]
    pub fn has_scheme_of(&self, other: &Self) -> bool {
        match (self, other) {
            #[cfg(feature = "rsa")]
            (Self::Rsa(_, padding), Self::Rsa(_, other)) => padding == other,
            #[cfg(feature = "pk")]
            (
                Self::Ed25519(_) | Self::Ed25519Public(_),
                Self::Ed25519(_) | Self::Ed25519Public(_),
            )
            | (Self::P256(_) | Self::P256Public(_), Self::P256(_) | Self::P256Public(_)) => true,
            #[cfg(feature = "pk")]
            _ => false,
        }
    }

    /// The DER of its public key (SPKI; RFC 5280, section 4.1).
    #[must_use]
    pub fn to_spki_der(&self) -> Vec<u8> {
        match self {
            #[cfg(feature = "rsa")]
            Self::Rsa(key, _) => key.public_key().to_spki_der(),
            #[cfg(feature = "pk")]
            Self::Ed25519(key) => key.verifying_key().to_spki_der(),
            #[cfg(feature = "pk")]
            Self::Ed25519Public(key) => key.to_spki_der(),
            #[cfg(feature = "pk")]
            Self::P256(key) => key.public_key().to_spki_der(),
            #[cfg(feature = "pk")]
            Self::P256Public(key) => key.to_spki_der(),
        }
    }

    /// The RSA key and the padding of its signatures; `None` if it is another key.
    #[cfg(feature = "rsa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
    #[must_use]
    pub fn rsa(&self) -> Option<(&RsaKey, Padding)> {
        match self {
            Self::Rsa(key, padding) => Some((key, *padding)),
            #[cfg(feature = "pk")]
            _ => None,
        }
    }
}

#[cfg(feature = "rsa")]
impl<K: Into<RsaKey>> From<(K, Padding)> for SignatureKey {
    fn from((key, padding): (K, Padding)) -> Self {
        Self::Rsa(key.into(), padding)
    }
}

#[cfg(feature = "pk")]
impl From<ed25519::SigningKey> for SignatureKey {
    fn from(key: ed25519::SigningKey) -> Self {
        Self::Ed25519(Arc::new(key))
    }
}

#[cfg(feature = "pk")]
impl From<ed25519::VerifyingKey> for SignatureKey {
    fn from(key: ed25519::VerifyingKey) -> Self {
        Self::Ed25519Public(key)
    }
}

#[cfg(feature = "pk")]
impl From<p256::SigningKey> for SignatureKey {
    fn from(key: p256::SigningKey) -> Self {
        Self::P256(Arc::new(key))
    }
}

#[cfg(feature = "pk")]
impl From<p256::PublicKey> for SignatureKey {
    fn from(key: p256::PublicKey) -> Self {
        Self::P256Public(key)
    }
}
