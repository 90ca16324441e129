//! Errors.

use core::fmt;

/// The reason why a call of libcrypto failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The data are not whole blocks or not a whole data unit, have more than 2^31 - 1 bytes in one
    /// call, or have two different lengths where they must be equal.
    DataLength,
    /// libcrypto refused, for example because of a wrong tag. Its own error records have been
    /// cleared.
    Failed,
    /// The length of the IV is not that of the algorithm.
    IvLength,
    /// The length of the key is not that of the algorithm.
    KeyLength,
    /// This build does not have the algorithm or provider, or is too old for the function.
    Unsupported,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DataLength => "the data have a wrong length",
            Self::Failed => "libcrypto refused",
            Self::IvLength => "the IV has a wrong length",
            Self::KeyLength => "the key has a wrong length",
            Self::Unsupported => "this libcrypto does not have it",
        })
    }
}

impl core::error::Error for Error {}

/// No libcrypto could be opened. Its text lists the files that were tried, with their errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError(pub(crate) String);

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for OpenError {}
