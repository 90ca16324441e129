//! Why an operation was refused.

use core::fmt;

/// The reason why an operation was refused. A refused operation has changed nothing, except with
/// [`Authentication`](Self::Authentication) and [`DriverFailed`](Self::DriverFailed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Error {
    /// The associated data is longer than the algorithm allows.
    AadLength,
    /// The message is not the one that was sealed under this key, with this nonce and this
    /// associated data. The output has been wiped.
    Authentication,
    /// The algorithm takes no data of this length: it is not a whole number of blocks, is less than
    /// one block, or is more than the algorithm allows in one message.
    DataLength,
    /// The driver that served the message has failed, and no other driver has taken it over. With
    /// migration nothing has been written; without it, a message in place may be destroyed. No
    /// cipher of this processor fails in this way.
    DriverFailed,
    /// The system gave no random bytes.
    Entropy,
    /// The result was wrong and has been discarded: the processor or the memory made an error, or
    /// somebody made them err, or the key was damaged.
    Fault,
    /// The message is finished, or its associated data is, because data has come. Nothing more is
    /// taken until the object is restarted.
    Finished,
    /// The parent process made this sequence of nonces before a fork, and may use the same nonces.
    /// The child must make its own sequence, with another key or another fixed field.
    Forked,
    /// The algorithm has no keys of this length.
    KeyLength,
    /// There is no locked memory in which the key could be kept, because the process may not lock
    /// more (`RLIMIT_MEMLOCK`).
    KeyMemory,
    /// The request runs past the end of the keystream, where the keystream would repeat.
    KeystreamExhausted,
    /// All nonces have been used, or as many as are safe under one key. Use another key.
    NoncesExhausted,
    /// The algorithm takes nonces or initialization vectors of another length.
    NonceLength,
    /// The stream cannot seek, and the position is behind it or too far ahead.
    OutOfReach,
    /// The output buffer is too short, or does not have the length of the output.
    OutputLength,
    /// The decrypted message does not end with padding. An attacker who learns this about forged
    /// messages can decrypt others: see [`Padding`](crate::hazmat::Padding).
    Padding,
    /// The other side's public key is not a point of the curve, or its order is so small that the
    /// shared secret would be zero.
    PublicKey,
    /// The algorithm has no tags of this length.
    TagLength,
    /// The algorithm does not have this operation.
    Unsupported,
    /// The two halves of the key are the same, which XTS does not allow.
    WeakKey,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::AadLength => "associated data too long",
            Self::Authentication => "authentication failed",
            Self::DataLength => "wrong data length",
            Self::DriverFailed => "driver failed",
            Self::Entropy => "no random bytes",
            Self::Fault => "wrong result discarded",
            Self::Finished => "message finished",
            Self::Forked => "nonces of the parent process",
            Self::KeyLength => "wrong key length",
            Self::KeyMemory => "no locked memory for the key",
            Self::KeystreamExhausted => "keystream exhausted",
            Self::NoncesExhausted => "nonces exhausted",
            Self::NonceLength => "wrong nonce length",
            Self::OutOfReach => "position out of reach",
            Self::OutputLength => "wrong output length",
            Self::Padding => "bad padding",
            Self::PublicKey => "invalid public key",
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
