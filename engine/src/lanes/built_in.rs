//! The built-in ranges, measured on one processor of each maker: AMD EPYC (Zen 4) and Intel Xeon
//! (Ice Lake or later); AEGIS only on AMD EPYC (Zen 3). They depend on the ratios between the
//! kernels of a level, which are similar on other processors of that maker.

use Level::{AesNi, Avx2, Avx2Vaes, Avx512, Portable, Ssse3};
use lanecrypt_ciphers::Level;
use lanecrypt_ciphers::lanes::Lengths;

use super::AtDepths;
use super::LaneKind::{
    self, Aegis128L, Aegis256, Aes128Cbc, Aes128GcmSiv, Aes192Cbc, Aes256Cbc, Aes256GcmSiv,
    CbcHmacSha1, CbcHmacSha256, CbcHmacSha384, ChaCha8, ChaCha12, ChaCha20, ChaCha20Poly1305,
    DesCbc, HmacSha1, HmacSha256, Salsa8, Salsa12, Salsa20, SerpentCbc, TripleDesCbc,
    XChaCha20Poly1305,
};

/// The maker of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    Amd,
    /// Intel, and all other makers.
    Intel,
}

impl Maker {
    /// The maker of this processor.
    pub(super) fn of_processor() -> Self {
        if lanecrypt_kernels::is_amd() { Self::Amd } else { Self::Intel }
    }
}

/// The kinds that have lanes at a level, with the lengths at which these are faster. Levels of
/// AArch64 have the lanes of portable kernels.
pub(super) fn at(level: Level, maker: Maker) -> impl Iterator<Item = (LaneKind, AtDepths)> {
    let is_measured = matches!(level, Ssse3 | AesNi | Avx2 | Avx2Vaes | Avx512);
    let level = if is_measured { level } else { Portable };
    let own = match maker {
        Maker::Amd => AMD,
        Maker::Intel => INTEL,
    };
    let rows = BOTH.iter().chain(own).filter(move |(_, levels, _)| levels.contains(&level));
    rows.flat_map(|&(kinds, _, lengths)| kinds.iter().map(move |&kind| (kind, lengths)))
}

/// Kinds, levels, and lengths in batches of 2, 4, 8, 16 and 64 or more messages.
type Row = (&'static [LaneKind], &'static [Level], AtDepths);

const NO: Lengths = Lengths::NONE;
const ALL: Lengths = Lengths::ALL;

const fn from(shortest: u32) -> Lengths {
    Lengths { shortest, longest: u32::MAX }
}

const fn to(longest: u32) -> Lengths {
    between(1, longest)
}

const fn between(shortest: u32, longest: u32) -> Lengths {
    Lengths { shortest, longest }
}

/// The same with processors of both makers.
#[rustfmt::skip]
const BOTH: &[Row] = &[
    (&[Aes128Cbc, Aes192Cbc, Aes256Cbc], &[AesNi, Avx2, Avx2Vaes, Avx512],
        [from(512), from(256), from(128), from(128), from(128)]),
    (&[SerpentCbc], &[Avx512], [from(64), ALL, ALL, ALL, ALL]),
    (&[ChaCha20], &[Ssse3, AesNi], [NO, to(64), to(64), to(64), to(64)]),
    (&[ChaCha20], &[Avx2, Avx2Vaes, Avx512], [NO, to(128), to(128), to(128), to(128)]),
    (&[Salsa20], &[Avx2, Avx2Vaes], [NO, to(128), to(128), to(128), to(128)]),
    (&[XChaCha20Poly1305], &[Avx512], [NO, NO, to(256), ALL, ALL]),
    (&[TripleDesCbc], &[Portable, Ssse3, AesNi, Avx2, Avx2Vaes, Avx512], [ALL, ALL, ALL, ALL, ALL]),
    (&[CbcHmacSha1], &[AesNi, Avx2, Avx512], [NO, from(512), from(256), from(256), from(256)]),
    (&[CbcHmacSha1], &[Avx2Vaes], [between(512, 512), from(512), from(256), from(256), from(512)]),
    (&[CbcHmacSha256], &[AesNi], [NO, from(512), from(256), from(256), from(256)]),
    (&[CbcHmacSha256], &[Avx2], [NO, from(256), from(256), from(256), from(256)]),
    (&[CbcHmacSha256], &[Avx2Vaes], [from(1024), from(256), from(256), from(256), from(256)]),
    (&[CbcHmacSha256], &[Avx512], [from(1024), from(256), from(256), from(256), from(128)]),
    (&[CbcHmacSha384], &[AesNi, Avx2], [NO, from(1024), from(1024), from(1024), from(1024)]),
    (&[CbcHmacSha384], &[Avx2Vaes, Avx512], [NO, from(1024), from(1024), from(512), from(512)]),
    (&[HmacSha1, HmacSha256], &[AesNi, Avx2, Avx2Vaes, Avx512],
        [from(512), from(512), from(512), from(512), from(512)]),
    (&[Aes128GcmSiv], &[Avx512], [to(64), ALL, ALL, ALL, ALL]),
    (&[Aes256GcmSiv], &[Avx512], [to(256), ALL, ALL, ALL, ALL]),
];

/// With processors of AMD.
#[rustfmt::skip]
const AMD: &[Row] = &[
    // Zen 3.
    (&[Aegis128L], &[Avx2Vaes], [NO, from(1024), from(1024), from(1024), from(512)]),
    (&[Aegis256], &[Avx2Vaes], [from(1024), from(1024), from(512), from(512), from(256)]),
    (&[SerpentCbc], &[Ssse3, AesNi], [from(64), ALL, ALL, ALL, ALL]),
    (&[SerpentCbc], &[Avx2, Avx2Vaes], [from(128), ALL, ALL, ALL, ALL]),
    (&[ChaCha8, Salsa8], &[Avx2, Avx2Vaes],
        [NO, NO, between(64, 64), between(64, 64), between(64, 64)]),
    (&[ChaCha8], &[Avx512], [NO, NO, NO, to(64), to(64)]),
    (&[ChaCha12], &[Avx2, Avx2Vaes], [NO, between(64, 64), to(64), to(64), to(64)]),
    (&[ChaCha12, Salsa8], &[Avx512], [NO, NO, to(64), to(64), to(64)]),
    (&[Salsa12], &[Avx2, Avx2Vaes], [NO, NO, to(64), to(64), to(64)]),
    (&[Salsa12], &[Avx512], [NO, to(64), to(128), to(128), to(128)]),
    (&[Salsa20], &[Ssse3, AesNi], [NO, to(64), to(64), to(64), to(64)]),
    (&[Salsa20], &[Avx512], [NO, to(256), to(256), to(256), to(256)]),
    (&[ChaCha20Poly1305], &[Avx2], [NO, NO, to(64), to(64), to(64)]),
    (&[ChaCha20Poly1305], &[Avx2Vaes], [NO, NO, between(64, 64), to(64), to(64)]),
    (&[ChaCha20Poly1305], &[Avx512], [NO, NO, to(256), to(256), to(256)]),
    (&[XChaCha20Poly1305], &[Avx2, Avx2Vaes], [NO, NO, to(64), to(128), to(128)]),
    (&[DesCbc], &[Portable, Ssse3, AesNi, Avx2, Avx2Vaes, Avx512], [from(64), ALL, ALL, ALL, ALL]),
];

/// With processors of all other makers.
#[rustfmt::skip]
const INTEL: &[Row] = &[
    (&[SerpentCbc], &[Ssse3, AesNi], [from(128), ALL, ALL, ALL, ALL]),
    (&[SerpentCbc], &[Avx2, Avx2Vaes], [from(256), ALL, ALL, ALL, ALL]),
    (&[ChaCha8], &[Avx2, Avx2Vaes], [NO, between(64, 64), to(64), to(64), to(64)]),
    (&[ChaCha8], &[Avx512], [NO, NO, to(64), to(64), to(64)]),
    (&[ChaCha12, Salsa8, Salsa12], &[Ssse3, AesNi], [NO, to(64), to(64), to(64), to(64)]),
    (&[ChaCha12], &[Avx2, Avx2Vaes], [NO, to(128), to(128), to(128), to(128)]),
    (&[ChaCha12, Salsa8], &[Avx512], [NO, to(64), to(128), to(128), to(128)]),
    (&[Salsa8], &[Avx2], [NO, between(64, 128), to(128), to(64), to(128)]),
    (&[Salsa8], &[Avx2Vaes], [NO, between(64, 128), to(128), to(128), to(128)]),
    (&[Salsa12], &[Avx2, Avx2Vaes, Avx512], [NO, to(128), to(128), to(128), to(128)]),
    (&[Salsa20], &[Ssse3, AesNi, Avx512], [NO, to(128), to(128), to(128), to(128)]),
    (&[ChaCha20Poly1305], &[Avx2, Avx2Vaes], [NO, to(64), to(128), to(128), to(128)]),
    (&[ChaCha20Poly1305], &[Avx512], [NO, to(64), to(256), to(256), to(256)]),
    (&[XChaCha20Poly1305], &[Ssse3, AesNi], [NO, NO, NO, to(64), to(64)]),
    (&[XChaCha20Poly1305], &[Avx2, Avx2Vaes], [NO, NO, to(128), to(128), to(128)]),
    (&[DesCbc], &[Portable, Ssse3, AesNi, Avx2, Avx2Vaes, Avx512], [ALL, ALL, ALL, ALL, ALL]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// With AES instructions, AES and Serpent in CBC mode run in lanes from some length on,
    /// whatever the processor.
    #[test]
    fn chains_run_in_lanes_from_some_length_on() {
        for maker in [Maker::Amd, Maker::Intel] {
            for level in [AesNi, Avx2, Avx2Vaes, Avx512] {
                for wanted in [Aes128Cbc, Aes192Cbc, Aes256Cbc, SerpentCbc] {
                    let found = at(level, maker).find(|(kind, _)| *kind == wanted);
                    let (_, lengths) = found.expect("it has lanes");
                    assert!(lengths[2..].iter().all(|it| it.longest == u32::MAX), "{level}");
                }
            }
        }
    }

    /// Each kind has one row at a level, and none where it has no lanes.
    #[test]
    fn rows_are_consistent() {
        for maker in [Maker::Amd, Maker::Intel] {
            for &level in Level::built() {
                let mut seen = [false; LaneKind::COUNT];
                for (kind, lengths) in at(level, maker) {
                    assert!(level.includes(kind.lowest_level()), "{kind:?} at {level}");
                    let seen = core::mem::replace(&mut seen[kind as usize], true);
                    assert!(!seen, "{kind:?} twice at {level}");
                    let is_range = |it: &Lengths| *it == NO || it.shortest <= it.longest;
                    assert!(lengths.iter().all(is_range), "{kind:?}");
                }
            }
        }
    }
}
