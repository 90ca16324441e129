//! The kinds of messages that have lanes.

use lanecrypt_ciphers::{Algorithm, Level, Mac, Mode, Primitive};

use crate::Operation;
use crate::class::Class;

/// The number of kinds.
pub(crate) const ROWS: usize = 21;

/// Stands for a kind: messages that this processor serves without lanes.
pub(crate) const ALONE: u8 = 254;
/// Stands for a kind: signatures that this processor makes or checks, which wait for each other.
#[cfg(feature = "rsa")]
pub(crate) const TOGETHER: u8 = 253;
/// Stands for a kind: messages of other drivers.
pub(crate) const ELSEWHERE: u8 = 255;

/// The kind of each class.
pub(crate) static ROW_OF: [u8; Class::COUNT] = {
    // Classes without an algorithm are those of sessions that have no such operation, of other
    // drivers, and of signatures.
    let mut rows = [ALONE; Class::COUNT];
    let mut at = Class::ELSEWHERE.number();
    while at < Class::COUNT {
        rows[at] = ELSEWHERE;
        at += 1;
    }
    at = 0;
    while at < Algorithm::ALL.len() {
        let mut operation = 0;
        while operation < Operation::OF_CIPHERS.len() {
            let row = row(Algorithm::ALL[at], Operation::OF_CIPHERS[operation]);
            rows[at << 2 | operation] = match row {
                Some(row) => row,
                None => ALONE,
            };
            operation += 1;
        }
        at += 1;
    }
    rows
};

/// One algorithm for each kind; its measurement counts for the whole kind.
pub(crate) fn measured() -> impl Iterator<Item = (usize, Algorithm)> {
    (0..ROWS).filter_map(|wanted| {
        let is_wanted = |&&algorithm: &&Algorithm| {
            [Operation::Encrypt, Operation::Seal]
                .iter()
                .any(|&operation| row(algorithm, operation).map(usize::from) == Some(wanted))
        };
        Some((wanted, *Algorithm::ALL.iter().find(is_wanted)?))
    })
}

/// The lowest level at which messages of a kind run in lanes.
pub(crate) const fn lowest(row: usize) -> Level {
    match row {
        // AES, with AES instructions.
        0..3 => Level::AesNi,
        // DES and triple DES, bitsliced.
        12..14 => Level::Portable,
        // With a code, and AES instructions.
        14..19 => Level::AesNi,
        // AES-GCM-SIV.
        19.. => Level::Avx512,
        _ => Level::Ssse3,
    }
}

/// The kind of an algorithm and operation. Key length and nonce setup make no difference within a
/// kind.
const fn row(algorithm: Algorithm, operation: Operation) -> Option<u8> {
    if let Some(mac) = algorithm.mac() {
        return chained_row(algorithm.mode(), mac, operation);
    }
    Some(match (algorithm.primitive(), algorithm.mode(), operation) {
        (Primitive::Aes128, Mode::Cbc, Operation::Encrypt) => 0,
        (Primitive::Aes192, Mode::Cbc, Operation::Encrypt) => 1,
        (Primitive::Aes256, Mode::Cbc, Operation::Encrypt) => 2,
        (
            Primitive::Serpent128 | Primitive::Serpent192 | Primitive::Serpent256,
            Mode::Cbc,
            Operation::Encrypt,
        ) => 3,
        (Primitive::ChaCha8, _, Operation::Encrypt | Operation::Decrypt) => 4,
        (Primitive::ChaCha12, _, Operation::Encrypt | Operation::Decrypt) => 5,
        (Primitive::ChaCha20, Mode::Djb | Mode::Ietf, Operation::Encrypt | Operation::Decrypt) => 6,
        (Primitive::Salsa8, _, Operation::Encrypt | Operation::Decrypt) => 7,
        (Primitive::Salsa12, _, Operation::Encrypt | Operation::Decrypt) => 8,
        (Primitive::Salsa20, _, Operation::Encrypt | Operation::Decrypt) => 9,
        (Primitive::ChaCha20, Mode::Poly1305, Operation::Seal | Operation::Open) => 10,
        (Primitive::XChaCha20, Mode::Poly1305, Operation::Seal | Operation::Open) => 11,
        (Primitive::Aes128, Mode::GcmSiv, Operation::Seal | Operation::Open) => 19,
        (Primitive::Aes256, Mode::GcmSiv, Operation::Seal | Operation::Open) => 20,
        #[cfg(feature = "legacy")]
        (Primitive::Des, Mode::Cbc, Operation::Encrypt) => 12,
        #[cfg(feature = "legacy")]
        (Primitive::TripleDes, Mode::Cbc, Operation::Encrypt) => 13,
        _ => return None,
    })
}

/// The kind of a cipher with a code. CBC encrypts in lanes; besides that, two codes are computed at
/// a time.
const fn chained_row(mode: Mode, mac: Mac, operation: Operation) -> Option<u8> {
    Some(match (mode, mac, operation) {
        (Mode::Cbc, Mac::HmacSha1, Operation::Seal) => 14,
        (Mode::Cbc, Mac::HmacSha256, Operation::Seal) => 15,
        (Mode::Cbc, Mac::HmacSha384, Operation::Seal) => 16,
        (_, Mac::HmacSha1, Operation::Seal | Operation::Open) => 17,
        (_, Mac::HmacSha256, Operation::Seal | Operation::Open) => 18,
        _ => return None,
    })
}
