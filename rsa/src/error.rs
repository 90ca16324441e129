//! Why an operation or a key was refused.

use core::fmt;

/// The reason why an operation was refused. It has written nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Error {
    /// The digest does not have the length of the hash function's output.
    DigestLength,
    /// The system gave no random bytes.
    Entropy,
    /// The result was wrong and has been discarded: the processor or the memory made an error, or
    /// somebody made them err, or the key was damaged. A wrong signature would reveal the key.
    Fault,
    /// The input does not have the length of the modulus.
    InputLength,
    /// The modulus has no room for the padding, with this hash function and this salt.
    KeyTooShort,
    /// The input is not less than the modulus.
    OutOfRange,
    /// The output buffer does not have the length of the modulus.
    OutputLength,
    /// The signature is not one of this message, under this key and with this padding.
    Signature,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::DigestLength => "wrong digest length",
            Self::Entropy => "no random bytes",
            Self::Fault => "wrong result discarded",
            Self::InputLength => "wrong input length",
            Self::KeyTooShort => "key too short for the padding",
            Self::OutOfRange => "input not less than the modulus",
            Self::OutputLength => "wrong output length",
            Self::Signature => "wrong signature",
        })
    }
}

impl core::error::Error for Error {}

/// The reason why a key was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum KeyError {
    /// It is a key of another algorithm.
    Algorithm,
    /// The bytes are not the DER or PEM of such a key.
    Encoding,
    /// The private key is encrypted. Decrypt it first.
    Encrypted,
    /// The system gave no random bytes.
    Entropy,
    /// The numbers do not belong together: n is not p q, an exponent is not the inverse of e, qinv
    /// is not the inverse of q modulo p, or p or q is no prime.
    Inconsistent,
    /// The modulus is even.
    Modulus,
    /// The modulus has more than two primes.
    MultiPrime,
    /// A key without the primes has no such form: it needs all numbers.
    NoPrimes,
    /// The primes are even, the same, or shorter than 256 bits.
    Primes,
    /// The public exponent is even, less than 3, or longer than 64 bits.
    PublicExponent,
    /// The modulus does not have 2048 to 8192 bits (512 to 8192 with the constructors for legacy
    /// keys).
    Size,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Algorithm => "key of another algorithm",
            Self::Encoding => "malformed key",
            Self::Encrypted => "encrypted key",
            Self::Entropy => "no random bytes",
            Self::Inconsistent => "inconsistent key",
            Self::Modulus => "even modulus",
            Self::MultiPrime => "key with more than two primes",
            Self::NoPrimes => "key without primes",
            Self::Primes => "unsuitable primes",
            Self::PublicExponent => "unsuitable public exponent",
            Self::Size => "unsupported key size",
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
