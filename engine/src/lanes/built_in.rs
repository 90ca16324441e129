//! The built-in ranges: those at which lanes were faster on processors of AMD (Zen 3, Zen 4) and of
//! Intel (Ice Lake, Sapphire Rapids). Ranges that gained on some of them only are left to
//! measurement.

use Level::{AesNi, Avx2, Avx2Vaes, Avx512, Portable, Ssse3};
use lanecrypt_ciphers::Level;
use lanecrypt_ciphers::lanes::Lengths;

use super::LaneKind::{
    self, Aes128Cbc, Aes128GcmSiv, Aes192Cbc, Aes256Cbc, Aes256GcmSiv, CbcHmacSha1, CbcHmacSha256,
    CbcHmacSha384, ChaCha12, ChaCha20, ChaCha20Poly1305, DesCbc, HmacSha1, HmacSha256, Salsa8,
    Salsa12, Salsa20, SerpentCbc, TripleDesCbc, XChaCha20Poly1305,
};
use super::{AtDepths, DEPTHS, Table};

/// The lengths at which lanes are faster at a level. Levels of AArch64 have the lanes of portable
/// kernels.
pub(super) fn at(level: Level) -> &'static Table {
    match level {
        Ssse3 => const { &table(Ssse3) },
        AesNi => const { &table(AesNi) },
        Avx2 => const { &table(Avx2) },
        Avx2Vaes => const { &table(Avx2Vaes) },
        Avx512 => const { &table(Avx512) },
        _ => const { &table(Portable) },
    }
}

/// The rows of a level.
const fn table(level: Level) -> Table {
    let mut table = [[NO; DEPTHS.len()]; LaneKind::COUNT];
    let mut rows = ROWS;
    while let [(kinds, levels, lengths), rest @ ..] = rows {
        rows = rest;
        if has(levels, level) {
            let mut at = 0;
            while at < kinds.len() {
                table[kinds[at] as usize] = *lengths;
                at += 1;
            }
        }
    }
    table
}

const fn has(levels: &[Level], level: Level) -> bool {
    let mut at = 0;
    while at < levels.len() {
        if levels[at] as u8 == level as u8 {
            return true;
        }
        at += 1;
    }
    false
}

/// Kinds, levels, and lengths in batches of 2, 4, 8, 16 and 64 or more messages.
type Row = (&'static [LaneKind], &'static [Level], AtDepths);

const NO: Lengths = Lengths::NONE;
const ALL: Lengths = Lengths::ALL;

const fn from(shortest: u32) -> Lengths {
    Lengths { shortest, longest: u32::MAX }
}

const fn to(longest: u32) -> Lengths {
    Lengths { shortest: 1, longest }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (&[Aes128Cbc, Aes192Cbc, Aes256Cbc], &[AesNi, Avx2, Avx2Vaes, Avx512],
        [from(512), from(512), from(256), from(256), from(256)]),
    (&[SerpentCbc], &[Ssse3, AesNi, Avx2, Avx2Vaes], [from(256), ALL, ALL, ALL, ALL]),
    (&[SerpentCbc], &[Avx512], [from(64), from(64), ALL, ALL, ALL]),
    (&[ChaCha12, Salsa12], &[Avx2, Avx2Vaes, Avx512], [NO, NO, to(64), to(64), to(64)]),
    (&[Salsa8], &[Avx512], [NO, NO, NO, to(64), to(64)]),
    (&[ChaCha20, Salsa20], &[Ssse3, AesNi], [NO, NO, to(64), to(64), to(64)]),
    (&[ChaCha20, Salsa20], &[Avx2, Avx2Vaes, Avx512], [NO, NO, to(128), to(128), to(128)]),
    (&[ChaCha20Poly1305], &[Avx512], [NO, NO, to(64), to(256), to(256)]),
    (&[XChaCha20Poly1305], &[Avx2, Avx2Vaes], [NO, NO, NO, to(128), to(128)]),
    (&[XChaCha20Poly1305], &[Avx512], [NO, NO, to(256), ALL, ALL]),
    (&[DesCbc], &[Portable, Ssse3, AesNi, Avx2, Avx2Vaes, Avx512],
        [from(64), from(64), from(64), from(64), from(64)]),
    (&[TripleDesCbc], &[Portable, Ssse3, AesNi, Avx2, Avx2Vaes, Avx512], [NO, NO, NO, NO, ALL]),
    (&[CbcHmacSha1, CbcHmacSha256], &[AesNi, Avx2, Avx2Vaes, Avx512],
        [NO, NO, from(1024), from(512), from(512)]),
    (&[CbcHmacSha384], &[Avx2Vaes, Avx512], [NO, NO, from(1024), from(1024), from(1024)]),
    (&[HmacSha1, HmacSha256], &[AesNi, Avx2, Avx2Vaes, Avx512],
        [from(1024), from(1024), from(1024), from(1024), from(1024)]),
    (&[Aes128GcmSiv, Aes256GcmSiv], &[Avx512], [NO, NO, to(256), to(256), to(256)]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// With AES instructions, AES and Serpent in CBC mode run in lanes from some length on.
    #[test]
    fn chains_run_in_lanes_from_some_length_on() {
        for level in [AesNi, Avx2, Avx2Vaes, Avx512] {
            for kind in [Aes128Cbc, Aes192Cbc, Aes256Cbc, SerpentCbc] {
                let lengths = at(level)[kind as usize];
                assert!(lengths[2..].iter().all(|it| it.longest == u32::MAX), "{level}");
            }
        }
    }

    /// Each kind has one row at a level, and none where it has no lanes.
    #[test]
    fn rows_are_consistent() {
        for &level in Level::built() {
            let mut seen = [false; LaneKind::COUNT];
            for (kinds, _, lengths) in ROWS.iter().filter(|(_, levels, _)| has(levels, level)) {
                for &kind in *kinds {
                    assert!(level.includes(kind.lowest_level()), "{kind:?} at {level}");
                    let seen = core::mem::replace(&mut seen[kind as usize], true);
                    assert!(!seen, "{kind:?} twice at {level}");
                    let is_range = |it: &Lengths| *it == NO || it.shortest <= it.longest;
                    assert!(lengths.iter().all(is_range), "{kind:?}");
                    assert_eq!(at(level)[kind as usize], *lengths);
                }
            }
        }
    }
}
