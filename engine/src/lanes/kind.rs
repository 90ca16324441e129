//! The kinds of messages that have lanes.

#[cfg(any(feature = "std", test))]
use lanecrypt_ciphers::Level;
use lanecrypt_ciphers::{Algorithm, Mac, Mode, Primitive, typed};

use crate::Operation;
use crate::class::Class;

/// Defines the type, with a kind for each cipher with authentication that has its own lanes.
macro_rules! kinds {
    ($([$lanes:ident] $aead:ident)+) => {
/// Messages that run in lanes by the same kernels. A kind does not depend on the lengths of keys or
/// on nonces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum LaneKind {
    Aes128Cbc,
    Aes192Cbc,
    Aes256Cbc,
    SerpentCbc,
    ChaCha8,
    ChaCha12,
    ChaCha20,
    Salsa8,
    Salsa12,
    Salsa20,
    DesCbc,
    TripleDesCbc,
    CbcHmacSha1,
    CbcHmacSha256,
    CbcHmacSha384,
    /// With a mode that has no lanes: two MACs are computed at a time.
    HmacSha1,
    HmacSha256,
    $($aead,)+
}

impl LaneKind {
    pub(crate) const COUNT: usize = [$(Self::$aead as usize,)+].len() + Self::HmacSha256 as usize + 1;

    /// The kind of a cipher with authentication that has its own lanes.
    const fn of_aead(algorithm: Algorithm) -> Option<Self> {
        $(if algorithm.is(typed::$aead::ALGORITHM) {
            return Some(Self::$aead);
        })+
        None
    }

    /// The lowest level at which it has lanes.
    #[cfg(any(feature = "std", test))]
    pub(crate) const fn lowest_level(self) -> Level {
        match self {
            $(Self::$aead => match typed::$aead::ALGORITHM.lanes_from() {
                Some(level) => level,
                None => unreachable!(),
            },)+
            // Bitsliced.
            Self::DesCbc | Self::TripleDesCbc => Level::Portable,
            Self::ChaCha8
            | Self::ChaCha12
            | Self::ChaCha20
            | Self::Salsa8
            | Self::Salsa12
            | Self::Salsa20 => LOWEST_WITH_VECTORS,
            Self::SerpentCbc => Level::Ssse3,
            // With AES instructions.
            Self::Aes128Cbc
            | Self::Aes192Cbc
            | Self::Aes256Cbc
            | Self::CbcHmacSha1
            | Self::CbcHmacSha256
            | Self::CbcHmacSha384
            | Self::HmacSha1
            | Self::HmacSha256 => LOWEST_WITH_AES,
        }
    }
}
    };
}

lanecrypt_ciphers::ciphers_with_lanes!(kinds!);

/// The lowest level of this architecture with vector registers.
#[cfg(any(feature = "std", test))]
const LOWEST_WITH_VECTORS: Level =
    if cfg!(target_arch = "aarch64") { Level::Neon } else { Level::Ssse3 };

/// The lowest level of this architecture with AES instructions.
#[cfg(any(feature = "std", test))]
const LOWEST_WITH_AES: Level =
    if cfg!(target_arch = "aarch64") { Level::ArmAes } else { Level::AesNi };

/// In place of a kind: messages that this processor serves without lanes.
pub(super) const ALONE: u8 = 254;
/// In place of a kind: requests of asymmetric keys that this processor serves, which wait for each
/// other.
#[cfg(feature = "_asymmetric")]
pub(super) const TOGETHER: u8 = 253;
/// In place of a kind: messages of other drivers.
pub(super) const ELSEWHERE: u8 = 255;

/// The kind of each class.
pub(super) static OF_CLASS: [u8; Class::COUNT] = {
    // Classes without an algorithm are those of sessions that have no such operation, of other
    // drivers, and of asymmetric keys.
    let mut kinds = [ALONE; Class::COUNT];
    let mut at = Class::ELSEWHERE.number();
    while at < Class::COUNT {
        kinds[at] = ELSEWHERE;
        at += 1;
    }
    at = 0;
    while at < Algorithm::ALL.len() {
        let mut operation = 0;
        while operation < Operation::OF_CIPHERS.len() {
            let kind = LaneKind::of(Algorithm::ALL[at], Operation::OF_CIPHERS[operation]);
            kinds[at << 2 | operation] = match kind {
                Some(kind) => kind as u8,
                None => ALONE,
            };
            operation += 1;
        }
        at += 1;
    }
    kinds
};

impl LaneKind {
    /// One algorithm for each kind; its measurement counts for the whole kind.
    #[cfg(feature = "std")]
    pub(crate) fn measured() -> impl Iterator<Item = (Self, Algorithm)> {
        let mut seen = [false; Self::COUNT];
        Algorithm::ALL.iter().filter_map(move |&algorithm| {
            let kind = [Operation::Encrypt, Operation::Seal]
                .into_iter()
                .find_map(|operation| Self::of(algorithm, operation))?;
            let seen = core::mem::replace(&mut seen[kind as usize], true);
            (!seen).then_some((kind, algorithm))
        })
    }

    /// The kind of an algorithm and operation.
    const fn of(algorithm: Algorithm, operation: Operation) -> Option<Self> {
        use Operation::{Decrypt, Encrypt, Open, Seal};

        let mode = algorithm.mode();
        Some(match (algorithm.mac(), algorithm.primitive(), mode, operation) {
            (Some(Mac::HmacSha1), _, Mode::Cbc, Seal) => Self::CbcHmacSha1,
            (Some(Mac::HmacSha256), _, Mode::Cbc, Seal) => Self::CbcHmacSha256,
            (Some(Mac::HmacSha384), _, Mode::Cbc, Seal) => Self::CbcHmacSha384,
            (Some(Mac::HmacSha1), _, _, Seal | Open) => Self::HmacSha1,
            (Some(Mac::HmacSha256), _, _, Seal | Open) => Self::HmacSha256,
            (Some(_), ..) => return None,
            (_, Primitive::Aes128, Mode::Cbc, Encrypt) => Self::Aes128Cbc,
            (_, Primitive::Aes192, Mode::Cbc, Encrypt) => Self::Aes192Cbc,
            (_, Primitive::Aes256, Mode::Cbc, Encrypt) => Self::Aes256Cbc,
            (_, Primitive::ChaCha8, _, Encrypt | Decrypt) => Self::ChaCha8,
            (_, Primitive::ChaCha12, _, Encrypt | Decrypt) => Self::ChaCha12,
            (_, Primitive::ChaCha20, Mode::Djb | Mode::Ietf, Encrypt | Decrypt) => Self::ChaCha20,
            (_, _, _, Seal | Open) => return Self::of_aead(algorithm),
            #[cfg(feature = "legacy")]
            (_, primitive, mode, operation) => return Self::of_old(primitive, mode, operation),
            #[cfg(not(feature = "legacy"))]
            _ => return None,
        })
    }

    /// The kind of an old cipher.
    #[cfg(feature = "legacy")]
    const fn of_old(primitive: Primitive, mode: Mode, operation: Operation) -> Option<Self> {
        use Operation::{Decrypt, Encrypt};
        use Primitive::{Serpent128, Serpent192, Serpent256};

        Some(match (primitive, mode, operation) {
            (Serpent128 | Serpent192 | Serpent256, Mode::Cbc, Encrypt) => Self::SerpentCbc,
            (Primitive::Salsa8, _, Encrypt | Decrypt) => Self::Salsa8,
            (Primitive::Salsa12, _, Encrypt | Decrypt) => Self::Salsa12,
            (Primitive::Salsa20, _, Encrypt | Decrypt) => Self::Salsa20,
            (Primitive::Des, Mode::Cbc, Encrypt) => Self::DesCbc,
            (Primitive::TripleDes, Mode::Cbc, Encrypt) => Self::TripleDesCbc,
            _ => return None,
        })
    }
}
