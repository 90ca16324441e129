//! Asymmetric keys of sessions.

#[cfg(feature = "pk")]
use std::sync::Arc;

use lanecrypt_ciphers::Error;
#[cfg(feature = "pk")]
use lanecrypt_pk::{ed25519, mlkem768, p256, x25519};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::Padding;

use crate::Operation;
#[cfg(feature = "rsa")]
use crate::RsaKey;

/// The key of a session that makes or checks signatures, with their scheme, or that exchanges keys.
///
/// It is converted from a key of the crate `lanecrypt-pk`, or from an RSA key with a padding.
/// Sessions may share a key. It is wiped when its last owner is dropped.
///
/// What keys of key exchange take and give, in bytes:
///
/// | key | from the other side | output |
/// |---|---|---|
/// | `X25519` | public key, 32 | secret, 32 |
/// | `EcdhP256` | point (SEC 1, section 2.3.3), 65, or 33 if compressed | secret, 32 |
/// | `MlKem768` | ciphertext, 1088 | secret, 32 |
/// | `MlKem768Public` | nothing | ciphertext for the other side, 1088, then the secret, 32 |
///
/// Secrets of curves are not uniformly random: a key derivation function has to follow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AsymmetricKey {
    /// RSA signatures, with this padding.
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
    /// X25519 (RFC 7748): agrees on secrets. Points of small order are refused.
    ///
    /// ```
    /// use lanecrypt_engine::{Engine, Request};
    /// use lanecrypt_pk::x25519::SecretKey;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (key, other) = (SecretKey::generate()?, SecretKey::generate()?);
    /// let (public, received) = (key.public_key(), other.public_key());
    /// let engine = Engine::new();
    /// let session = engine.asymmetric_session(key);
    ///
    /// let mut secrets = [[0; 32]; 8];
    /// let mut requests: Vec<_> = secrets
    ///     .iter_mut()
    ///     .map(|secret| Request::agree(&session, received.as_bytes(), secret))
    ///     .collect();
    /// engine.process(&mut requests)?; // side by side
    ///
    /// drop(requests);
    /// assert_eq!(secrets[7], *other.diffie_hellman(&public)?.as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    X25519(Arc<x25519::SecretKey>),
    /// ECDH with P-256 (SP 800-56A, section 5.7.1.2): agrees on secrets.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    EcdhP256(Arc<p256::SecretKey>),
    /// ML-KEM-768 (FIPS 203): decapsulates secrets. The secret of a wrong ciphertext is one that
    /// nobody else knows.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    MlKem768(Arc<mlkem768::DecapsulationKey>),
    /// ML-KEM-768: draws secrets, and encapsulates them for the owner of the decapsulation key.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    MlKem768Public(Arc<mlkem768::EncapsulationKey>),
}

/// The length of a shared secret.
#[cfg(feature = "pk")]
const SECRET: usize = 32;

impl AsymmetricKey {
    /// Whether it is secret. Other keys only check signatures, or encapsulate.
    #[must_use]
    pub fn is_private(&self) -> bool {
        match self {
            #[cfg(feature = "rsa")]
            Self::Rsa(key, _) => key.private_key().is_some(),
            #[cfg(feature = "pk")]
            Self::Ed25519(_)
            | Self::P256(_)
            | Self::X25519(_)
            | Self::EcdhP256(_)
            | Self::MlKem768(_) => true,
            #[cfg(feature = "pk")]
            Self::Ed25519Public(_) | Self::P256Public(_) | Self::MlKem768Public(_) => false,
        }
    }

    /// The operations of its sessions.
    #[must_use]
    pub fn operations(&self) -> &'static [Operation] {
        match (self.signature_length(), self.is_private()) {
            (0, _) => &[Operation::Agree],
            (_, true) => &[Operation::Sign, Operation::Verify],
            (_, false) => &[Operation::Verify],
        }
    }

    /// The length of its signatures in bytes; 0 if it is a key of key exchange.
    #[must_use]
    pub fn signature_length(&self) -> usize {
        match self {
            #[cfg(feature = "rsa")]
            Self::Rsa(key, _) => key.signature_length(),
            #[cfg(feature = "pk")]
            Self::Ed25519(_) | Self::Ed25519Public(_) | Self::P256(_) | Self::P256Public(_) => 64,
            #[cfg(feature = "pk")]
            _ => 0,
        }
    }

    /// The length of what it agrees on in bytes: 32 of a secret, after 1088 of a ciphertext if it
    /// encapsulates; 0 if it is a key of signatures.
    #[must_use]
    pub fn agreement_length(&self) -> usize {
        match self {
            #[cfg(feature = "pk")]
            Self::X25519(_) | Self::EcdhP256(_) | Self::MlKem768(_) => SECRET,
            #[cfg(feature = "pk")]
            Self::MlKem768Public(_) => mlkem768::CIPHERTEXT_LENGTH + SECRET,
            _ => 0,
        }
    }

    /// Whether both keys have the same scheme. Of RSA, the padding is part of it; of signatures and
    /// key exchange with one curve, the schemes differ.
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
            | (Self::P256(_) | Self::P256Public(_), Self::P256(_) | Self::P256Public(_))
            | (Self::X25519(_), Self::X25519(_))
            | (Self::EcdhP256(_), Self::EcdhP256(_))
            | (
                Self::MlKem768(_) | Self::MlKem768Public(_),
                Self::MlKem768(_) | Self::MlKem768Public(_),
            ) => true,
            #[cfg(feature = "pk")]
            _ => false,
        }
    }

    /// The DER of its public key (SPKI; RFC 5280, section 4.1). That of X25519 and of ECDH is
    /// computed now.
    ///
    /// # Errors
    ///
    /// [`Error::Fault`].
    pub fn to_spki_der(&self) -> Result<Vec<u8>, Error> {
        Ok(match self {
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
            #[cfg(feature = "pk")]
            Self::X25519(key) => key.public_key().to_spki_der(),
            #[cfg(feature = "pk")]
            Self::EcdhP256(key) => key.public_key().map_err(|_| Error::Fault)?.to_spki_der(),
            #[cfg(feature = "pk")]
            Self::MlKem768(key) => key.encapsulation_key().to_spki_der(),
            #[cfg(feature = "pk")]
            Self::MlKem768Public(key) => key.to_spki_der(),
        })
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
impl<K: Into<RsaKey>> From<(K, Padding)> for AsymmetricKey {
    fn from((key, padding): (K, Padding)) -> Self {
        Self::Rsa(key.into(), padding)
    }
}

/// Defines the conversions from keys of the crate of curves.
#[cfg(feature = "pk")]
macro_rules! from {
    ($($key:ty => $make:expr;)+) => {
        $(impl From<$key> for AsymmetricKey {
            fn from(key: $key) -> Self {
                $make(key.into())
            }
        })+
    };
}

#[cfg(feature = "pk")]
from! {
    ed25519::SigningKey => Self::Ed25519;
    ed25519::VerifyingKey => Self::Ed25519Public;
    p256::SigningKey => Self::P256;
    p256::PublicKey => Self::P256Public;
    x25519::SecretKey => Self::X25519;
    p256::SecretKey => Self::EcdhP256;
    mlkem768::DecapsulationKey => Self::MlKem768;
    mlkem768::EncapsulationKey => Self::MlKem768Public;
}
