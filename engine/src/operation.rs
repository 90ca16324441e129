//! Operations on messages.

/// The operation on a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Operation {
    /// Encrypt without a tag.
    Encrypt,
    /// Decrypt without a tag.
    Decrypt,
    /// Encrypt and compute a tag.
    Seal,
    /// Decrypt if the tag is valid.
    Open,
    /// Sign, with a session that holds a private key of signatures.
    //
    // The values are those that `Class::with` requires.
    Sign = 63 << 2,
    /// Check a signature, with a session that holds a key of signatures.
    Verify = 63 << 2 | 1,
    /// Compute a shared secret from what the other side sent, with a session that holds a key of
    /// key exchange.
    Agree = 63 << 2 | 2,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 7] = [
        Self::Encrypt,
        Self::Decrypt,
        Self::Seal,
        Self::Open,
        Self::Sign,
        Self::Verify,
        Self::Agree,
    ];
    /// The operations of ciphers.
    pub const OF_CIPHERS: [Self; 4] = [Self::Encrypt, Self::Decrypt, Self::Seal, Self::Open];

    /// Whether it makes or checks a signature.
    #[must_use]
    #[inline]
    pub const fn is_signature(self) -> bool {
        matches!(self, Self::Sign | Self::Verify)
    }

    /// Whether sessions with an asymmetric key have it: sign, verify and agree.
    #[must_use]
    #[inline]
    pub const fn is_asymmetric(self) -> bool {
        matches!(self, Self::Sign | Self::Verify | Self::Agree)
    }

    /// Its name: `encrypt`, `decrypt`, `seal`, `open`, `sign`, `verify` or `agree`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Seal => "seal",
            Self::Open => "open",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::Agree => "agree",
        }
    }
}
