//! Keys of ECDSA.

use core::fmt;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::{PublicKey, SecretKey};
use crate::encoding::{self, P256};
use crate::{Error, KeyError};

/// A key that signs by ECDSA. It owns its public key, is wiped on drop, and may be used by many
/// threads at once.
pub struct SigningKey {
    secret: SecretKey,
    public: PublicKey,
    #[cfg(feature = "aws-lc")]
    pub(crate) aws_lc: crate::aws_lc::Signer,
}

impl SigningKey {
    /// A key of a number, most significant byte first. Computes the public key.
    ///
    /// # Errors
    ///
    /// [`KeyError::Range`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        Self::of(SecretKey::from_bytes(bytes)?)
    }

    fn of(secret: SecretKey) -> Result<Self, KeyError> {
        let public = secret.public_key().map_err(|_: Error| KeyError::Inconsistent)?;
        Ok(Self {
            secret,
            public,
            #[cfg(feature = "aws-lc")]
            aws_lc: Default::default(),
        })
    }

    /// Signs by this key what the public key of another does not verify.
    #[cfg(test)]
    pub(crate) fn with_public_key_of(self, other: &Self) -> Self {
        Self { public: other.public.clone(), ..self }
    }

    /// A new key.
    ///
    /// # Errors
    ///
    /// [`KeyError::Entropy`].
    pub fn generate() -> Result<Self, KeyError> {
        Self::of(SecretKey::generate()?)
    }

    /// Its number, most significant byte first.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.secret.as_bytes()
    }

    pub(crate) const fn secret(&self) -> &SecretKey {
        &self.secret
    }

    /// Its public key.
    #[must_use]
    pub const fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// A key from the DER of `PrivateKeyInfo` (PKCS#8, RFC 5915).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::of(SecretKey::from_pkcs8_der(der)?)
    }

    /// A key from the DER of `ECPrivateKey` (SEC 1, RFC 5915).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_sec1_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::of(SecretKey::from_sec1_der(der)?)
    }

    /// A key from PEM: `PRIVATE KEY` (PKCS#8) or `EC PRIVATE KEY` (SEC 1).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        Self::of(SecretKey::from_pem(pem)?)
    }

    /// The DER of `PrivateKeyInfo` (PKCS#8), with the public key.
    #[must_use]
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        encoding::write_curve(&P256, self.as_bytes(), self.public.as_sec1_bytes()).to_bytes()
    }

    /// PEM, `PRIVATE KEY` (PKCS#8), with the public key.
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        let der = encoding::write_curve(&P256, self.as_bytes(), self.public.as_sec1_bytes());
        encoding::to_private_pem(&der)
    }
}

impl ZeroizeOnDrop for SigningKey {}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("public", &self.public).finish_non_exhaustive()
    }
}
