//! The table of algorithms: a primitive, which has a key, in a mode, which says how it is applied,
//! perhaps with a code chained to it.

use core::fmt;
use core::str::FromStr;

use lanecrypt_kernels::{Isa, Level, chacha20poly1305, gcm, gcm_siv, ghash, poly1305, siv, xts};

use crate::{KeyLengths, Mac, Primitive, UnknownAlgorithm};

/// How a primitive is applied to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Mode {
    /// Cipher block chaining (NIST SP 800-38A): each block is XORed with the ciphertext block
    /// before it, the first one with the initialization vector.
    Cbc,
    /// Counter mode (NIST SP 800-38A): the nonce is the first counter block. The whole block
    /// counts, big-endian, and wraps.
    Ctr,
    /// A stream with a 64-bit nonce and a 64-bit block counter, as Bernstein defined it.
    Djb,
    /// Electronic code book: each block on its own.
    Ecb,
    /// Galois/counter mode (NIST SP 800-38D): counter mode with a tag.
    Gcm,
    /// Counter mode from the tag on, under keys of the nonce (RFC 8452). A nonce that is used twice
    /// reveals only whether messages are the same.
    GcmSiv,
    /// A stream with a 96-bit nonce and a 32-bit block counter (RFC 8439).
    Ietf,
    /// A stream with a tag by Poly1305 (RFC 8439).
    Poly1305,
    /// Counter mode from the tag on, which is a CMAC (RFC 5297). The key has two halves. A nonce
    /// that is used twice reveals only whether messages are the same.
    Siv,
    /// A stream cipher with only one form.
    Stream,
    /// For sectors of a storage device, each on its own (IEEE 1619, NIST SP 800-38E): the
    /// encryption of a block depends on its place in the sector. The key has two halves, and the
    /// nonce is the number of the sector.
    Xts,
}

impl Mode {
    /// The end of the names of its algorithms; empty for primitives with only one form. The names of
    /// [`Siv`](Self::Siv) end with the length of keys.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Cbc => "-cbc",
            Self::Ctr => "-ctr",
            Self::Djb => "-djb",
            Self::Ecb => "-ecb",
            Self::Gcm => "-gcm",
            Self::GcmSiv => "-gcm-siv",
            Self::Ietf => "-ietf",
            Self::Poly1305 => "-poly1305",
            Self::Siv => "-siv",
            Self::Stream => "",
            Self::Xts => "-xts",
        }
    }
}

/// A built-in algorithm: one row of the table.
///
/// It prints and parses as its name, such as `aes-256-ctr`, `3des-cbc`, `chacha20-ietf`,
/// `salsa20/12` or `aes-128-cbc+hmac-sha256`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Algorithm {
    primitive: Primitive,
    mode: Mode,
    mac: Option<Mac>,
}

/// Makes the constants and the list of all algorithms from the rows: documentation, name,
/// primitive, mode. Those of old ciphers are last.
macro_rules! algorithms {
    ($($(#[doc = $doc:literal])* $name:ident: $primitive:ident, $mode:ident $(, $mac:ident)?;)+
     @legacy {
     $($(#[doc = $old_doc:literal])* $old:ident: $old_primitive:ident, $old_mode:ident;)+
     }) => {
        impl Algorithm {
            $($(#[doc = $doc])*
            pub const $name: Self =
                Self::row(Primitive::$primitive, Mode::$mode)$(.with_mac(Mac::$mac))?;)+
            $($(#[doc = $old_doc])* #[cfg(feature = "legacy")]
            pub const $old: Self = Self::row(Primitive::$old_primitive, Mode::$old_mode);)+

            /// Every built-in algorithm.
            pub const ALL: &[Self] =
                &[$(Self::$name,)+ $(#[cfg(feature = "legacy")] Self::$old,)+];
        }
    };
}

algorithms! {
    /// AES-128, blocks chained.
    AES_128_CBC: Aes128, Cbc;
    /// AES-192, blocks chained.
    AES_192_CBC: Aes192, Cbc;
    /// AES-256, blocks chained.
    AES_256_CBC: Aes256, Cbc;
    /// AES-128 in counter mode.
    AES_128_CTR: Aes128, Ctr;
    /// AES-192 in counter mode.
    AES_192_CTR: Aes192, Ctr;
    /// AES-256 in counter mode.
    AES_256_CTR: Aes256, Ctr;
    /// AES-128, block by block.
    AES_128_ECB: Aes128, Ecb;
    /// AES-192, block by block.
    AES_192_ECB: Aes192, Ecb;
    /// AES-256, block by block.
    AES_256_ECB: Aes256, Ecb;
    /// AES-128 with a tag.
    AES_128_GCM: Aes128, Gcm;
    /// AES-192 with a tag.
    AES_192_GCM: Aes192, Gcm;
    /// AES-256 with a tag.
    AES_256_GCM: Aes256, Gcm;
    /// AES-128 with a tag that survives nonces used twice.
    AES_128_GCM_SIV: Aes128, GcmSiv;
    /// AES-256 with a tag that survives nonces used twice.
    AES_256_GCM_SIV: Aes256, GcmSiv;
    /// AES-128 with a tag that survives nonces used twice; the key has 32 bytes.
    AES_SIV_256: Aes128, Siv;
    /// AES-256 with a tag that survives nonces used twice; the key has 64 bytes.
    AES_SIV_512: Aes256, Siv;
    /// AES-128 for sectors; the key has 32 bytes.
    AES_128_XTS: Aes128, Xts;
    /// AES-256 for sectors; the key has 64 bytes.
    AES_256_XTS: Aes256, Xts;
    /// AES-128, blocks chained, then HMAC with SHA-1.
    AES_128_CBC_HMAC_SHA1: Aes128, Cbc, HmacSha1;
    /// AES-128, blocks chained, then HMAC with SHA-256.
    AES_128_CBC_HMAC_SHA256: Aes128, Cbc, HmacSha256;
    /// AES-128, blocks chained, then HMAC with SHA-384.
    AES_128_CBC_HMAC_SHA384: Aes128, Cbc, HmacSha384;
    /// AES-192, blocks chained, then HMAC with SHA-1.
    AES_192_CBC_HMAC_SHA1: Aes192, Cbc, HmacSha1;
    /// AES-192, blocks chained, then HMAC with SHA-256.
    AES_192_CBC_HMAC_SHA256: Aes192, Cbc, HmacSha256;
    /// AES-192, blocks chained, then HMAC with SHA-384.
    AES_192_CBC_HMAC_SHA384: Aes192, Cbc, HmacSha384;
    /// AES-256, blocks chained, then HMAC with SHA-1.
    AES_256_CBC_HMAC_SHA1: Aes256, Cbc, HmacSha1;
    /// AES-256, blocks chained, then HMAC with SHA-256.
    AES_256_CBC_HMAC_SHA256: Aes256, Cbc, HmacSha256;
    /// AES-256, blocks chained, then HMAC with SHA-384.
    AES_256_CBC_HMAC_SHA384: Aes256, Cbc, HmacSha384;
    /// AES-128, in counter mode, then HMAC with SHA-1.
    AES_128_CTR_HMAC_SHA1: Aes128, Ctr, HmacSha1;
    /// AES-128, in counter mode, then HMAC with SHA-256.
    AES_128_CTR_HMAC_SHA256: Aes128, Ctr, HmacSha256;
    /// AES-128, in counter mode, then HMAC with SHA-384.
    AES_128_CTR_HMAC_SHA384: Aes128, Ctr, HmacSha384;
    /// AES-256, in counter mode, then HMAC with SHA-1.
    AES_256_CTR_HMAC_SHA1: Aes256, Ctr, HmacSha1;
    /// AES-256, in counter mode, then HMAC with SHA-256.
    AES_256_CTR_HMAC_SHA256: Aes256, Ctr, HmacSha256;
    /// AES-256, in counter mode, then HMAC with SHA-384.
    AES_256_CTR_HMAC_SHA384: Aes256, Ctr, HmacSha384;
    /// ChaCha8 with a 64-bit counter.
    CHACHA8_DJB: ChaCha8, Djb;
    /// ChaCha12 with a 64-bit counter.
    CHACHA12_DJB: ChaCha12, Djb;
    /// ChaCha20 with a 64-bit counter.
    CHACHA20_DJB: ChaCha20, Djb;
    /// ChaCha8 in the form of RFC 8439.
    CHACHA8_IETF: ChaCha8, Ietf;
    /// ChaCha12 in the form of RFC 8439.
    CHACHA12_IETF: ChaCha12, Ietf;
    /// ChaCha20 as RFC 8439 defines it.
    CHACHA20_IETF: ChaCha20, Ietf;
    /// ChaCha20 with a tag.
    CHACHA20_POLY1305: ChaCha20, Poly1305;
    /// XChaCha20 with a tag: nonces of 192 bits, which may be random.
    XCHACHA20_POLY1305: XChaCha20, Poly1305;
    /// The null cipher, which protects nothing: the output is the input. It has neither key nor
    /// nonce. It serves to measure the cost of everything around a cipher.
    NULL: Null, Stream;

    @legacy {
    /// Salsa20/8: a 64-bit nonce and a 64-bit block counter.
    SALSA20_8: Salsa8, Stream;
    /// Salsa20/12, the member of the family that eSTREAM chose.
    SALSA20_12: Salsa12, Stream;
    /// Salsa20/20, also called just Salsa20.
    SALSA20_20: Salsa20, Stream;
    /// Serpent with 128-bit keys, blocks chained.
    SERPENT_128_CBC: Serpent128, Cbc;
    /// Serpent with 192-bit keys, blocks chained.
    SERPENT_192_CBC: Serpent192, Cbc;
    /// Serpent with 256-bit keys, blocks chained.
    SERPENT_256_CBC: Serpent256, Cbc;
    /// Serpent with 128-bit keys in counter mode.
    SERPENT_128_CTR: Serpent128, Ctr;
    /// Serpent with 192-bit keys in counter mode.
    SERPENT_192_CTR: Serpent192, Ctr;
    /// Serpent with 256-bit keys in counter mode.
    SERPENT_256_CTR: Serpent256, Ctr;
    /// Serpent with 128-bit keys, block by block.
    SERPENT_128_ECB: Serpent128, Ecb;
    /// Serpent with 192-bit keys, block by block.
    SERPENT_192_ECB: Serpent192, Ecb;
    /// Serpent with 256-bit keys, block by block.
    SERPENT_256_ECB: Serpent256, Ecb;
    /// ARC4. **Broken, for study and comparison only**: its output can be distinguished from random
    /// bytes, plaintexts that are sent often can be recovered, and RFC 7465 forbids it in TLS. It
    /// has no nonce, so a key serves for one stream only. It is not constant time: it indexes a
    /// table by secrets.
    ARC4: Arc4, Stream;
    /// HC-128: unbroken, but not constant time. It indexes tables by secrets, so programs that
    /// share the processor's caches with it can learn about its state.
    HC128: Hc128, Stream;
    /// DES, blocks chained. **Broken, for study and comparison only**: see
    /// [`Primitive::Des`].
    DES_CBC: Des, Cbc;
    /// DES in counter mode. **Broken, for study and comparison only**: see
    /// [`Primitive::Des`].
    DES_CTR: Des, Ctr;
    /// DES, block by block. **Broken, for study and comparison only**: see
    /// [`Primitive::Des`].
    DES_ECB: Des, Ecb;
    /// Triple DES, blocks chained. Its 64-bit blocks limit the data: see
    /// [`Primitive::TripleDes`].
    TRIPLE_DES_CBC: TripleDes, Cbc;
    /// Triple DES in counter mode. Its 64-bit blocks limit the data: see
    /// [`Primitive::TripleDes`].
    TRIPLE_DES_CTR: TripleDes, Ctr;
    /// Triple DES, block by block. Its 64-bit blocks limit the data: see
    /// [`Primitive::TripleDes`].
    TRIPLE_DES_ECB: TripleDes, Ecb;
    }
}

// Without the feature, nothing is built in that is broken or that indexes tables by secrets.
const _: () = {
    let mut at = 0;
    while at < Algorithm::ALL.len() {
        let primitive = Algorithm::ALL[at].primitive;
        let is_sound = primitive.constant_time(Level::Portable) && !primitive.is_broken();
        assert!(is_sound || cfg!(feature = "legacy"));
        at += 1;
    }
};

impl Algorithm {
    const fn row(primitive: Primitive, mode: Mode) -> Self {
        Self { primitive, mode, mac: None }
    }

    const fn with_mac(self, mac: Mac) -> Self {
        Self { mac: Some(mac), ..self }
    }

    /// What the key is expanded for.
    #[must_use]
    pub const fn primitive(self) -> Primitive {
        self.primitive
    }

    /// The mode in which the primitive is applied.
    #[must_use]
    pub const fn mode(self) -> Mode {
        self.mode
    }

    /// The code that is chained to the mode, if there is one.
    #[must_use]
    pub const fn mac(self) -> Option<Mac> {
        self.mac
    }

    /// The usual length of its tags in bytes; 0 if it does not authenticate.
    #[must_use]
    pub const fn tag_length(self) -> usize {
        match self.mac {
            Some(Mac::HmacSha1 | Mac::HmacSha256) => 16,
            Some(Mac::HmacSha384) => 24,
            None if self.is_aead() => 16,
            None => 0,
        }
    }

    /// The lengths of its keys. Where a code is chained to the mode, its key comes first.
    #[must_use]
    pub const fn key_lengths(self) -> KeyLengths {
        if let Some(mac) = self.mac {
            return mac.key_lengths().longer_by(self.primitive.key_lengths().longest());
        }
        match self.mode {
            Mode::Ietf | Mode::Poly1305 => KeyLengths::one(32),
            Mode::Siv | Mode::Xts => KeyLengths::one(2 * self.primitive.key_lengths().longest()),
            Mode::Cbc
            | Mode::Ctr
            | Mode::Djb
            | Mode::Ecb
            | Mode::Gcm
            | Mode::GcmSiv
            | Mode::Stream => self.primitive.key_lengths(),
        }
    }

    /// The length in bytes of the nonce or initialization vector; 0 if there is none. GCM also
    /// takes other lengths; this is the usual one. In a
    /// [`hazmat::RawCipher`](crate::hazmat::RawCipher), ChaCha and Salsa20 also take 16 bytes,
    /// which name a block.
    #[must_use]
    pub const fn nonce_length(self) -> usize {
        match (self.mode, self.primitive) {
            // The rest of the first counter block counts.
            (Mode::Ctr, _) if self.mac.is_some() => self.primitive.block_size() - 4,
            (Mode::Cbc | Mode::Ctr | Mode::Siv | Mode::Xts, _) => self.primitive.block_size(),
            (Mode::Djb, _) => 8,
            (Mode::Ecb, _) => 0,
            (Mode::Poly1305, Primitive::XChaCha20) => 24,
            (Mode::Gcm | Mode::GcmSiv | Mode::Ietf | Mode::Poly1305, _) => 12,
            (Mode::Stream, _) => self.primitive.nonce_length(),
        }
    }

    /// The levels at which it runs other code than at the next lower level, lowest first, as far as
    /// the features of this build include them. Such code is a kernel of its primitive, of its
    /// hash, or one that does all in one pass.
    pub fn kernels(self) -> impl Iterator<Item = Level> {
        let more: &[&[Level]] = match self.mode {
            Mode::Gcm => &[gcm::KERNELS, ghash::KERNELS],
            Mode::GcmSiv => &[gcm_siv::KERNELS],
            Mode::Poly1305 => &[chacha20poly1305::KERNELS, poly1305::KERNELS],
            Mode::Siv => &[siv::KERNELS],
            Mode::Xts => &[xts::KERNELS],
            Mode::Cbc | Mode::Ctr | Mode::Djb | Mode::Ecb | Mode::Ietf | Mode::Stream => &[],
        };
        // It uses AES in its own kernels only, of which this level has none.
        let is_left_out = move |level| self.mode == Mode::GcmSiv && level == Level::Avx2Vaes;
        Level::built().iter().copied().filter(move |&level| {
            let of_mode = more.iter().any(|kernels| kernels.contains(&level));
            let of_primitive = self.primitive.kernels().any(|own| own == level);
            !is_left_out(level) && (of_mode || of_primitive)
        })
    }

    /// The level of the kernel that runs at `level`.
    #[must_use]
    pub fn kernel_at(self, level: Level) -> Level {
        self.kernels().filter(|&kernel| level.includes(kernel)).last().unwrap_or(Level::Portable)
    }

    /// The number of blocks that run in parallel at `level`: that of the primitive
    /// ([`Primitive::lanes`]), or fewer if the mode keeps something in registers for each block.
    #[must_use]
    pub fn lanes(self, level: Level) -> usize {
        match (self.mode, self.kernel_at(level)) {
            (Mode::Gcm, Level::Avx512) => 16,
            (Mode::Xts, Level::AesNi | Level::Avx2) => 6,
            _ => self.primitive.lanes(level),
        }
    }

    /// The number of bytes of which the length of data must be a multiple.
    #[must_use]
    pub const fn granularity(self) -> usize {
        match self.mode {
            Mode::Cbc | Mode::Ecb => self.primitive.block_size(),
            Mode::Ctr | Mode::Djb | Mode::Ietf | Mode::Stream => 1,
            // XTS has no padding either: the rest of an incomplete last block is taken from the
            // block before (ciphertext stealing).
            Mode::Gcm | Mode::GcmSiv | Mode::Poly1305 | Mode::Siv | Mode::Xts => 1,
        }
    }

    /// Whether this is a keystream with which data is XORed.
    #[must_use]
    pub const fn is_stream(self) -> bool {
        match self.mode {
            _ if self.mac.is_some() => false,
            Mode::Ctr | Mode::Djb | Mode::Ietf | Mode::Stream => true,
            Mode::Cbc
            | Mode::Ecb
            | Mode::Gcm
            | Mode::GcmSiv
            | Mode::Poly1305
            | Mode::Siv
            | Mode::Xts => false,
        }
    }

    /// Whether it authenticates. [`Cipher`](crate::Cipher) takes algorithms that do,
    /// [`hazmat`](crate::hazmat) the others.
    #[must_use]
    pub const fn is_aead(self) -> bool {
        self.mac.is_some()
            || matches!(self.mode, Mode::Gcm | Mode::GcmSiv | Mode::Poly1305 | Mode::Siv)
    }

    /// Whether it authenticates and takes messages in pieces, by [`Sealer`](crate::Sealer) and
    /// [`Opener`](crate::Opener). Where the data are encrypted under the tag (SIV), the first byte
    /// of the ciphertext depends on the last of the message.
    #[must_use]
    pub const fn has_pieces(self) -> bool {
        self.is_aead() && !matches!(self.mode, Mode::GcmSiv | Mode::Siv)
    }

    /// Whether the set-up of a key uses little stack.
    pub(crate) fn sets_keys_shallowly(self, isa: Isa) -> bool {
        self.shallow_from().is_some_and(|level| isa.has(level))
    }

    /// The level from which on it does. The hashes of a code use more, and so do the blocks that SIV
    /// encrypts.
    pub(crate) const fn shallow_from(self) -> Option<Level> {
        match self.mode {
            _ if self.mac.is_some() => None,
            Mode::Siv => None,
            _ => self.primitive.shallow_from(),
        }
    }

    /// The name that is not made of those of primitive and mode: RFC 5297 counts both halves of the
    /// key.
    const fn own_name(self) -> Option<&'static str> {
        match (self.mode, self.primitive) {
            (Mode::Siv, Primitive::Aes128) => Some("aes-siv-256"),
            (Mode::Siv, _) => Some("aes-siv-512"),
            _ => None,
        }
    }

    /// Whether nobody may know a nonce before the message is written, so that it has to be random:
    /// CBC with a code. A counter would do for all others that authenticate.
    #[must_use]
    pub const fn needs_random_nonces(self) -> bool {
        self.mac.is_some() && matches!(self.mode, Mode::Cbc)
    }

    /// Whether this is a stream of numbered blocks, in which every offset is reached at once. Other
    /// streams only go forward, through everything in between.
    #[must_use]
    pub const fn is_seekable(self) -> bool {
        self.is_stream() && self.primitive.numbers_blocks()
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.own_name() {
            return f.write_str(name);
        }
        let mac = self.mac.map_or("", Mac::suffix);
        write!(f, "{}{}{mac}", self.primitive.name(), self.mode.suffix())
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
        let is_named = |row: &Self| {
            if let Some(own) = row.own_name() {
                return own == name;
            }
            let rest = name.strip_prefix(row.primitive.name());
            let rest = rest.and_then(|rest| rest.strip_prefix(row.mode.suffix()));
            rest == Some(row.mac.map_or("", Mac::suffix))
        };
        Self::ALL.iter().copied().find(is_named).ok_or(UnknownAlgorithm)
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
        let unknown = [
            "",
            "-",
            "aes",
            "aes-128",
            "aes-128-",
            "AES-128-CTR",
            "chacha20",
            "chacha20-ctr",
            "salsa20",
            "salsa20/",
            "salsa20/16",
            "salsa20/20-",
            "salsa20/20-djb",
            "hc-128",
            "hc128-",
            "arc4-",
            "rc4",
            "serpent",
            "serpent-128",
            "serpent-ctr",
            "serpent-128-djb",
            "des",
            "des-stream",
            "3des",
            "des3-cbc",
            "null-ctr",
            "aes-128+hmac-sha256",
            "aes-128-cbc+",
            "aes-128-cbc-hmac-sha256",
            "aes-128-ecb+hmac-sha256",
            "aes-128-gcm+hmac-sha256",
            "aes-128-siv",
            "aes-siv",
            "aes-siv-128",
        ];
        for name in unknown {
            assert_eq!(name.parse::<Algorithm>(), Err(UnknownAlgorithm), "{name}");
        }
    }

    /// Old algorithms, with all that index tables by secrets, are not built in by default.
    #[test]
    fn legacy_algorithms_need_their_feature() {
        for name in [
            "salsa20/8",
            "salsa20/20",
            "serpent-128-cbc",
            "serpent-256-ecb",
            "arc4",
            "hc128",
            "des-ecb",
            "des-cbc",
            "des-ctr",
            "3des-cbc",
        ] {
            assert_eq!(name.parse::<Algorithm>().is_ok(), cfg!(feature = "legacy"), "{name}");
        }
        let leaks = Algorithm::ALL.iter().filter(|row| {
            Level::built().iter().any(|&level| !row.primitive().constant_time(level))
        });
        assert_eq!(leaks.count(), if cfg!(feature = "legacy") { 8 } else { 0 });
    }

    #[test]
    fn every_level_has_a_kernel_not_above_it() {
        fn is_sorted(levels: impl Iterator<Item = Level>) -> bool {
            levels.is_sorted_by(|low, high| high.includes(*low))
        }
        for &algorithm in Algorithm::ALL {
            let primitive = algorithm.primitive();
            assert_eq!(primitive.kernels().next(), Some(Level::Portable));
            assert!(is_sorted(primitive.kernels()) && is_sorted(algorithm.kernels()));
            for &level in Level::built() {
                let kernel = primitive.kernel_at(level);
                assert!(level.includes(kernel) && primitive.kernels().any(|own| own == kernel));
                // A mode adds kernels. One takes a kernel away.
                let whole = algorithm.kernel_at(level);
                let is_fewer = algorithm.mode() == Mode::GcmSiv;
                assert!(
                    (whole.includes(kernel) || is_fewer) && level.includes(whole),
                    "{algorithm}"
                );
                assert!(algorithm.kernels().any(|own| own == whole), "{algorithm}");
            }
        }
    }
}
