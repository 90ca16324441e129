//! Keys of ECDH.

use core::fmt;

use lanecrypt_kernels::p256 as kernel;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::PublicKey;
use crate::encoding::{self, P256, Pair};
use crate::secret::random;
use crate::{Error, KeyError};

/// A secret key of ECDH. It is wiped on drop, and may be used by many threads at once.
pub struct SecretKey {
    bytes: Zeroizing<[u8; 32]>,
    pub(crate) scalar: kernel::SecretKey,
    #[cfg(feature = "aws-lc")]
    pub(crate) aws_lc: crate::aws_lc::Agreement,
}

impl SecretKey {
    /// A key of a number, most significant byte first.
    ///
    /// # Errors
    ///
    /// [`KeyError::Range`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        Self::of(Zeroizing::new(*bytes))
    }

    fn of(bytes: Zeroizing<[u8; 32]>) -> Result<Self, KeyError> {
        let scalar = kernel::SecretKey::new(&bytes).ok_or(KeyError::Range)?;
        Ok(Self {
            bytes,
            scalar,
            #[cfg(feature = "aws-lc")]
            aws_lc: Default::default(),
        })
    }

    /// A new key.
    ///
    /// # Errors
    ///
    /// [`KeyError::Entropy`].
    pub fn generate() -> Result<Self, KeyError> {
        loop {
            // Reveals how many numbers were drawn, nothing of the last one.
            match Self::of(random()?) {
                Err(KeyError::Range) => {}
                key => return key,
            }
        }
    }

    /// Its number, most significant byte first.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// A key from the DER of `PrivateKeyInfo` (PKCS#8, RFC 5915).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::of_pair(encoding::read_curve(&P256, der)?)
    }

    /// A key from the DER of `ECPrivateKey` (SEC 1, RFC 5915).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_sec1_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::of_pair(encoding::read_sec1(&P256, der)?)
    }

    /// A key from PEM: `PRIVATE KEY` (PKCS#8) or `EC PRIVATE KEY` (SEC 1).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        match encoding::either_pem(pem)? {
            (der, false) => Self::from_pkcs8_der(der.as_bytes()),
            (der, true) => Self::from_sec1_der(der.as_bytes()),
        }
    }

    fn of_pair((bytes, public): Pair<Vec<u8>>) -> Result<Self, KeyError> {
        let key = Self::of(bytes)?;
        if let Some(public) = public {
            let public = PublicKey::from_sec1_bytes(&public)?;
            if key.public_key().ok() != Some(public) {
                return Err(KeyError::Inconsistent);
            }
        }
        Ok(key)
    }

    /// The DER of `PrivateKeyInfo` (PKCS#8), with the public key, which is computed now.
    ///
    /// # Errors
    ///
    /// [`Error::Fault`].
    pub fn to_pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let public = self.public_key()?;
        Ok(encoding::write_curve(&P256, &self.bytes, public.as_sec1_bytes()).to_bytes())
    }

    /// PEM, `PRIVATE KEY` (PKCS#8), with the public key, which is computed now.
    ///
    /// # Errors
    ///
    /// [`Error::Fault`].
    pub fn to_pem(&self) -> Result<Zeroizing<String>, Error> {
        let public = self.public_key()?;
        let der = encoding::write_curve(&P256, &self.bytes, public.as_sec1_bytes());
        Ok(encoding::to_private_pem(&der))
    }
}

impl ZeroizeOnDrop for SecretKey {}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").finish_non_exhaustive()
    }
}
