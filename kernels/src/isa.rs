//! Instruction sets: a ladder of levels, a proof that the processor has a level, and the macro that
//! dispatches.

#[cfg(feature = "std")]
mod environment;

use core::fmt;
use core::str::FromStr;

/// A rung of the ladder of instruction sets that kernels are written for.
///
/// Each level includes all levels below it. If a processor lacks some instructions of a level, it
/// runs at the highest level below that one, even if it has all instructions of a higher one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Level {
    /// Plain Rust; on x86-64 the compiler may use SSE2.
    Portable = 0,
    /// SSSE3: byte shuffles.
    Ssse3 = 1,
    /// AES-NI, PCLMULQDQ and SSE4.1.
    AesNi = 2,
    /// AVX2 and BMI2.
    Avx2 = 3,
    /// VAES and VPCLMULQDQ on 256-bit registers.
    Avx2Vaes = 4,
    /// AVX-512 F, BW, DQ, VL, VBMI, VBMI2, IFMA, with GFNI (Ice Lake, Zen 4 and later).
    Avx512 = 5,
}

impl Level {
    /// Every level, lowest first.
    pub const ALL: [Self; 6] =
        [Self::Portable, Self::Ssse3, Self::AesNi, Self::Avx2, Self::Avx2Vaes, Self::Avx512];

    /// The name of the level in `LANECRYPT_ISA`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Ssse3 => "ssse3",
            Self::AesNi => "aesni",
            Self::Avx2 => "avx2",
            Self::Avx2Vaes => "avx2vaes",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this build has kernels of this level; its target and features decide.
    #[must_use]
    pub const fn is_built(self) -> bool {
        let x86 = cfg!(target_arch = "x86_64");
        match self {
            Self::Portable => true,
            Self::Ssse3 => x86 && cfg!(feature = "isa-ssse3"),
            Self::AesNi => x86,
            Self::Avx2 | Self::Avx2Vaes => x86 && cfg!(feature = "isa-avx2"),
            Self::Avx512 => x86 && cfg!(feature = "isa-avx512"),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A string that names no [`Level`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownLevel;

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown instruction set; known are ")?;
        for (i, level) in Level::ALL.iter().enumerate() {
            write!(f, "{}{level}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        Self::ALL.into_iter().find(|level| level.name() == name).ok_or(UnknownLevel)
    }
}

/// Proof that this processor has the instructions of a [`Level`].
///
/// Only detection makes one, and no method raises it above the level of the processor; so
/// dispatching on it is sound. One byte, without pointers: keyed states store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Isa(Level);

impl Isa {
    /// Plain Rust, which every processor runs.
    pub const PORTABLE: Self = Self(Level::Portable);

    /// The highest level of this processor, or the one that the environment variable
    /// `LANECRYPT_ISA` names if that is lower.
    ///
    /// The variable is read once, and can only lower the level. Linux and Android give the
    /// environment that the program was started with (`/proc/self/environ`); the variable is ignored
    /// in set-uid programs and without `/proc`. Windows gives the current one. Other systems have no
    /// safe way to read it. Without the feature `std`: what the program was compiled for.
    #[must_use]
    #[inline]
    pub fn detect() -> Self {
        #[cfg(feature = "std")]
        {
            cache::isas().0
        }
        #[cfg(not(feature = "std"))]
        {
            Self(compiled())
        }
    }

    /// The highest level of this processor, without regard to `LANECRYPT_ISA`.
    #[must_use]
    #[inline]
    pub fn of_processor() -> Self {
        #[cfg(feature = "std")]
        {
            cache::isas().1
        }
        #[cfg(not(feature = "std"))]
        {
            Self(compiled())
        }
    }

    /// This level or `level`, whichever is lower.
    #[must_use]
    #[inline]
    pub const fn at_most(self, level: Level) -> Self {
        if (level as u8) < (self.0 as u8) { Self(level) } else { self }
    }

    /// The level that this value proves.
    #[must_use]
    #[inline]
    pub const fn level(self) -> Level {
        self.0
    }

    /// Whether kernels of `level` may run.
    #[must_use]
    #[inline]
    pub const fn has(self, level: Level) -> bool {
        self.0 as u8 >= level as u8
    }
}

/// The highest level up to which `rungs`, the levels above the portable one, are all true.
#[cfg(target_arch = "x86_64")]
fn climb(rungs: [bool; 5]) -> Level {
    let complete = rungs.iter().take_while(|&&has| has).count();
    Level::ALL[complete]
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
fn detected() -> Level {
    use std::arch::is_x86_feature_detected as has;
    climb([
        has!("ssse3"),
        has!("aes") && has!("pclmulqdq") && has!("sse4.1"),
        has!("avx2") && has!("bmi2"),
        has!("vaes") && has!("vpclmulqdq"),
        has!("avx512f")
            && has!("avx512bw")
            && has!("avx512dq")
            && has!("avx512vl")
            && has!("avx512vbmi")
            && has!("avx512vbmi2")
            && has!("avx512ifma")
            && has!("gfni"),
    ])
}

#[cfg(all(not(feature = "std"), target_arch = "x86_64"))]
fn compiled() -> Level {
    climb([
        cfg!(target_feature = "ssse3"),
        cfg!(all(target_feature = "aes", target_feature = "pclmulqdq", target_feature = "sse4.1")),
        cfg!(all(target_feature = "avx2", target_feature = "bmi2")),
        cfg!(all(target_feature = "vaes", target_feature = "vpclmulqdq")),
        cfg!(all(
            target_feature = "avx512f",
            target_feature = "avx512bw",
            target_feature = "avx512dq",
            target_feature = "avx512vl",
            target_feature = "avx512vbmi",
            target_feature = "avx512vbmi2",
            target_feature = "avx512ifma",
            target_feature = "gfni"
        )),
    ])
}

#[cfg(all(feature = "std", not(target_arch = "x86_64")))]
fn detected() -> Level {
    Level::Portable
}

#[cfg(all(not(feature = "std"), not(target_arch = "x86_64")))]
fn compiled() -> Level {
    Level::Portable
}

/// The results of [`Isa::detect`] and [`Isa::of_processor`], computed once.
#[cfg(feature = "std")]
mod cache {
    use core::sync::atomic::{AtomicU8, Ordering};

    use super::{Isa, Level, detected, environment};

    /// Zero until the first call. Then the low half has the level to use, and the high half the
    /// level of the processor plus one. Relaxed everywhere: threads that race compute the same
    /// value, and nothing else is published through it.
    static LEVELS: AtomicU8 = AtomicU8::new(0);

    #[inline]
    pub(super) fn isas() -> (Isa, Isa) {
        let mut levels = LEVELS.load(Ordering::Relaxed);
        if levels == 0 {
            levels = first();
        }
        let level = |n: u8| Isa(Level::ALL[usize::from(n)]);
        (level(levels & 15), level((levels >> 4) - 1))
    }

    #[cold]
    #[inline(never)]
    fn first() -> u8 {
        let processor = Isa(detected());
        let isa = environment::wanted().map_or(processor, |level| processor.at_most(level));
        let levels = isa.level() as u8 | (processor.level() as u8 + 1) << 4;
        LEVELS.store(levels, Ordering::Relaxed);
        levels
    }

    /// Runs before `main`, or when a library that holds this code is loaded, so that no request
    /// has to read a file. Where nothing runs it, the first request does the same.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static BEFORE_MAIN: extern "C" fn() = {
        extern "C" fn before_main() {
            first();
        }
        before_main
    };
}

/// A constant as an argument, from which a kernel that [`by_isa!`] calls infers it.
#[derive(Clone, Copy)]
pub(crate) struct Way<const WAY: bool>;

/// For a kernel that XORs keystream into the data.
pub(crate) const INTO: Way<true> = Way;
/// For a kernel that writes keystream over the data, which are not read.
pub(crate) const OVER: Way<false> = Way;

/// Calls the kernel of the highest level that the processor and the build have.
///
/// `by_isa!(isa, f(a, b): Avx512 => avx512, Avx2 => avx2, _ => portable)` lists modules from the
/// highest level down. Each module except the portable one has a `const NEEDS: Level`. The
/// arguments are plain names, so that no expression of the caller is evaluated inside the `unsafe`
/// block.
macro_rules! by_isa {
    ($isa:expr, $f:ident $args:tt : $($arms:tt)+) => {{
        let isa: $crate::Isa = $isa;
        let _ = isa;
        by_isa!(@arm isa, $f, $args, $($arms)+)
    }};
    (@arm $isa:ident, $f:ident, ($($arg:ident),*), _ => $module:ident $(,)?) => {{
        #[cfg(test)]
        $crate::isa::reached::note($crate::Level::Portable);
        $module::$f($($arg),*)
    }};
    (@arm $isa:ident, $f:ident, $args:tt, Ssse3 => $module:ident, $($rest:tt)+) => {
        by_isa!(@if (all(target_arch = "x86_64", feature = "isa-ssse3"))
            $isa, $f, $args, Ssse3, $module, $($rest)+)
    };
    (@arm $isa:ident, $f:ident, $args:tt, AesNi => $module:ident, $($rest:tt)+) => {
        by_isa!(@if (target_arch = "x86_64") $isa, $f, $args, AesNi, $module, $($rest)+)
    };
    (@arm $isa:ident, $f:ident, $args:tt, Avx2 => $module:ident, $($rest:tt)+) => {
        by_isa!(@if (all(target_arch = "x86_64", feature = "isa-avx2"))
            $isa, $f, $args, Avx2, $module, $($rest)+)
    };
    (@arm $isa:ident, $f:ident, $args:tt, Avx2Vaes => $module:ident, $($rest:tt)+) => {
        by_isa!(@if (all(target_arch = "x86_64", feature = "isa-avx2"))
            $isa, $f, $args, Avx2Vaes, $module, $($rest)+)
    };
    (@arm $isa:ident, $f:ident, $args:tt, Avx512 => $module:ident, $($rest:tt)+) => {
        by_isa!(@if (all(target_arch = "x86_64", feature = "isa-avx512"))
            $isa, $f, $args, Avx512, $module, $($rest)+)
    };
    (@if ($cfg:meta) $isa:ident, $f:ident, ($($arg:ident),*), $level:ident, $module:ident,
     $($rest:tt)+) => {{
        #[cfg($cfg)]
        let result = if $isa.has($crate::Level::$level) {
            const { assert!($module::NEEDS as u8 <= $crate::Level::$level as u8) };
            #[cfg(test)]
            $crate::isa::reached::note($crate::Level::$level);
            // SAFETY: an `Isa` exists only at levels that the processor has (see `Isa`), and the
            // assertion above holds the kernel to the level that was just compared.
            unsafe { $module::$f($($arg),*) }
        } else {
            by_isa!(@arm $isa, $f, ($($arg),*), $($rest)+)
        };
        #[cfg(not($cfg))]
        let result = by_isa!(@arm $isa, $f, ($($arg),*), $($rest)+);
        result
    }};
}

/// The kernel that a dispatch chose. Tests of the dispatch need it, because results are the same at
/// every level.
#[cfg(test)]
pub(crate) mod reached {
    use core::cell::Cell;

    use super::Level;

    std::thread_local!(static LAST: Cell<Option<Level>> = const { Cell::new(None) });

    pub(crate) fn note(level: Level) {
        LAST.set(Some(level));
    }

    /// Forgets the last dispatch, so that the expansion of a key does not count.
    pub(crate) fn forget() {
        LAST.set(None);
    }

    /// Asserts, for every level of this processor, that `dispatch` reaches the highest of
    /// `kernels` that the level and the build have.
    pub(crate) fn assert_best(kernels: &[Level], mut dispatch: impl FnMut(super::Isa)) {
        for cap in Level::ALL {
            let isa = super::Isa::of_processor().at_most(cap);
            let fits = |kernel: &&Level| isa.has(**kernel) && kernel.is_built();
            forget();
            dispatch(isa);
            assert_eq!(LAST.get().as_ref(), kernels.iter().rfind(fits), "at {cap}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for level in Level::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        assert_eq!("AVX2".parse::<Level>(), Err(UnknownLevel));
        assert_eq!("".parse::<Level>(), Err(UnknownLevel));
    }

    #[test]
    fn capping_never_raises() {
        for cap in Level::ALL {
            let isa = Isa::of_processor().at_most(cap);
            assert!(isa.level() <= cap && isa <= Isa::of_processor());
            assert_eq!(isa.at_most(Level::Avx512), isa);
        }
    }

    /// The test runs itself again, with the variable.
    #[cfg(all(feature = "std", any(target_os = "linux", windows)))]
    #[test]
    fn the_variable_of_the_start_counts() {
        const CHILD: &str = "LANECRYPT_TEST_OF_ENVIRONMENT";
        if std::env::var_os(CHILD).is_some() {
            assert_eq!(Isa::detect(), Isa::PORTABLE);
            return;
        }
        let mut child = std::process::Command::new(std::env::current_exe().expect("a program"));
        child.args(["--exact", "isa::tests::the_variable_of_the_start_counts"]);
        let status = child.env(CHILD, "").env("LANECRYPT_ISA", "portable").status();
        assert!(status.expect("it can run again").success());
    }
}
