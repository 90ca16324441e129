//! The error of opening libcrypto.

use core::fmt;

use lanecrypt_libcrypto::OpenError;

use crate::DriverNameError;

/// The reason for which an engine cannot add the driver `openssl`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenSslError {
    /// There is no usable libcrypto: the text lists the files that were tried or the missing part.
    NotFound(String),
    /// The engine has a driver of this name already.
    Name(DriverNameError),
}

impl OpenSslError {
    pub(super) fn missing(error: &OpenError) -> Self {
        Self::NotFound(error.to_string())
    }
}

impl From<DriverNameError> for OpenSslError {
    fn from(error: DriverNameError) -> Self {
        Self::Name(error)
    }
}

impl fmt::Display for OpenSslError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(what) => write!(f, "OpenSSL's libcrypto cannot be used: {what}"),
            Self::Name(error) => write!(f, "openssl: {error}"),
        }
    }
}

impl core::error::Error for OpenSslError {}
