//! Why an operation or a key was refused.

use core::fmt;

/// The reason why an operation was refused. It has written nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Error {
    /// The system gave no random bytes.
    Entropy,
    /// The result was wrong and has been discarded: the processor or the memory made an error, or
    /// somebody made them err. A wrong signature could reveal the key.
    Fault,
    /// The signature is not one of this message, under this key.
    Signature,
    /// The other side's public key is a point of small order: the shared secret would be zero,
    /// whatever the secret key is.
    SmallOrder,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Entropy => "no random bytes",
            Self::Fault => "wrong result discarded",
            Self::Signature => "wrong signature",
            Self::SmallOrder => "public key of small order",
        })
    }
}

impl core::error::Error for Error {}

/// The reason why a key was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum KeyError {
    /// It is a key of another algorithm or of another curve.
    Algorithm,
    /// The bytes are not the encoding of such a key, or not its canonical one.
    Encoding,
    /// The private key is encrypted. Decrypt it first.
    Encrypted,
    /// The system gave no random bytes.
    Entropy,
    /// The public key beside the private key is not its own.
    Inconsistent,
    /// The key of ML-KEM has no seed.
    NoSeed,
    /// The point is not on the curve.
    Point,
    /// The secret number is zero, or not less than the order of the curve.
    Range,
    /// The point has a small order: anybody can sign for it.
    SmallOrder,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Algorithm => "key of another algorithm",
            Self::Encoding => "malformed key",
            Self::Encrypted => "encrypted key",
            Self::Entropy => "no random bytes",
            Self::Inconsistent => "inconsistent key",
            Self::NoSeed => "key without its seed",
            Self::Point => "point not on the curve",
            Self::Range => "secret number out of range",
            Self::SmallOrder => "point of small order",
        })
    }
}

impl core::error::Error for KeyError {}

/// At least one request of a batch failed. The [`outcome`](crate::Request::outcome) of each request
/// shows which ones failed, and why. All others were served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchError {
    /// The number of requests that failed.
    pub failed: usize,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.failed == 1 { "" } else { "s" };
        write!(f, "{} request{s} of the batch failed", self.failed)
    }
}

impl core::error::Error for BatchError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_byte() {
        assert_eq!(size_of::<Result<(), Error>>(), 1);
        assert_eq!(size_of::<Result<(), KeyError>>(), 1);
    }
}
