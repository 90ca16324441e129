//! Figures that were measured beforehand, at each level of x86-64.
//!
//! On the machine of the README's tables (Intel Xeon, about 3.6 GHz), capped at each level. How the
//! kernels of a level compare with one another is much the same on others.

mod figures;

use lanecrypt_ciphers::Level;

use super::figures::Figures;

/// Those of a level.
pub(super) fn at(level: Level) -> &'static Figures {
    match level {
        Level::Avx512 => &figures::AVX512,
        Level::Avx2Vaes => &figures::AVX2VAES,
        Level::Avx2 => &figures::AVX2,
        Level::AesNi => &figures::AESNI,
        Level::Ssse3 => &figures::SSSE3,
        _ => &figures::PORTABLE,
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_ciphers::lanes::Lengths;

    use super::*;
    use crate::cost::figures::lengths;

    /// Higher levels have lanes wherever lower ones do, and all with AES instructions have them for
    /// AES: that much does not depend on the processor.
    #[test]
    fn chains_go_side_by_side_from_some_length_on() {
        for level in [Level::AesNi, Level::Avx2, Level::Avx2Vaes, Level::Avx512] {
            // AES-128, 192, 256 and Serpent.
            for row in &at(level).lanes[..4] {
                for lengths in &lengths(row)[2..] {
                    assert_ne!(*lengths, Lengths::NONE, "{level}");
                    assert_eq!(lengths.longest, u32::MAX, "{level}");
                }
            }
        }
    }
}
