//! The two directions of a cipher.

/// Whether a cipher encrypts or decrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third direction")]
pub enum Direction {
    /// From plaintext to ciphertext.
    Encrypt,
    /// From ciphertext to plaintext.
    Decrypt,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Encrypt, Self::Decrypt];

    /// `encrypt` or `decrypt`: the operation's name in the results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        }
    }
}
