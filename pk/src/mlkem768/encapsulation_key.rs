//! Encapsulation keys.

use core::fmt;

use lanecrypt_kernels::mlkem as kernel;

use crate::KeyError;
use crate::encoding::{self, MLKEM768};

/// The length of an encapsulation key.
pub const ENCAPSULATION_KEY_LENGTH: usize = 1184;

/// The bytes of the numbers, which the seed of the matrix follows.
const NUMBERS: usize = 1152;

/// A key that encapsulates secrets for the owner of the decapsulation key.
#[derive(Clone, PartialEq, Eq)]
pub struct EncapsulationKey {
    pub(crate) key: kernel::EncapsulationKey,
}

impl EncapsulationKey {
    /// A key of its bytes, whose numbers have to be less than the modulus (FIPS 203, section 7.2).
    ///
    /// # Errors
    ///
    /// [`KeyError::Encoding`].
    pub fn from_bytes(bytes: &[u8; ENCAPSULATION_KEY_LENGTH]) -> Result<Self, KeyError> {
        kernel::EncapsulationKey::new(bytes).map(Self::of).ok_or(KeyError::Encoding)
    }

    pub(super) const fn of(key: kernel::EncapsulationKey) -> Self {
        Self { key }
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; ENCAPSULATION_KEY_LENGTH] {
        self.key.as_bytes()
    }

    /// A key from the DER of `SubjectPublicKeyInfo` (RFC 9935).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::from_bytes(&encoding::read_public(&MLKEM768, der)?)
    }

    /// A key from PEM, `PUBLIC KEY`.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        Self::from_spki_der(encoding::public_pem(pem)?.as_bytes())
    }

    /// The DER of `SubjectPublicKeyInfo`.
    #[must_use]
    pub fn to_spki_der(&self) -> Vec<u8> {
        encoding::write_public(&MLKEM768, self.as_bytes()).into_vec()
    }

    /// PEM, `PUBLIC KEY`.
    #[must_use]
    pub fn to_pem(&self) -> String {
        encoding::to_public_pem(&encoding::write_public(&MLKEM768, self.as_bytes()))
    }
}

impl fmt::Debug for EncapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EncapsulationKey").field(&&self.as_bytes()[NUMBERS..]).finish()
    }
}
