//! The table of algorithms: a primitive, which has a key, in a mode, which says how it is applied.

use core::fmt;
use core::str::FromStr;

use lanecrypt_kernels::{Level, aes, chacha};

use crate::UnknownAlgorithm;

/// What a key is expanded for: a block cipher of one key size, or the core of a stream cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Primitive {
    /// AES with 128-bit keys (FIPS 197).
    Aes128,
    /// AES with 192-bit keys (FIPS 197).
    Aes192,
    /// AES with 256-bit keys (FIPS 197).
    Aes256,
    /// ChaCha with 8 rounds (Bernstein, "ChaCha, a variant of Salsa20").
    ChaCha8,
    /// ChaCha with 12 rounds.
    ChaCha12,
    /// ChaCha with 20 rounds.
    ChaCha20,
}

impl Primitive {
    /// Its name, as it begins the names of algorithms.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "aes-128",
            Self::Aes192 => "aes-192",
            Self::Aes256 => "aes-256",
            Self::ChaCha8 => "chacha8",
            Self::ChaCha12 => "chacha12",
            Self::ChaCha20 => "chacha20",
        }
    }

    /// Bytes that one step of the primitive yields.
    #[must_use]
    pub const fn block_size(self) -> usize {
        match self {
            Self::Aes128 | Self::Aes192 | Self::Aes256 => 16,
            Self::ChaCha8 | Self::ChaCha12 | Self::ChaCha20 => 64,
        }
    }

    /// Key lengths in bytes.
    #[must_use]
    pub const fn key_lengths(self) -> &'static [usize] {
        match self {
            Self::Aes128 => &[16],
            Self::Aes192 => &[24],
            Self::Aes256 => &[32],
            Self::ChaCha8 | Self::ChaCha12 | Self::ChaCha20 => &[16, 32],
        }
    }

    /// The levels that have a kernel of their own, lowest first, of those that the features of
    /// this build include. Any other level runs the kernel of the next one below.
    pub fn kernels(self) -> impl Iterator<Item = Level> {
        let levels: &[Level] = match self {
            Self::Aes128 | Self::Aes192 | Self::Aes256 => aes::KERNELS,
            Self::ChaCha8 | Self::ChaCha12 | Self::ChaCha20 => chacha::KERNELS,
        };
        levels.iter().copied().filter(|level| level.is_built())
    }

    /// The level whose kernel runs at `level`.
    #[must_use]
    pub fn kernel_at(self, level: Level) -> Level {
        self.kernels().take_while(|&kernel| kernel <= level).last().unwrap_or(Level::Portable)
    }

    /// Whether the kernel that runs at `level` takes the same time for all keys and data of one
    /// length.
    #[must_use]
    pub const fn constant_time(self, _level: Level) -> bool {
        match self {
            // Bitsliced where the processor has no AES instructions: there are no tables.
            Self::Aes128 | Self::Aes192 | Self::Aes256 => true,
            // Additions, rotations and XORs only.
            Self::ChaCha8 | Self::ChaCha12 | Self::ChaCha20 => true,
        }
    }
}

/// How a primitive is applied to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Mode {
    /// Counter mode (NIST SP 800-38A): the nonce is the first counter block, all of which counts,
    /// big-endian, and wraps.
    Ctr,
    /// A stream with a 64-bit nonce and a 64-bit block counter, as Bernstein defined it.
    Djb,
    /// Electronic code book: each block by itself.
    Ecb,
    /// A stream with a 96-bit nonce and a 32-bit block counter (RFC 8439).
    Ietf,
}

impl Mode {
    /// Its name, as it ends the names of algorithms.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ctr => "ctr",
            Self::Djb => "djb",
            Self::Ecb => "ecb",
            Self::Ietf => "ietf",
        }
    }
}

/// An algorithm that is built in: one row of the table.
///
/// It prints and parses as its name, such as `aes-256-ctr` or `chacha20-ietf`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Algorithm {
    primitive: Primitive,
    mode: Mode,
}

impl Algorithm {
    /// AES-128 in counter mode.
    pub const AES_128_CTR: Self = Self::row(Primitive::Aes128, Mode::Ctr);
    /// AES-192 in counter mode.
    pub const AES_192_CTR: Self = Self::row(Primitive::Aes192, Mode::Ctr);
    /// AES-256 in counter mode.
    pub const AES_256_CTR: Self = Self::row(Primitive::Aes256, Mode::Ctr);
    /// AES-128, block by block.
    pub const AES_128_ECB: Self = Self::row(Primitive::Aes128, Mode::Ecb);
    /// AES-192, block by block.
    pub const AES_192_ECB: Self = Self::row(Primitive::Aes192, Mode::Ecb);
    /// AES-256, block by block.
    pub const AES_256_ECB: Self = Self::row(Primitive::Aes256, Mode::Ecb);
    /// ChaCha8 with a 64-bit counter.
    pub const CHACHA8_DJB: Self = Self::row(Primitive::ChaCha8, Mode::Djb);
    /// ChaCha12 with a 64-bit counter.
    pub const CHACHA12_DJB: Self = Self::row(Primitive::ChaCha12, Mode::Djb);
    /// ChaCha20 with a 64-bit counter.
    pub const CHACHA20_DJB: Self = Self::row(Primitive::ChaCha20, Mode::Djb);
    /// ChaCha8 in the form of RFC 8439.
    pub const CHACHA8_IETF: Self = Self::row(Primitive::ChaCha8, Mode::Ietf);
    /// ChaCha12 in the form of RFC 8439.
    pub const CHACHA12_IETF: Self = Self::row(Primitive::ChaCha12, Mode::Ietf);
    /// ChaCha20 as RFC 8439 defines it.
    pub const CHACHA20_IETF: Self = Self::row(Primitive::ChaCha20, Mode::Ietf);

    /// Every algorithm that is built in.
    pub const ALL: &[Self] = &[
        Self::AES_128_CTR,
        Self::AES_192_CTR,
        Self::AES_256_CTR,
        Self::AES_128_ECB,
        Self::AES_192_ECB,
        Self::AES_256_ECB,
        Self::CHACHA8_DJB,
        Self::CHACHA12_DJB,
        Self::CHACHA20_DJB,
        Self::CHACHA8_IETF,
        Self::CHACHA12_IETF,
        Self::CHACHA20_IETF,
    ];

    const fn row(primitive: Primitive, mode: Mode) -> Self {
        Self { primitive, mode }
    }

    /// What the key is expanded for.
    #[must_use]
    pub const fn primitive(self) -> Primitive {
        self.primitive
    }

    /// How the primitive is applied.
    #[must_use]
    pub const fn mode(self) -> Mode {
        self.mode
    }

    /// Key lengths in bytes.
    #[must_use]
    pub const fn key_lengths(self) -> &'static [usize] {
        match self.mode {
            Mode::Ietf => &[32],
            Mode::Ctr | Mode::Djb | Mode::Ecb => self.primitive.key_lengths(),
        }
    }

    /// The nonce's length in bytes; 0 if there is none.
    #[must_use]
    pub const fn nonce_length(self) -> usize {
        match self.mode {
            Mode::Ctr => self.primitive.block_size(),
            Mode::Djb => 8,
            Mode::Ecb => 0,
            Mode::Ietf => 12,
        }
    }

    /// What the data's length must be a multiple of, in bytes.
    #[must_use]
    pub const fn granularity(self) -> usize {
        match self.mode {
            Mode::Ecb => self.primitive.block_size(),
            Mode::Ctr | Mode::Djb | Mode::Ietf => 1,
        }
    }

    /// Whether this is a keystream that data are XORed with.
    #[must_use]
    pub const fn is_stream(self) -> bool {
        match self.mode {
            Mode::Ctr | Mode::Djb | Mode::Ietf => true,
            Mode::Ecb => false,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.primitive.name(), self.mode.name())
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let (primitive, mode) = name.rsplit_once('-').ok_or(UnknownAlgorithm)?;
        Self::ALL
            .iter()
            .copied()
            .find(|row| row.primitive.name() == primitive && row.mode.name() == mode)
            .ok_or(UnknownAlgorithm)
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_differ() {
        for (i, &algorithm) in Algorithm::ALL.iter().enumerate() {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
            assert!(!Algorithm::ALL[..i].contains(&algorithm));
        }
        for name in ["", "-", "aes", "aes-128", "aes-128-", "AES-128-CTR", "chacha20-ctr"] {
            assert_eq!(name.parse::<Algorithm>(), Err(UnknownAlgorithm), "{name}");
        }
    }

    #[test]
    fn every_level_has_a_kernel_not_above_it() {
        for &algorithm in Algorithm::ALL {
            let primitive = algorithm.primitive();
            assert_eq!(primitive.kernels().next(), Some(Level::Portable));
            assert!(primitive.kernels().is_sorted());
            for level in Level::ALL {
                let kernel = primitive.kernel_at(level);
                assert!(kernel <= level && primitive.kernels().any(|own| own == kernel));
            }
        }
    }
}
