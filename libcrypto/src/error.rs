//! What can go wrong.

use core::fmt;

/// Why libcrypto did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The data are no whole number of blocks or no whole data unit, more than 2^31 - 1 bytes in one
    /// call, or two lengths differ that must not.
    DataLength,
    /// libcrypto refused, such as a wrong tag; its reasons have been cleared.
    Failed,
    /// The IV has another length than the algorithm's.
    IvLength,
    /// The key has another length than the algorithm's.
    KeyLength,
    /// This build has no such algorithm or provider, or is too old for the function.
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

/// No libcrypto could be opened; prints as what was tried and why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError(pub(crate) String);

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for OpenError {}
