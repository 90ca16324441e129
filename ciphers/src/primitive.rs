//! The primitives: block ciphers of one key size each, and the cores of stream ciphers.

use lanecrypt_kernels::{Level, aes, chacha, null, salsa, serpent};
#[cfg(feature = "legacy")]
use lanecrypt_kernels::{arc4, des, hc128};

use crate::KeyLengths;

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
    /// ChaCha with 20 rounds under a key that is made of the key and the first 128 bits of the
    /// nonce by the same rounds (Internet-Draft draft-irtf-cfrg-xchacha).
    XChaCha20,
    /// Salsa20 with 8 rounds (Bernstein, "The Salsa20 family of stream ciphers").
    Salsa8,
    /// Salsa20 with 12 rounds, as eSTREAM chose it.
    Salsa12,
    /// Salsa20 with 20 rounds.
    Salsa20,
    /// Serpent with 128-bit keys (Anderson, Biham, Knudsen, "Serpent: A Proposal for the Advanced
    /// Encryption Standard"), in the byte order of NESSIE.
    Serpent128,
    /// Serpent with 192-bit keys.
    Serpent192,
    /// Serpent with 256-bit keys.
    Serpent256,
    /// The null cipher: no key, and a keystream of zeros. It protects nothing.
    Null,
    /// ARC4 (RFC 6229 has test vectors), with keys of 5 to 256 bytes. **Broken**: see
    /// [`Algorithm::ARC4`](crate::Algorithm::ARC4).
    #[cfg(feature = "legacy")]
    Arc4,
    /// HC-128 (Wu, "The Stream Cipher HC-128"; eSTREAM). Not constant time: see
    /// [`Algorithm::HC128`](crate::Algorithm::HC128).
    #[cfg(feature = "legacy")]
    Hc128,
    /// DES (FIPS 46-3), with keys of 8 bytes whose parity bits are ignored. **Broken**: 56 bits of
    /// key are found by trying them all. Single blocks are not constant time.
    #[cfg(feature = "legacy")]
    Des,
    /// Triple DES (NIST SP 800-67), encrypt-decrypt-encrypt, with keys of 16 bytes, the first half
    /// used twice, or 24. Single blocks are not constant time.
    ///
    /// Not broken, but its blocks have 64 bits only: from 2^32 blocks (32 GiB) under one key on,
    /// equal ciphertext blocks give away the XOR of plaintext blocks (the "Sweet32" attack,
    /// Bhargavan and Leurent, 2016). NIST allows 2^20 blocks, which is 8 MiB, and no new encryption
    /// since 2024.
    #[cfg(feature = "legacy")]
    TripleDes,
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
            Self::XChaCha20 => "xchacha20",
            Self::Salsa8 => "salsa20/8",
            Self::Salsa12 => "salsa20/12",
            Self::Salsa20 => "salsa20/20",
            Self::Serpent128 => "serpent-128",
            Self::Serpent192 => "serpent-192",
            Self::Serpent256 => "serpent-256",
            Self::Null => "null",
            #[cfg(feature = "legacy")]
            Self::Arc4 => "arc4",
            #[cfg(feature = "legacy")]
            Self::Hc128 => "hc128",
            #[cfg(feature = "legacy")]
            Self::Des => "des",
            #[cfg(feature = "legacy")]
            Self::TripleDes => "3des",
        }
    }

    /// Bytes that one step of the primitive yields.
    #[must_use]
    pub const fn block_size(self) -> usize {
        match self {
            Self::Aes128 | Self::Aes192 | Self::Aes256 => 16,
            Self::Serpent128 | Self::Serpent192 | Self::Serpent256 => 16,
            Self::ChaCha8 | Self::ChaCha12 | Self::ChaCha20 | Self::XChaCha20 => 64,
            Self::Salsa8 | Self::Salsa12 | Self::Salsa20 => 64,
            Self::Null => 1,
            #[cfg(feature = "legacy")]
            Self::Arc4 => 1,
            #[cfg(feature = "legacy")]
            Self::Hc128 => 64,
            #[cfg(feature = "legacy")]
            Self::Des | Self::TripleDes => 8,
        }
    }

    /// The lengths of its keys.
    #[must_use]
    pub const fn key_lengths(self) -> KeyLengths {
        match self {
            Self::Aes128 | Self::Serpent128 => KeyLengths::one(16),
            Self::Aes192 | Self::Serpent192 => KeyLengths::one(24),
            Self::Aes256 | Self::Serpent256 => KeyLengths::one(32),
            Self::ChaCha8 | Self::ChaCha12 | Self::ChaCha20 => KeyLengths::either(16, 32),
            Self::Salsa8 | Self::Salsa12 | Self::Salsa20 => KeyLengths::either(16, 32),
            Self::XChaCha20 => KeyLengths::one(32),
            Self::Null => KeyLengths::one(0),
            #[cfg(feature = "legacy")]
            Self::Arc4 => KeyLengths::range(5, 256),
            #[cfg(feature = "legacy")]
            Self::Hc128 => KeyLengths::one(16),
            #[cfg(feature = "legacy")]
            Self::Des => KeyLengths::one(8),
            #[cfg(feature = "legacy")]
            Self::TripleDes => KeyLengths::either(16, 24),
        }
    }

    /// The levels that have a kernel of their own, lowest first, of those that the features of
    /// this build include. Any other level runs the kernel of the next one below.
    pub fn kernels(self) -> impl Iterator<Item = Level> {
        let levels: &[Level] = match self {
            Self::Aes128 | Self::Aes192 | Self::Aes256 => aes::KERNELS,
            Self::ChaCha8 | Self::ChaCha12 | Self::ChaCha20 | Self::XChaCha20 => chacha::KERNELS,
            Self::Salsa8 | Self::Salsa12 | Self::Salsa20 => salsa::KERNELS,
            Self::Serpent128 | Self::Serpent192 | Self::Serpent256 => serpent::KERNELS,
            Self::Null => null::KERNELS,
            #[cfg(feature = "legacy")]
            Self::Arc4 => arc4::KERNELS,
            #[cfg(feature = "legacy")]
            Self::Hc128 => hc128::KERNELS,
            #[cfg(feature = "legacy")]
            Self::Des | Self::TripleDes => des::KERNELS,
        };
        levels.iter().copied().filter(|level| level.is_built())
    }

    /// The level whose kernel runs at `level`.
    #[must_use]
    pub fn kernel_at(self, level: Level) -> Level {
        self.kernels().take_while(|&kernel| kernel <= level).last().unwrap_or(Level::Portable)
    }

    /// How many blocks the kernel that runs at `level` works on side by side within one message,
    /// where the mode lets it and the message is long enough; 1 of a stream that makes one byte or
    /// word after the other. CBC encryption always goes block by block.
    #[must_use]
    pub fn lanes(self, level: Level) -> usize {
        let kernel = self.kernel_at(level);
        match self {
            Self::Aes128 | Self::Aes192 | Self::Aes256 => match kernel {
                Level::Ssse3 => 4,
                Level::Avx2Vaes => 16,
                Level::Avx512 => 32,
                _ => 8,
            },
            Self::Serpent128 | Self::Serpent192 | Self::Serpent256 => match kernel {
                Level::Ssse3 => 8,
                Level::Avx2 => 16,
                Level::Avx512 => 32,
                _ => 1,
            },
            Self::ChaCha8 | Self::ChaCha12 | Self::ChaCha20 | Self::XChaCha20 => arx_lanes(kernel),
            Self::Salsa8 | Self::Salsa12 | Self::Salsa20 => arx_lanes(kernel),
            Self::Null => 1,
            #[cfg(feature = "legacy")]
            Self::Arc4 | Self::Hc128 => 1,
            #[cfg(feature = "legacy")]
            Self::Des | Self::TripleDes => match kernel {
                Level::Avx2 => 256,
                _ => 64,
            },
        }
    }

    /// Whether the kernel that runs at `level` takes the same time for all keys and data of one
    /// length.
    #[must_use]
    pub const fn constant_time(self, level: Level) -> bool {
        self.timing_leak(level).is_none()
    }

    /// What the time of the kernel that runs at `level` tells about secrets, in a few words; none
    /// if it is constant time.
    #[must_use]
    pub const fn timing_leak(self, _level: Level) -> Option<&'static str> {
        match self {
            // Without AES instructions bitsliced or by vector permute: no table is read from memory
            // at a secret place.
            Self::Aes128 | Self::Aes192 | Self::Aes256 => None,
            // Additions, rotations and XORs only.
            Self::ChaCha8 | Self::ChaCha12 | Self::ChaCha20 | Self::XChaCha20 => None,
            Self::Salsa8 | Self::Salsa12 | Self::Salsa20 => None,
            // Bitsliced: Boolean operations and rotations by constants.
            Self::Serpent128 | Self::Serpent192 | Self::Serpent256 => None,
            Self::Null => None,
            // Which lines of the cache they touch depends on the key.
            #[cfg(feature = "legacy")]
            Self::Arc4 | Self::Hc128 => Some("indexes tables by secrets"),
            #[cfg(feature = "legacy")]
            Self::Des | Self::TripleDes => Some("indexes tables by secrets (single blocks)"),
        }
    }

    /// Whether practical attacks are known, so that it is here for study and comparison only.
    #[must_use]
    pub const fn is_broken(self) -> bool {
        match self {
            #[cfg(feature = "legacy")]
            Self::Arc4 | Self::Des => true,
            _ => false,
        }
    }
}

/// ChaCha and Salsa20 keep a word of each block in a register.
fn arx_lanes(kernel: Level) -> usize {
    match kernel {
        Level::Ssse3 => 4,
        Level::Avx2 => 8,
        Level::Avx512 => 16,
        _ => 1,
    }
}
