//! The answer to a request that has no result.

use lanecrypt_ciphers::{Error, KeyError};

/// The reason that an answer has instead of a result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

impl From<KeyError> for Refusal {
    fn from(error: KeyError) -> Self {
        Self(error.to_string())
    }
}
