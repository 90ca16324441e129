//! The layout of a cell.

use core::fmt;
use core::str::FromStr;

use lanecrypt_ciphers::Algorithm;

/// The layout of a cell, and its cipher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// `aes_gcm_siv`: a nonce of 12 bytes, ciphertext, a tag of 16 bytes. AES-GCM-SIV (RFC 8452)
    /// with keys of 16 or 32 bytes. The best choice unless another system requires a different one:
    /// a nonce that occurs twice reveals only whether the two values are equal.
    #[default]
    AesGcmSiv,
    /// `aes_gcm`: a nonce of 12 bytes, ciphertext, a tag of 16 bytes. AES-GCM with keys of 16, 24
    /// or 32 bytes. Spark's and Databricks' `aes_encrypt(value, key, 'GCM')` writes and reads the
    /// same cells.
    AesGcm,
    /// `deterministic`: a synthetic vector of 16 bytes, which is also the tag, and the ciphertext.
    /// AES-SIV (RFC 5297) without a nonce, with keys of 32, 48 or 64 bytes. **Equal values give
    /// equal cells**, if their associated data is equal, so that cells can be joined, grouped and
    /// looked up, and reveal which values are equal. The associated data is the string before the
    /// value; without any there is no string.
    Deterministic,
    /// `chacha20_poly1305`: a nonce of 12 bytes, ciphertext, a tag of 16 bytes. ChaCha20-Poly1305
    /// with keys of 32 bytes.
    ChaCha20Poly1305,
}

impl Layout {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::AesGcmSiv, Self::AesGcm, Self::Deterministic, Self::ChaCha20Poly1305];

    /// Its name, which is also parsed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AesGcmSiv => "aes_gcm_siv",
            Self::AesGcm => "aes_gcm",
            Self::Deterministic => "deterministic",
            Self::ChaCha20Poly1305 => "chacha20_poly1305",
        }
    }

    /// The lengths of its keys in bytes.
    #[must_use]
    pub const fn key_lengths(self) -> &'static [usize] {
        match self {
            Self::AesGcmSiv => &[16, 32],
            Self::AesGcm => &[16, 24, 32],
            Self::Deterministic => &[32, 48, 64],
            Self::ChaCha20Poly1305 => &[32],
        }
    }

    /// The difference between the lengths of a cell and its value in bytes.
    #[must_use]
    pub const fn overhead(self) -> usize {
        self.nonce_length() + TAG
    }

    /// The maximum number of values for one key, on all machines together: 2^32 if equal nonces
    /// break the cipher (SP 800-38D, section 8.3). AES-GCM-SIV tolerates them, and it is 2^48, up
    /// to which fewer than one pair of equal nonces is expected. Without nonces values are not
    /// counted.
    #[must_use]
    pub const fn most_values(self) -> u64 {
        match self {
            Self::AesGcmSiv => 1 << 48,
            Self::AesGcm | Self::ChaCha20Poly1305 => 1 << 32,
            Self::Deterministic => u64::MAX,
        }
    }

    /// The bytes of the nonce at the front of a cell.
    const fn nonce_length(self) -> usize {
        match self {
            Self::AesGcmSiv | Self::AesGcm | Self::ChaCha20Poly1305 => NONCE,
            Self::Deterministic => 0,
        }
    }

    /// The cipher for keys of `key_length` bytes, if it has nonces.
    pub(crate) fn algorithm(self, key_length: usize) -> Option<Algorithm> {
        Some(match (self, key_length) {
            (Self::AesGcmSiv, 16) => Algorithm::AES_128_GCM_SIV,
            (Self::AesGcmSiv, 32) => Algorithm::AES_256_GCM_SIV,
            (Self::AesGcm, 16) => Algorithm::AES_128_GCM,
            (Self::AesGcm, 24) => Algorithm::AES_192_GCM,
            (Self::AesGcm, 32) => Algorithm::AES_256_GCM,
            (Self::ChaCha20Poly1305, 32) => Algorithm::CHACHA20_POLY1305,
            _ => return None,
        })
    }
}

/// The bytes of a nonce, if there is one.
pub(crate) const NONCE: usize = 12;
/// The bytes of a tag.
pub(crate) const TAG: usize = 16;

/// The bytes of a key's id in front of a cell.
pub(crate) const PREFIX: usize = 5;

/// What the cells of the key with this id begin with: Tink's prefix.
pub(crate) const fn prefix(id: u32) -> [u8; PREFIX] {
    let [a, b, c, d] = id.to_be_bytes();
    [1, a, b, c, d]
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Layout {
    type Err = UnknownLayout;

    fn from_str(name: &str) -> Result<Self, UnknownLayout> {
        Self::ALL.into_iter().find(|layout| layout.name() == name).ok_or(UnknownLayout)
    }
}

/// No [`Layout`] has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownLayout;

impl fmt::Display for UnknownLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown layout; there are")?;
        for (index, layout) in Layout::ALL.iter().enumerate() {
            write!(f, "{} {layout}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownLayout {}
