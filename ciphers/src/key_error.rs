//! Why a key was refused, in numbers.

use core::fmt;

use crate::{Algorithm, Error, KeyLengths, Mac};

/// The reason why a cipher or a stream was not made, or its key was not replaced. Its message names
/// the algorithm and, where a length is wrong, the lengths:
///
/// ```
/// use lanecrypt_ciphers::{Algorithm, Cipher, Error};
///
/// let error = Cipher::new(Algorithm::AES_128_GCM, &[1; 24]).expect_err("a key of AES-192");
/// assert_eq!(error.to_string(), "aes-128-gcm: a key of 24 bytes where 16 are needed");
/// assert_eq!(error, Error::KeyLength);
/// ```
///
/// The operator `?` turns it into the [`Error`] that it is equal to, which has no numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyError {
    of: Of,
    /// The bytes that were given; 0 where the reason is no length.
    length: usize,
    reason: Error,
}

/// Whose key it is. The lengths that it accepts follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Of {
    Algorithm(Algorithm),
    Code(Mac),
}

impl KeyError {
    /// A refusal of `algorithm` for a reason that is no length.
    #[cold]
    pub(crate) const fn new(algorithm: Algorithm, reason: Error) -> Self {
        Self { of: Of::Algorithm(algorithm), length: 0, reason }
    }

    /// A refusal of a key, for any reason.
    #[cold]
    pub(crate) const fn of_key(algorithm: Algorithm, key: &[u8], reason: Error) -> Self {
        let length = if matches!(reason, Error::KeyLength) { key.len() } else { 0 };
        Self { of: Of::Algorithm(algorithm), length, reason }
    }

    /// A key of a code has another length than the code.
    #[cold]
    pub(crate) const fn of_code(code: Mac, key: &[u8]) -> Self {
        Self { of: Of::Code(code), length: key.len(), reason: Error::KeyLength }
    }

    /// A nonce that belongs to a key has the wrong length.
    #[cold]
    pub(crate) const fn of_nonce(algorithm: Algorithm, nonce: &[u8]) -> Self {
        Self { of: Of::Algorithm(algorithm), length: nonce.len(), reason: Error::NonceLength }
    }
}

/// Without numbers.
impl From<KeyError> for Error {
    #[inline]
    fn from(error: KeyError) -> Self {
        error.reason
    }
}

/// Whether that is the reason.
impl PartialEq<Error> for KeyError {
    #[inline]
    fn eq(&self, reason: &Error) -> bool {
        self.reason == *reason
    }
}

/// Whether this is the reason.
impl PartialEq<KeyError> for Error {
    #[inline]
    fn eq(&self, error: &KeyError) -> bool {
        *self == error.reason
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Of::Algorithm(algorithm) => write!(f, "{algorithm}: ")?,
            Of::Code(code) => write!(f, "{}: ", code.name())?,
        }
        let (what, needed) = match (self.reason, self.of) {
            (Error::KeyLength, Of::Algorithm(algorithm)) => ("key", algorithm.key_lengths()),
            (Error::KeyLength, Of::Code(code)) => ("key", KeyLengths::one(code.output_length())),
            (Error::NonceLength, Of::Algorithm(algorithm)) => {
                ("nonce", KeyLengths::one(algorithm.nonce_length()))
            }
            (reason, _) => return reason.fmt(f),
        };
        let bytes = if self.length == 1 { "byte" } else { "bytes" };
        write!(f, "a {what} of {} {bytes} where ", self.length)?;
        match needed.longest() {
            0 => f.write_str("none is needed"),
            1 => f.write_str("1 is needed"),
            _ => write!(f, "{needed} are needed"),
        }
    }
}

impl core::error::Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_returned_in_registers() {
        assert!(size_of::<KeyError>() <= 2 * size_of::<usize>());
        assert!(size_of::<Result<(), KeyError>>() <= 2 * size_of::<usize>());
    }
}
