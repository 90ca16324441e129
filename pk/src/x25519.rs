//! X25519 (RFC 7748): a secret that two sides share.

use core::fmt;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::KeyError;
use crate::encoding::{self, X25519};
use crate::secret::random;

/// A secret key. It is wiped on drop, and may be used by many threads at once.
pub struct SecretKey {
    bytes: Zeroizing<[u8; 32]>,
    #[cfg(feature = "aws-lc")]
    pub(crate) aws_lc: crate::aws_lc::Agreement,
}

impl SecretKey {
    /// A key of any 32 bytes, which have to be random and secret.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self::of(Zeroizing::new(*bytes))
    }

    fn of(bytes: Zeroizing<[u8; 32]>) -> Self {
        Self {
            bytes,
            #[cfg(feature = "aws-lc")]
            aws_lc: Default::default(),
        }
    }

    /// A new key.
    ///
    /// # Errors
    ///
    /// [`KeyError::Entropy`].
    pub fn generate() -> Result<Self, KeyError> {
        Ok(Self::of(random()?))
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// A key from the DER of `PrivateKeyInfo` (PKCS#8, RFC 8410).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding is invalid.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, KeyError> {
        let (bytes, public) = encoding::read_octets(&X25519, der)?;
        let key = Self::of(bytes);
        match public {
            Some(public) if public != *key.public_key().as_bytes() => Err(KeyError::Inconsistent),
            _ => Ok(key),
        }
    }

    /// A key from PEM, `PRIVATE KEY` (PKCS#8).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding is invalid.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        Self::from_pkcs8_der(encoding::private_pem(pem)?.as_bytes())
    }

    /// The DER of `PrivateKeyInfo` (PKCS#8), without the public key.
    #[must_use]
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        encoding::write_octets(&X25519, &self.bytes).to_bytes()
    }

    /// PEM, `PRIVATE KEY` (PKCS#8).
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        encoding::to_private_pem(&encoding::write_octets(&X25519, &self.bytes))
    }
}

impl ZeroizeOnDrop for SecretKey {}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").finish_non_exhaustive()
    }
}

/// A public key: any 32 bytes.
///
/// Bytes that are not the canonical encoding of a number are read as RFC 7748 asks. Points of small
/// order are found when the shared secret is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// A key of its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(*bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A key from the DER of `SubjectPublicKeyInfo` (RFC 8410).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding is invalid.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        encoding::read_public(&X25519, der).map(Self)
    }

    /// A key from PEM, `PUBLIC KEY`.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding is invalid.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        Self::from_spki_der(encoding::public_pem(pem)?.as_bytes())
    }

    /// The DER of `SubjectPublicKeyInfo`.
    #[must_use]
    pub fn to_spki_der(&self) -> Vec<u8> {
        encoding::write_public(&X25519, &self.0).into_vec()
    }

    /// PEM, `PUBLIC KEY`.
    #[must_use]
    pub fn to_pem(&self) -> String {
        encoding::to_public_pem(&encoding::write_public(&X25519, &self.0))
    }
}

impl From<[u8; 32]> for PublicKey {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}
