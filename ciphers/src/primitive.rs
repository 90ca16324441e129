//! The primitives: block ciphers of one key size each, and the cores of stream ciphers.

use lanecrypt_kernels::{Isa, Level, aegis, aes, chacha, null};

use crate::KeyLengths;

#[cfg(feature = "legacy")]
mod legacy;

/// Makes the type and its table from the rows: documentation, name, lengths of keys, family. Those
/// of old ciphers are last.
macro_rules! primitives {
    ($($(#[doc = $doc:literal])*
       $variant:ident: $name:literal, $lengths:ident($($length:literal),+), $family:ident;)+
     @legacy {
     $($(#[doc = $old_doc:literal])*
       $old:ident: $old_name:literal, $old_lengths:ident($($old_length:literal),+), $old_family:ident;)+
     }) => {
        /// A cipher for which a key is expanded: a block cipher with one key size, or the core of a
        /// stream cipher.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Primitive {
            $($(#[doc = $doc])* $variant,)+
            $($(#[doc = $old_doc])* #[cfg(feature = "legacy")] $old,)+
        }

        impl Primitive {
            const fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => const {
                        let key_lengths = KeyLengths::$lengths($($length),+);
                        &Row { name: $name, key_lengths, family: &$family }
                    },)+
                    $(#[cfg(feature = "legacy")] Self::$old => const {
                        let key_lengths = KeyLengths::$old_lengths($($old_length),+);
                        &Row { name: $old_name, key_lengths, family: &legacy::$old_family }
                    },)+
                }
            }
        }
    };
}

primitives! {
    /// AES with 128-bit keys (FIPS 197).
    Aes128: "aes-128", one(16), AES;
    /// AES with 192-bit keys (FIPS 197).
    Aes192: "aes-192", one(24), AES;
    /// AES with 256-bit keys (FIPS 197).
    Aes256: "aes-256", one(32), AES;
    /// ChaCha with 8 rounds (Bernstein, "ChaCha, a variant of Salsa20").
    ChaCha8: "chacha8", either(16, 32), CHACHA;
    /// ChaCha with 12 rounds.
    ChaCha12: "chacha12", either(16, 32), CHACHA;
    /// ChaCha with 20 rounds.
    ChaCha20: "chacha20", either(16, 32), CHACHA;
    /// ChaCha with 20 rounds under a derived key: the same rounds compute it from the key and the
    /// first 128 bits of the nonce (Internet-Draft draft-irtf-cfrg-xchacha).
    XChaCha20: "xchacha20", one(32), CHACHA;
    /// AEGIS-128L: rounds of AES over a state of eight blocks (draft-irtf-cfrg-aegis-aead).
    Aegis128L: "aegis-128l", one(16), AEGIS_128L;
    /// AEGIS-256: rounds of AES over a state of six blocks.
    Aegis256: "aegis-256", one(32), AEGIS_256;
    /// The null cipher: no key, and a keystream of zeros. It protects nothing.
    Null: "null", one(0), NULL;

    @legacy {
    /// Salsa20 with 8 rounds (Bernstein, "The Salsa20 family of stream ciphers").
    Salsa8: "salsa20/8", either(16, 32), SALSA;
    /// Salsa20 with 12 rounds, as eSTREAM chose it.
    Salsa12: "salsa20/12", either(16, 32), SALSA;
    /// Salsa20 with 20 rounds.
    Salsa20: "salsa20/20", either(16, 32), SALSA;
    /// Serpent with 128-bit keys (Anderson, Biham, Knudsen, "Serpent: A Proposal for the Advanced
    /// Encryption Standard"), in the byte order of NESSIE.
    Serpent128: "serpent-128", one(16), SERPENT;
    /// Serpent with 192-bit keys.
    Serpent192: "serpent-192", one(24), SERPENT;
    /// Serpent with 256-bit keys.
    Serpent256: "serpent-256", one(32), SERPENT;
    /// ARC4 (RFC 6229 has test vectors), with keys of 5 to 256 bytes. **Broken**: see
    /// [`Algorithm::ARC4`](crate::Algorithm::ARC4).
    Arc4: "arc4", range(5, 256), ARC4;
    /// HC-128 (Wu, "The Stream Cipher HC-128"; eSTREAM). Not constant time: see
    /// [`Algorithm::HC128`](crate::Algorithm::HC128).
    Hc128: "hc128", one(16), HC128;
    /// DES (FIPS 46-3), with keys of 8 bytes whose parity bits are ignored. **Broken**: keys have
    /// 56 bits and can be found by trying all of them. Single blocks are not constant time.
    Des: "des", one(8), DES;
    /// Triple DES (NIST SP 800-67), encrypt-decrypt-encrypt, with keys of 16 bytes, whose first
    /// half is used twice, or of 24 bytes. Single blocks are not constant time.
    ///
    /// Not broken, but its blocks have only 64 bits: from 2^32 blocks (32 GiB) under one key on,
    /// equal ciphertext blocks reveal the XOR of plaintext blocks (the "Sweet32" attack, Bhargavan
    /// and Leurent, 2016). NIST allows 2^20 blocks, which is 8 MiB, and no new encryption since
    /// 2024.
    TripleDes: "3des", either(16, 24), TRIPLE_DES;
    }
}

/// The properties in which primitives of a family differ.
struct Row {
    name: &'static str,
    key_lengths: KeyLengths,
    family: &'static Family,
}

/// The properties that the primitives of a family share.
struct Family {
    /// The number of bytes that one step yields.
    block_size: usize,
    /// The length in bytes of the nonce of a stream with only one form.
    nonce_length: usize,
    /// Whether a stream numbers its blocks, so that each is reached at once.
    numbered: bool,
    /// The levels that have their own kernel, including levels that this build leaves out.
    kernels: &'static [Level],
    /// The number of blocks that the kernel of a level processes in parallel.
    lanes: fn(Level) -> usize,
    /// The level from which on setting a key takes little stack.
    shallow: Option<Level>,
    timing_leak: Option<&'static str>,
    broken: bool,
}

/// Constant time: without AES instructions it is bitsliced or computed by vector permutes, and
/// never reads a table at a secret address.
const AES: Family = Family {
    block_size: 16,
    nonce_length: 0,
    numbered: true,
    kernels: aes::KERNELS,
    lanes: |kernel| match kernel {
        Level::Ssse3 => 4,
        Level::Avx2Vaes => 16,
        Level::Avx512 => 32,
        _ => 8,
    },
    shallow: Some(Level::AesNi),
    timing_leak: None,
    broken: false,
};

/// Constant time: only additions, rotations and XORs.
const CHACHA: Family = Family {
    block_size: 64,
    nonce_length: 8,
    numbered: true,
    kernels: chacha::KERNELS,
    lanes: |kernel| if matches!(kernel, Level::Neon) { 8 } else { arx_lanes(kernel) },
    shallow: Some(Level::Portable),
    timing_leak: None,
    broken: false,
};

/// Constant time as AES is. A key is kept as it comes.
const AEGIS_128L: Family = Family {
    block_size: 32,
    nonce_length: 0,
    numbered: false,
    kernels: aegis::KERNELS,
    lanes: |_| 1,
    ..CHACHA
};

const AEGIS_256: Family = Family { block_size: 16, ..AEGIS_128L };

const NULL: Family =
    Family { block_size: 1, nonce_length: 0, kernels: null::KERNELS, lanes: |_| 1, ..CHACHA };

impl Primitive {
    /// Its name, with which the names of its algorithms begin.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The number of bytes that one step of the primitive yields.
    #[must_use]
    pub const fn block_size(self) -> usize {
        self.row().family.block_size
    }

    /// The lengths of its keys.
    #[must_use]
    pub const fn key_lengths(self) -> KeyLengths {
        self.row().key_lengths
    }

    /// The levels that have their own kernel, lowest first, as far as the features of this build
    /// include them. Any other level runs the kernel of the next lower one.
    pub fn kernels(self) -> impl Iterator<Item = Level> {
        self.levels().iter().copied().filter(|level| level.is_built())
    }

    /// The levels that have their own kernel, in any build.
    pub(crate) const fn levels(self) -> &'static [Level] {
        self.row().family.kernels
    }

    /// The level of the kernel that runs at `level`.
    #[must_use]
    pub fn kernel_at(self, level: Level) -> Level {
        self.kernels().filter(|&kernel| level.includes(kernel)).last().unwrap_or(Level::Portable)
    }

    /// The number of blocks that the kernel at `level` processes in parallel within one message, if
    /// the mode allows it and the message is long enough. It is 1 for a stream that makes one byte
    /// or word after the other. CBC encryption always goes block by block.
    #[must_use]
    pub fn lanes(self, level: Level) -> usize {
        (self.row().family.lanes)(self.kernel_at(level))
    }

    /// Whether the kernel at `level` takes the same time for all keys and data of one length.
    #[must_use]
    pub const fn constant_time(self, level: Level) -> bool {
        self.timing_leak(level).is_none()
    }

    /// What the timing of the kernel at `level` reveals about secrets, in a few words; `None` if it
    /// is constant time.
    #[must_use]
    pub const fn timing_leak(self, _level: Level) -> Option<&'static str> {
        self.row().family.timing_leak
    }

    /// Whether practical attacks are known. Such a primitive is only for study and comparison.
    #[must_use]
    pub const fn is_broken(self) -> bool {
        self.row().family.broken
    }

    /// The length in bytes of the nonce of a stream with only one form.
    pub(crate) const fn nonce_length(self) -> usize {
        self.row().family.nonce_length
    }

    /// Whether a stream numbers its blocks.
    pub(crate) const fn numbers_blocks(self) -> bool {
        self.row().family.numbered
    }

    /// Whether setting a key takes at most [`SHALLOW`](lanecrypt_kernels::wipe::SHALLOW) bytes of
    /// stack.
    #[inline]
    pub(crate) fn sets_keys_shallowly(self, isa: Isa) -> bool {
        self.shallow_from().is_some_and(|level| isa.has(level))
    }

    /// The level from which on it does.
    pub(crate) const fn shallow_from(self) -> Option<Level> {
        self.row().family.shallow
    }
}

/// ChaCha and Salsa20 keep one word of each block in a register.
fn arx_lanes(kernel: Level) -> usize {
    match kernel {
        Level::Ssse3 | Level::Neon => 4,
        Level::Avx2 => 8,
        Level::Avx512 => 16,
        _ => 1,
    }
}
