//! Keys of 512 to 2047 bits, which are **broken** or soon will be: 512 bits have been factored by
//! anybody for decades, 829 bits by researchers. Longer keys are taken too.

use crate::components::Components;
use crate::public_key::Sizes;
use crate::{KeyError, PrivateKey, PublicKey};

impl PrivateKey {
    /// Same as [`from_components`](Self::from_components), from 512 bits on.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn legacy_from_components(components: &Components<'_>) -> Result<Self, KeyError> {
        Self::with_sizes(Sizes::Legacy, components)
    }

    /// Same as [`from_pkcs8_der`](Self::from_pkcs8_der), from 512 bits on.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn legacy_from_pkcs8_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::parse_pkcs8(Sizes::Legacy, der)
    }

    /// Same as [`from_pkcs1_der`](Self::from_pkcs1_der), from 512 bits on.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn legacy_from_pkcs1_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::parse_pkcs1(Sizes::Legacy, der)
    }

    /// Same as [`from_pem`](Self::from_pem), from 512 bits on.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn legacy_from_pem(pem: &str) -> Result<Self, KeyError> {
        Self::parse_pem(Sizes::Legacy, pem)
    }
}

impl PublicKey {
    /// Same as [`new`](Self::new), from 512 bits on.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn legacy_new(n: &[u8], e: &[u8]) -> Result<Self, KeyError> {
        Self::with_sizes(Sizes::Legacy, n, e)
    }

    /// Same as [`from_spki_der`](Self::from_spki_der), from 512 bits on.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn legacy_from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::parse_spki(Sizes::Legacy, der)
    }

    /// Same as [`from_pkcs1_der`](Self::from_pkcs1_der), from 512 bits on.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn legacy_from_pkcs1_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::parse_pkcs1(Sizes::Legacy, der)
    }

    /// Same as [`from_pem`](Self::from_pem), from 512 bits on.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn legacy_from_pem(pem: &str) -> Result<Self, KeyError> {
        Self::parse_pem(Sizes::Legacy, pem)
    }
}
