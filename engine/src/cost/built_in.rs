//! Figures measured beforehand, at each level of x86-64, on one processor of each maker.
//!
//! The ratios between the kernels of a level are much the same on other processors of that maker.

mod amd;
mod intel;

use lanecrypt_ciphers::Level;

use super::figures::Figures;

/// The maker of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    Amd,
    /// Intel, and all other makers.
    Intel,
}

impl Maker {
    /// The maker of this processor.
    pub(crate) fn of_processor() -> Self {
        // AMD made this extension and no other maker adopted it.
        #[cfg(all(feature = "std", any(target_arch = "x86", target_arch = "x86_64")))]
        let is_amd = std::is_x86_feature_detected!("sse4a");
        #[cfg(not(all(feature = "std", any(target_arch = "x86", target_arch = "x86_64"))))]
        let is_amd = cfg!(target_feature = "sse4a");
        if is_amd { Self::Amd } else { Self::Intel }
    }
}

/// The figures of a level.
pub(crate) fn at(level: Level, maker: Maker) -> &'static Figures {
    macro_rules! of {
        ($maker:ident) => {
            match level {
                Level::Avx512 => &$maker::AVX512,
                Level::Avx2Vaes => &$maker::AVX2VAES,
                Level::Avx2 => &$maker::AVX2,
                Level::AesNi => &$maker::AESNI,
                Level::Ssse3 => &$maker::SSSE3,
                _ => &$maker::PORTABLE,
            }
        };
    }
    match maker {
        Maker::Amd => of!(amd),
        Maker::Intel => of!(intel),
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_ciphers::lanes::Lengths;

    use super::*;
    use crate::cost::figures::lengths;

    /// Higher levels have lanes wherever lower ones do, and every level with AES instructions has
    /// lanes for AES, whatever the processor.
    #[test]
    fn chains_go_side_by_side_from_some_length_on() {
        for maker in [Maker::Amd, Maker::Intel] {
            for level in [Level::AesNi, Level::Avx2, Level::Avx2Vaes, Level::Avx512] {
                // AES-128, 192, 256 and Serpent.
                for kind in &at(level, maker).0[..4] {
                    for lengths in &lengths(kind)[2..] {
                        assert_ne!(*lengths, Lengths::NONE, "{level}");
                        assert_eq!(lengths.longest, u32::MAX, "{level}");
                    }
                }
            }
        }
    }
}
