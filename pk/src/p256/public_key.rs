//! Public keys.

use core::fmt;

use lanecrypt_kernels::p256 as kernel;

use crate::KeyError;
use crate::encoding::{self, P256};

/// A public key: a point on the curve, which is not the neutral one.
pub struct PublicKey {
    pub(crate) point: kernel::PublicKey,
    bytes: [u8; 65],
    #[cfg(feature = "aws-lc")]
    pub(crate) aws_lc: crate::aws_lc::Verifier,
}

impl PublicKey {
    /// A key of a point (SEC 1, section 2.3.3): 65 bytes, of which the first is 4, or, compressed,
    /// 33.
    ///
    /// # Errors
    ///
    /// [`KeyError::Encoding`], [`KeyError::Point`].
    pub fn from_sec1_bytes(bytes: &[u8]) -> Result<Self, KeyError> {
        let point = match bytes {
            [4, ..] => kernel::PublicKey::new(bytes.try_into().map_err(|_| KeyError::Encoding)?),
            [2 | 3, ..] => {
                let bytes = bytes.try_into().map_err(|_| KeyError::Encoding)?;
                kernel::PublicKey::from_compressed(bytes)
            }
            _ => return Err(KeyError::Encoding),
        };
        Ok(Self::of(point.ok_or(KeyError::Point)?))
    }

    fn of(point: kernel::PublicKey) -> Self {
        Self {
            bytes: point.to_bytes(),
            point,
            #[cfg(feature = "aws-lc")]
            aws_lc: Default::default(),
        }
    }

    /// Its point: 4, and both coordinates.
    #[must_use]
    pub const fn as_sec1_bytes(&self) -> &[u8; 65] {
        &self.bytes
    }

    /// A key from the DER of `SubjectPublicKeyInfo` (RFC 5480), as in certificates.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::from_sec1_bytes(encoding::public_bytes(&P256, der)?)
    }

    encoding::public_methods!(&P256, as_sec1_bytes);
}

impl Clone for PublicKey {
    fn clone(&self) -> Self {
        Self::of(self.point)
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey").field(&self.bytes).finish()
    }
}
