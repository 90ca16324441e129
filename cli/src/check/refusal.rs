//! The answer to a request that has no result.

use lanecrypt_ciphers::Error;

/// The reason that an answer has instead of a result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}
