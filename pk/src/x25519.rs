//! X25519 (RFC 7748): a secret that two sides share.

use core::fmt;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::KeyError;
use crate::encoding::{self, X25519};
use crate::secret::random;

/// A secret key. It is wiped on drop, and may be used by many threads at once.
pub struct SecretKey {
    bytes: Zeroizing<[u8; 32]>,
}

impl SecretKey {
    /// A key of any 32 bytes, which have to be random and secret.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self::of(Zeroizing::new(*bytes))
    }

    fn of(bytes: Zeroizing<[u8; 32]>) -> Self {
        Self { bytes }
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

    encoding::octets_methods!(&X25519, bytes, public_key);
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

    encoding::public_methods!(&X25519, as_bytes);
}

impl From<[u8; 32]> for PublicKey {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}
