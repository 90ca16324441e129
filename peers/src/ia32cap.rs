//! The variable by which OpenSSL and AWS-LC are held to a level of instruction sets.
//!
//! `OPENSSL_ia32cap` has numbers of 64 bits, with colons between them. The first stands for EDX
//! and, in its upper half, ECX of CPUID leaf 1; the second for EBX and ECX of leaf 7. A tilde
//! before a number clears these bits of what the processor says. OpenSSL 3.5 and later have three
//! more, for subleaves and AVX10. They count as zero if they are not given.

use lanecrypt_kernels::Level;

use crate::project::{Hold, Variable};

/// How a library that reads the variable is held.
pub(crate) fn hold(level: Level) -> Hold {
    match cleared(level) {
        Some(_) => Hold::By(Variable { name: "OPENSSL_ia32cap", value }),
        None => Hold::No,
    }
}

/// The bits of leaf 1 and of leaf 7 that are above a level of x86-64. SHA, RDRAND and the like
/// belong to no level and stay.
fn cleared(level: Level) -> Option<[u64; 2]> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    // Each level's own bits: what it adds to the one below.
    let own: [(Level, &[u32], &[u32]); 5] = [
        // The AVX-512 of EBX, then VBMI, VBMI2, GFNI, VNNI, BITALG and VPOPCNTDQ.
        (
            Level::Avx512,
            &[],
            &[16, 17, 21, 26, 27, 28, 30, 31, 32 + 1, 32 + 6, 32 + 8, 32 + 11, 32 + 12, 32 + 14],
        ),
        // VAES, VPCLMULQDQ.
        (Level::Avx2Vaes, &[], &[32 + 9, 32 + 10]),
        // XOP (a reserved bit, which stands for it), FMA, AVX; BMI1, AVX2, BMI2, ADX.
        (Level::Avx2, &[32 + 11, 32 + 12, 32 + 28], &[3, 5, 8, 19]),
        // PCLMULQDQ, SSE4.1, SSE4.2, MOVBE, AES.
        (Level::AesNi, &[32 + 1, 32 + 19, 32 + 20, 32 + 22, 32 + 25], &[]),
        (Level::Ssse3, &[32 + 9], &[]),
    ];
    let bits = |all: &[u32]| all.iter().fold(0, |mask, bit| mask | 1 << bit);
    let above = own.iter().filter(|(of, ..)| !level.includes(*of));
    Some(above.fold([0; 2], |[one, seven], (_, of_one, of_seven)| {
        [one | bits(of_one), seven | bits(of_seven)]
    }))
}

/// The value that clears what is above `level`, and what `present` clears.
fn value(level: Level, present: Option<&str>) -> Result<String, String> {
    let mut words = cleared(level).unwrap_or_default();
    let mut present = present.unwrap_or_default().split(':');
    for (word, text) in words.iter_mut().zip(present.by_ref()) {
        *word |= mask(text).ok_or_else(|| {
            format!("a level combines only with masks such as ~0x200000000, not with {text:?}")
        })?;
    }
    // Further words are left out, so that all of their bits are zero.
    Ok(words.map(|word| format!("~{word:#x}")).join(":"))
}

/// The bits that a word clears; an empty one clears none.
fn mask(text: &str) -> Option<u64> {
    if text.is_empty() {
        return Some(0);
    }
    let number = text.strip_prefix('~')?;
    match number.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok(),
        // OpenSSL takes other numbers that begin with zero for octal ones, AWS-LC does not.
        None if number.starts_with('0') && number != "0" => None,
        None => number.parse().ok(),
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn each_level_clears_what_is_above() {
        let at = |level| value(level, None).expect("there is nothing to combine with");
        assert_eq!(at(Level::Avx512), "~0x0:~0x0");
        assert_eq!(at(Level::Avx2Vaes), "~0x0:~0x5942dc230000");
        assert_eq!(at(Level::Avx2), "~0x0:~0x5f42dc230000");
        assert_eq!(at(Level::AesNi), "~0x1000180000000000:~0x5f42dc2b0128");
        assert_eq!(at(Level::Ssse3), "~0x1258180200000000:~0x5f42dc2b0128");
        assert_eq!(at(Level::Portable), "~0x12581a0200000000:~0x5f42dc2b0128");
    }

    #[test]
    fn masks_of_the_user_stay() {
        let at = |text| value(Level::Avx512, Some(text));
        assert_eq!(at(""), Ok("~0x0:~0x0".into()));
        assert_eq!(at(":~0x20"), Ok("~0x0:~0x20".into()));
        assert_eq!(at("~16"), Ok("~0x10:~0x0".into()));
        assert_eq!(at("~0x1:~0:~0x7:0"), Ok("~0x1:~0x0".into()), "later words are zero anyway");
        assert_eq!(value(Level::Avx2Vaes, Some(":~0x20")), Ok("~0x0:~0x5942dc230020".into()));
        for other in ["0x1", "|1", "~", "~x", "~010", ":0", "~0x1 ", "~0x10000000000000000"] {
            assert!(at(other).is_err(), "{other}");
        }
    }
}
