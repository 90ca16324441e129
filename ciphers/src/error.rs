//! Why an operation was refused.

use core::fmt;

/// Why an operation was refused. An operation that is refused has changed nothing, but for
/// [`Authentication`](Self::Authentication).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Error {
    /// The associated data are longer than the algorithm allows.
    AadLength,
    /// The message is not what was sealed under this key, with this nonce and this associated data.
    /// The output has been wiped.
    Authentication,
    /// The algorithm takes no data of this length: not a whole number of blocks, less than one, or
    /// more than it allows in one message.
    DataLength,
    /// The message is finished, or its associated data are, because data have come; the object takes
    /// nothing more of them until it is restarted.
    Finished,
    /// The sequence of nonces was made before a fork, by the parent, which may take the same: the
    /// child makes one of its own, with another key or another fixed field.
    Forked,
    /// The algorithm has no keys of this length.
    KeyLength,
    /// The request runs past the end of the keystream; beyond it the keystream would repeat.
    KeystreamExhausted,
    /// All nonces have been used, or as many as are safe under one key: it takes another key.
    NoncesExhausted,
    /// The algorithm takes nonces, or initialization vectors, of another length.
    NonceLength,
    /// The stream cannot jump, and the position lies behind it or too far ahead.
    OutOfReach,
    /// The output buffer is too short, or has not the length that the output has.
    OutputLength,
    /// The decrypted message does not end as padding does. Who learns this of messages of their
    /// own making can decrypt others: see [`Padding`](crate::hazmat::Padding).
    Padding,
    /// The algorithm has no tags of this length.
    TagLength,
    /// The algorithm does not have this operation.
    Unsupported,
    /// The two halves of the key are the same, which undoes what XTS has two for.
    WeakKey,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::AadLength => "associated data too long",
            Self::Authentication => "authentication failed",
            Self::DataLength => "wrong data length",
            Self::Finished => "message finished",
            Self::Forked => "nonces of the parent process",
            Self::KeyLength => "wrong key length",
            Self::KeystreamExhausted => "keystream exhausted",
            Self::NoncesExhausted => "nonces exhausted",
            Self::NonceLength => "wrong nonce length",
            Self::OutOfReach => "position out of reach",
            Self::OutputLength => "wrong output length",
            Self::Padding => "bad padding",
            Self::TagLength => "wrong tag length",
            Self::Unsupported => "unsupported",
            Self::WeakKey => "weak key",
        })
    }
}

impl core::error::Error for Error {}

/// A string that names no [`Algorithm`](crate::Algorithm).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownAlgorithm;

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown algorithm")
    }
}

impl core::error::Error for UnknownAlgorithm {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_byte() {
        assert_eq!(size_of::<Error>(), 1);
        assert_eq!(size_of::<Result<(), Error>>(), 1);
    }
}
