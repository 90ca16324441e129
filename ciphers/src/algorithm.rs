//! The table of algorithms: a primitive, which has a key, in a mode, which says how it is applied,
//! perhaps with a code chained to it.

use core::ffi::CStr;
use core::fmt;
use core::num::NonZeroU16;
use core::str::FromStr;

use lanecrypt_kernels as kernels;
use lanecrypt_kernels::{Aead, Bytes, Isa, Level, xts};

use crate::table::algorithms;
use crate::{KeyLengths, Mac, Primitive, UnknownAlgorithm};

/// How a primitive is applied to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Mode {
    /// A state of several blocks takes the data and yields keystream and tag
    /// (draft-irtf-cfrg-aegis-aead).
    Aegis,
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

/// Makes the constants and what differs between algorithms from the rows of the table.
macro_rules! constants {
    ({}
     aead { $($(#[doc = $doc:literal])+ $aead:ident = $number:literal $name:literal
              $primitive:ident $mode:ident [$($openssl:literal $($more:literal)?)?]
              $typed:ident: $kernel:ty $(, $lanes:ident)?;)+ }
     chained { $($cipher:ident $chain:ident, $variant:ident: $chained:ty {
         $($(#[doc = $hmac_doc:literal])+ $hmac:ident = $hmac_number:literal $hmac_name:literal
           $mac:ident;)+
     })+ }
     raw { $($(#[doc = $raw_doc:literal])+ $raw:ident = $raw_number:literal $raw_name:literal
             $raw_primitive:ident $raw_mode:ident [$($raw_openssl:literal $($raw_more:literal)?)?];)+ }
     legacy { $($(#[doc = $old_doc:literal])+ $old:ident = $old_number:literal $old_name:literal
                $old_primitive:ident $old_mode:ident [$($old_openssl:literal)?];)+ }) => {
        impl Algorithm {
            $($(#[doc = $doc])+
            pub const $aead: Self = Self::new(Primitive::$primitive, Mode::$mode);)+
            $($($(#[doc = $hmac_doc])+
            pub const $hmac: Self =
                Self { mac: Some(Mac::$mac), ..Self::new(Primitive::$cipher, Mode::$chain) };)+)+
            $($(#[doc = $raw_doc])+
            pub const $raw: Self = Self::new(Primitive::$raw_primitive, Mode::$raw_mode);)+
        }

        #[cfg(feature = "legacy")]
        impl Algorithm {
            $($(#[doc = $old_doc])+
            pub const $old: Self = Self::new(Primitive::$old_primitive, Mode::$old_mode);)+
        }

        const ROWS: [&[Row]; 2] = [&[
            $(row!(Algorithm::$aead, $number, $name, $($openssl $($more)?)?),)+
            $($(row!(Algorithm::$hmac, $hmac_number, $hmac_name,),)+)+
            $(row!(Algorithm::$raw, $raw_number, $raw_name, $($raw_openssl $($raw_more)?)?),)+
        ], &[
            $(#[cfg(feature = "legacy")]
            row!(Algorithm::$old, $old_number, $old_name, $($old_openssl)?),)+
        ]];

        impl Algorithm {
            /// Its kernel's own facts, if it is a cipher with authentication without an HMAC.
            const fn aead(self) -> Option<Facts> {
                match (self.mac, self.primitive, self.mode) {
                    $((None, Primitive::$primitive, Mode::$mode) => {
                        let lanes = [$(Some(<$kernel as kernels::$lanes>::FROM),)? None];
                        Some(Facts::of::<$kernel>(lanes[0]))
                    })+
                    _ => None,
                }
            }
        }
    };
}

/// A row: algorithm, number, name, and the names of OpenSSL.
macro_rules! row {
    ($algorithm:expr, $number:literal, $name:literal, $($first:literal $($others:literal)?)?) => {
        Row {
            algorithm: $algorithm,
            number: $number,
            name: $name,
            c_name: text(concat!($name, "\0")),
            openssl: [
                text(concat!($($first,)? "\0")),
                text(concat!($($first, $($others,)?)? "\0")),
            ],
        }
    };
}

algorithms!(constants! {});

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

/// A row of the table of algorithms.
struct Row {
    algorithm: Algorithm,
    number: u16,
    name: &'static str,
    c_name: &'static CStr,
    /// One name, and all, with colons between them; empty if OpenSSL does not have it.
    openssl: [&'static CStr; 2],
}

const fn text(with_end: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(with_end.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("an end, and no other"),
    }
}

/// The facts of a kernel with authentication.
struct Facts {
    key: usize,
    nonce: usize,
    longest: [u64; 2],
    levels: &'static [&'static [Level]],
    lanes_from: Option<Level>,
}

impl Facts {
    const fn of<K: Aead>(lanes_from: Option<Level>) -> Self {
        Self {
            key: K::Key::LENGTH,
            nonce: K::Nonce::LENGTH,
            longest: [K::LONGEST_AAD, K::LONGEST],
            levels: K::LEVELS,
            lanes_from,
        }
    }
}

impl Algorithm {
    /// Every built-in algorithm.
    pub const ALL: &[Self] = &{
        let mut all = [Self::NULL; ROWS[0].len() + ROWS[1].len()];
        let mut at = 0;
        while at < all.len() {
            let own = ROWS[0].len();
            all[at] = if at < own { ROWS[0][at].algorithm } else { ROWS[1][at - own].algorithm };
            at += 1;
        }
        all
    };

    const fn new(primitive: Primitive, mode: Mode) -> Self {
        Self { primitive, mode, mac: None }
    }

    const fn row(self) -> &'static Row {
        let mut at = 0;
        while at < ROWS[0].len() + ROWS[1].len() {
            let own = ROWS[0].len();
            let row = if at < own { &ROWS[0][at] } else { &ROWS[1][at - own] };
            if self.is(row.algorithm) {
                return row;
            }
            at += 1;
        }
        panic!("every algorithm is in the table")
    }

    /// Equality, in constants.
    #[doc(hidden)]
    #[must_use]
    pub const fn is(self, other: Self) -> bool {
        let macs = match (self.mac, other.mac) {
            (None, None) => true,
            (Some(own), Some(other)) => own as u8 == other as u8,
            _ => false,
        };
        macs && self.primitive as u8 == other.primitive as u8 && self.mode as u8 == other.mode as u8
    }

    /// Its name, such as `aes-256-gcm`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Its name as a string of C.
    #[must_use]
    pub const fn c_name(self) -> &'static CStr {
        self.row().c_name
    }

    /// Its number in the interface of C, which never changes; `None` if it is not offered there.
    #[must_use]
    pub const fn c_number(self) -> Option<NonZeroU16> {
        NonZeroU16::new(self.row().number)
    }

    /// The algorithm with this number in the interface of C.
    #[must_use]
    pub fn of_c_number(number: NonZeroU16) -> Option<Self> {
        let mut rows = ROWS.iter().copied().flatten();
        rows.find(|row| row.number == number.get()).map(|row| row.algorithm)
    }

    /// The name that OpenSSL has for it; `None` if OpenSSL does not have it.
    #[must_use]
    pub const fn openssl_name(self) -> Option<&'static CStr> {
        let name = self.row().openssl[0];
        if name.is_empty() { None } else { Some(name) }
    }

    /// All names that OpenSSL's default provider has for it, with colons between them; empty if it
    /// has none.
    #[must_use]
    pub const fn openssl_names(self) -> &'static CStr {
        self.row().openssl[1]
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
        match (self.aead(), self.mode) {
            (Some(facts), _) => KeyLengths::one(facts.key),
            (_, Mode::Ietf) => KeyLengths::one(32),
            (_, Mode::Xts) => KeyLengths::one(2 * self.primitive.key_lengths().longest()),
            _ => self.primitive.key_lengths(),
        }
    }

    /// The length in bytes of the nonce or initialization vector; 0 if there is none. GCM also
    /// takes other lengths; this is the usual one. In a
    /// [`hazmat::RawCipher`](crate::hazmat::RawCipher), ChaCha and Salsa20 also take 16 bytes,
    /// which name a block.
    #[must_use]
    pub const fn nonce_length(self) -> usize {
        if let Some(facts) = self.aead() {
            return facts.nonce;
        }
        match self.mode {
            // The rest of the first counter block counts.
            Mode::Ctr if self.mac.is_some() => self.primitive.block_size() - 4,
            Mode::Cbc | Mode::Ctr | Mode::Xts => self.primitive.block_size(),
            Mode::Djb => 8,
            Mode::Ietf => 12,
            Mode::Stream => self.primitive.nonce_length(),
            _ => 0,
        }
    }

    /// The most bytes of associated data, and of data, of one message under its kernel.
    pub(crate) const fn longest(self) -> Option<[u64; 2]> {
        match self.aead() {
            Some(facts) => Some(facts.longest),
            None => None,
        }
    }

    /// The lowest level at which messages of several keys run side by side, if it authenticates
    /// without an HMAC and has such kernels.
    #[must_use]
    pub const fn lanes_from(self) -> Option<Level> {
        match self.aead() {
            Some(facts) => facts.lanes_from,
            None => None,
        }
    }

    /// The levels at which it runs other code than at the next lower level, lowest first, as far as
    /// the features of this build include them. Such code is a kernel of its primitive, of its
    /// hash, or one that does all in one pass.
    pub fn kernels(self) -> impl Iterator<Item = Level> {
        let (whole, raw): (&[&[Level]], &[Level]) = match (self.aead(), self.mode) {
            (Some(facts), _) => (facts.levels, &[]),
            (_, Mode::Xts) => (&[xts::KERNELS], self.primitive.levels()),
            _ => (&[], self.primitive.levels()),
        };
        let is_own = move |level: &Level| {
            whole.iter().any(|levels| levels.contains(level)) || raw.contains(level)
        };
        Level::built().iter().copied().filter(is_own)
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
            (Mode::Xts, Level::AesNi | Level::Avx2 | Level::ArmAes) => 6,
            _ => self.primitive.lanes(level),
        }
    }

    /// The number of bytes of which the length of data must be a multiple.
    #[must_use]
    pub const fn granularity(self) -> usize {
        match self.mode {
            Mode::Cbc | Mode::Ecb => self.primitive.block_size(),
            // XTS has no padding either: the rest of an incomplete last block is taken from the
            // block before (ciphertext stealing).
            _ => 1,
        }
    }

    /// Whether this is a keystream with which data is XORed.
    #[must_use]
    pub const fn is_stream(self) -> bool {
        self.mac.is_none() && matches!(self.mode, Mode::Ctr | Mode::Djb | Mode::Ietf | Mode::Stream)
    }

    /// Whether it authenticates. [`Cipher`](crate::Cipher) takes algorithms that do,
    /// [`hazmat`](crate::hazmat) the others.
    #[must_use]
    pub const fn is_aead(self) -> bool {
        self.mac.is_some() || self.aead().is_some()
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

    /// The level from which on it does. The hashes of a code use more, and so do the blocks that
    /// SIV encrypts.
    pub(crate) const fn shallow_from(self) -> Option<Level> {
        match self.mode {
            _ if self.mac.is_some() => None,
            Mode::Siv => None,
            _ => self.primitive.shallow_from(),
        }
    }

    /// Whether a nonce must be unpredictable before the message is written, so that it has to be
    /// random: CBC with a code. A counter would do for all others that authenticate.
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
        f.write_str(self.name())
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
        let mut rows = ROWS.iter().copied().flatten();
        let row = rows.find(|row| row.name == name);
        row.map(|row| row.algorithm).ok_or(UnknownAlgorithm)
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
                // AES-GCM-SIV does not use AES at each of its levels.
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
