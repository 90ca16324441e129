//! Instruction sets: the levels of each architecture, a proof that the processor has a level, and
//! the macro that dispatches.

/// Defines the levels of an architecture above the portable one, lowest first, each by the
/// instructions that it adds: `LEVELS`, and the highest one up to which all instructions are there,
/// by detection (`detected`) and by what the compiler may assume (`compiled`).
macro_rules! levels {
    ($detect:ident: $($level:ident => $($feature:tt),+;)+) => {
        pub(super) const LEVELS: &[Level] = &[Level::Portable, $(Level::$level),+];

        #[cfg(feature = "std")]
        pub(super) fn detected() -> Level {
            highest([$(true $(&& std::arch::$detect!($feature))+),+])
        }

        #[cfg(not(feature = "std"))]
        pub(super) const fn compiled() -> Level {
            highest([$(cfg!(all($(target_feature = $feature),+))),+])
        }

        const fn highest<const N: usize>(steps: [bool; N]) -> Level {
            let mut complete = 0;
            while complete < N && steps[complete] {
                complete += 1;
            }
            LEVELS[complete]
        }
    };
}

mod aarch64;
#[cfg(feature = "std")]
mod environment;
mod x86_64;

use core::fmt;
use core::str::FromStr;

#[cfg(target_arch = "aarch64")]
use self::aarch64 as target;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use self::portable as target;
#[cfg(target_arch = "x86_64")]
use self::x86_64 as target;

/// A level of instructions that kernels are written for.
///
/// Each level includes all levels of its architecture below it. If a processor lacks some
/// instructions of a level, it runs at the highest level below that one, even if it has all
/// instructions of a higher one.
//
// The upper half of the number is the architecture's, the lower half the level's place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Level {
    /// Plain Rust, of every architecture; the compiler may use what all its processors have: SSE2
    /// on x86-64, NEON on AArch64.
    Portable = 0,
    /// x86-64: SSSE3, byte shuffles.
    Ssse3 = 1,
    /// x86-64: AES-NI, PCLMULQDQ and SSE4.1.
    AesNi = 2,
    /// x86-64: AVX2, BMI1, BMI2 and POPCNT.
    Avx2 = 3,
    /// x86-64: VAES and VPCLMULQDQ on 256-bit registers.
    Avx2Vaes = 4,
    /// x86-64: AVX-512 F, BW, DQ, VL, VBMI, VBMI2, IFMA, with GFNI (Ice Lake, Zen 4 and later).
    Avx512 = 5,
    /// AArch64: NEON.
    Neon = 0x11,
    /// AArch64: AES and PMULL.
    ArmAes = 0x12,
    /// AArch64: SHA3, whose EOR3 adds three registers.
    ArmSha3 = 0x13,
}

impl Level {
    /// The levels of this architecture, lowest first.
    const OF_TARGET: &'static [Self] = target::LEVELS;

    /// The levels that this build has kernels of, lowest first; its target and features decide.
    #[must_use]
    pub const fn built() -> &'static [Self] {
        const COUNT: usize = {
            let (mut count, mut at) = (0, 0);
            while at < Level::OF_TARGET.len() {
                count += Level::OF_TARGET[at].is_built() as usize;
                at += 1;
            }
            count
        };
        const BUILT: [Level; COUNT] = {
            let (mut built, mut count, mut at) = ([Level::Portable; COUNT], 0, 0);
            while at < Level::OF_TARGET.len() {
                if Level::OF_TARGET[at].is_built() {
                    built[count] = Level::OF_TARGET[at];
                    count += 1;
                }
                at += 1;
            }
            built
        };
        &BUILT
    }

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
            Self::Neon => "neon",
            Self::ArmAes => "armaes",
            Self::ArmSha3 => "armsha3",
        }
    }

    /// Whether this build has kernels of this level; its target and features decide.
    #[must_use]
    pub const fn is_built(self) -> bool {
        self.is_of_target()
            && (cfg!(feature = "isa-ssse3") || !matches!(self, Self::Ssse3))
            && (cfg!(feature = "isa-avx2") || !matches!(self, Self::Avx2 | Self::Avx2Vaes))
            && (cfg!(feature = "isa-avx512") || !matches!(self, Self::Avx512))
    }

    /// Whether a processor of this level runs kernels of the other, which is a lower level of the
    /// same architecture, or the same one.
    #[must_use]
    pub const fn includes(self, other: Self) -> bool {
        let of_one_architecture = self as u8 >> 4 == other as u8 >> 4;
        matches!(other, Self::Portable) || of_one_architecture && self as u8 >= other as u8
    }

    /// Whether it is a level of this architecture.
    const fn is_of_target(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Ssse3 | Self::AesNi | Self::Avx2 | Self::Avx2Vaes | Self::Avx512 => {
                cfg!(target_arch = "x86_64")
            }
            Self::Neon | Self::ArmAes | Self::ArmSha3 => cfg!(target_arch = "aarch64"),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A string that names no [`Level`] of this architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownLevel;

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown instruction set; known are ")?;
        for (i, level) in Level::OF_TARGET.iter().enumerate() {
            write!(f, "{}{level}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        Self::OF_TARGET.iter().find(|level| level.name() == name).copied().ok_or(UnknownLevel)
    }
}

/// Proof that this processor has the instructions of a [`Level`].
///
/// Only detection makes one, and no method raises it above the level of the processor; so
/// dispatching on it is sound. One byte, without pointers: keyed states store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Level);

impl Isa {
    /// Plain Rust, which every processor runs.
    pub const PORTABLE: Self = Self(Level::Portable);

    /// The highest level of this processor, or the one that the environment variable
    /// `LANECRYPT_ISA` names if that is lower.
    ///
    /// The variable is read once, and can only lower the level. Linux and Android give the
    /// environment that the program was started with (`/proc/self/environ`); the variable is
    /// ignored in set-uid programs and without `/proc`. Windows gives the current one. Other
    /// systems have no safe way to read it. Without the feature `std`: what the program was
    /// compiled for.
    #[must_use]
    #[inline]
    pub fn detect() -> Self {
        #[cfg(feature = "std")]
        {
            cache::isas().0
        }
        #[cfg(not(feature = "std"))]
        {
            Self(target::compiled())
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
            Self(target::compiled())
        }
    }

    /// This level or `level`, whichever is lower. A `level` of another architecture changes
    /// nothing.
    #[must_use]
    #[inline]
    pub const fn at_most(self, level: Level) -> Self {
        if level.is_of_target() && (level as u8) < (self.0 as u8) { Self(level) } else { self }
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
        level.is_of_target() && self.0 as u8 >= level as u8
    }

    /// Whether kernels of this level have AES instructions.
    #[must_use]
    #[inline]
    pub const fn has_aes(self) -> bool {
        self.has(Level::AesNi) || self.has(Level::ArmAes)
    }

    /// Whether kernels of this level have vector registers of 512 bits.
    #[must_use]
    #[inline]
    pub const fn has_512_bit_registers(self) -> bool {
        self.has(Level::Avx512)
    }
}

/// The lowest of several levels.
pub fn lowest(isas: impl Iterator<Item = Isa>) -> Option<Isa> {
    isas.reduce(|lowest, isa| lowest.at_most(isa.level()))
}

/// Architectures without kernels of their own.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod portable {
    use super::Level;

    pub(super) const LEVELS: &[Level] = &[Level::Portable];

    #[cfg(feature = "std")]
    pub(super) fn detected() -> Level {
        Level::Portable
    }

    #[cfg(not(feature = "std"))]
    pub(super) const fn compiled() -> Level {
        Level::Portable
    }
}

/// The results of [`Isa::detect`] and [`Isa::of_processor`], computed once.
#[cfg(feature = "std")]
mod cache {
    use core::sync::atomic::{AtomicU8, Ordering};

    use super::{Isa, Level, environment, target};

    /// Zero until the first call. Then the low half has the level to use, and the high half the
    /// level of the processor plus one, both by their places among the levels of this architecture.
    /// Relaxed everywhere: threads that race compute the same value, and nothing else is published
    /// through it.
    static LEVELS: AtomicU8 = AtomicU8::new(0);

    #[inline]
    pub(super) fn isas() -> (Isa, Isa) {
        let mut levels = LEVELS.load(Ordering::Relaxed);
        if levels == 0 {
            levels = first();
        }
        let level = |n: u8| Isa(Level::OF_TARGET[usize::from(n)]);
        (level(levels & 15), level((levels >> 4) - 1))
    }

    #[cold]
    #[inline(never)]
    fn first() -> u8 {
        let processor = Isa(target::detected());
        let isa = environment::wanted().map_or(processor, |level| processor.at_most(level));
        let levels = isa.level() as u8 & 15 | ((processor.level() as u8 & 15) + 1) << 4;
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

/// A constant as an argument, from which a kernel that `by_isa!` calls infers it.
#[derive(Clone, Copy, Debug)]
pub struct Mode<const MODE: bool>;

/// For a kernel that XORs keystream into the data.
pub const XOR: Mode<true> = Mode;
/// For a kernel that writes keystream over the data, which are not read.
pub const WRITE: Mode<false> = Mode;

/// Calls the kernel of the highest level that the processor and the build have.
///
/// `by_isa!(crate::aes, isa, f(a, b): Avx512, AesNi, ArmAes, _ => portable)` lists the levels of
/// each architecture from the highest down, and the module of the portable kernel. The kernel of a
/// level is `f` in the module of its name, such as `crate::aes::x86_64::avx512`, which also has a
/// `const NEEDS: Level`. The arguments are plain names, so that no expression of the caller is
/// evaluated inside the `unsafe` block.
///
/// `by_isa!(crate::aes, levels: ...)` is the slice of the levels, each architecture's lowest first.
#[doc(hidden)]
#[macro_export]
macro_rules! by_isa {
    ($($core:ident)::+, levels: $($levels:tt)+) => { $crate::by_isa!(@levels [] $($levels)+) };
    (@levels [$($higher:ident)*] _ => $portable:ident $(,)?) => {
        &[$crate::Level::Portable, $($crate::Level::$higher),*]
    };
    (@levels [$($higher:ident)*] $level:ident, $($rest:tt)+) => {
        $crate::by_isa!(@levels [$level $($higher)*] $($rest)+)
    };
    ($($core:ident)::+, $isa:expr, $f:ident $args:tt : $($levels:tt)+) => {{
        let isa: $crate::Isa = $isa;
        let _ = isa;
        $crate::by_isa!(@arm [$($core)::+] isa, $f, $args, $($levels)+)
    }};
    (@arm $core:tt $isa:ident, $f:ident, ($($arg:ident),*), _ => $module:ident $(,)?) => {{
        #[cfg(test)]
        $crate::isa::reached::note($crate::Level::Portable);
        $module::$f($($arg),*)
    }};
    (@arm $core:tt $isa:ident, $f:ident, $args:tt, Ssse3, $($rest:tt)+) => {
        $crate::by_isa!(@if (all(target_arch = "x86_64", feature = "isa-ssse3"))
            $core x86_64::ssse3, $isa, $f, $args, Ssse3, $($rest)+)
    };
    (@arm $core:tt $isa:ident, $f:ident, $args:tt, AesNi, $($rest:tt)+) => {
        $crate::by_isa!(@if (target_arch = "x86_64")
            $core x86_64::aesni, $isa, $f, $args, AesNi, $($rest)+)
    };
    (@arm $core:tt $isa:ident, $f:ident, $args:tt, Avx2, $($rest:tt)+) => {
        $crate::by_isa!(@if (all(target_arch = "x86_64", feature = "isa-avx2"))
            $core x86_64::avx2, $isa, $f, $args, Avx2, $($rest)+)
    };
    (@arm $core:tt $isa:ident, $f:ident, $args:tt, Avx2Vaes, $($rest:tt)+) => {
        $crate::by_isa!(@if (all(target_arch = "x86_64", feature = "isa-avx2"))
            $core x86_64::avx2vaes, $isa, $f, $args, Avx2Vaes, $($rest)+)
    };
    (@arm $core:tt $isa:ident, $f:ident, $args:tt, Avx512, $($rest:tt)+) => {
        $crate::by_isa!(@if (all(target_arch = "x86_64", feature = "isa-avx512"))
            $core x86_64::avx512, $isa, $f, $args, Avx512, $($rest)+)
    };
    (@arm $core:tt $isa:ident, $f:ident, $args:tt, Neon, $($rest:tt)+) => {
        $crate::by_isa!(@if (target_arch = "aarch64")
            $core aarch64::neon, $isa, $f, $args, Neon, $($rest)+)
    };
    (@arm $core:tt $isa:ident, $f:ident, $args:tt, ArmAes, $($rest:tt)+) => {
        $crate::by_isa!(@if (target_arch = "aarch64")
            $core aarch64::armaes, $isa, $f, $args, ArmAes, $($rest)+)
    };
    (@arm $core:tt $isa:ident, $f:ident, $args:tt, ArmSha3, $($rest:tt)+) => {
        $crate::by_isa!(@if (target_arch = "aarch64")
            $core aarch64::armsha3, $isa, $f, $args, ArmSha3, $($rest)+)
    };
    (@if ($cfg:meta) [$($core:ident)::+] $arch:ident::$module:ident, $isa:ident, $f:ident,
     ($($arg:ident),*), $level:ident, $($rest:tt)+) => {{
        #[cfg($cfg)]
        let result = if $isa.has($crate::Level::$level) {
            use $($core::)+$arch::$module as kernel;
            const { assert!($crate::Level::$level.includes(kernel::NEEDS)) };
            #[cfg(test)]
            $crate::isa::reached::note($crate::Level::$level);
            // SAFETY: an `Isa` exists only at levels that the processor has (see `Isa`), and the
            // assertion above holds the kernel to the level that was just compared.
            unsafe { kernel::$f($($arg),*) }
        } else {
            $crate::by_isa!(@arm [$($core)::+] $isa, $f, ($($arg),*), $($rest)+)
        };
        #[cfg(not($cfg))]
        let result = $crate::by_isa!(@arm [$($core)::+] $isa, $f, ($($arg),*), $($rest)+);
        result
    }};
}

/// The kernel that a dispatch chose. Tests of the dispatch need it, because results are the same at
/// every level.
#[cfg(any(test, feature = "std"))]
pub mod reached {
    use core::cell::Cell;

    use super::Level;

    std::thread_local!(static LAST: Cell<Option<Level>> = const { Cell::new(None) });

    pub fn note(level: Level) {
        LAST.set(Some(level));
    }

    /// Forgets the last dispatch, so that the expansion of a key does not count.
    pub fn forget() {
        LAST.set(None);
    }

    /// Asserts, for every level of this processor, that `dispatch` reaches the highest of
    /// `kernels` that the level and the build have.
    pub fn assert_best(kernels: &[Level], mut dispatch: impl FnMut(super::Isa)) {
        for &cap in Level::built() {
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
        for &level in Level::OF_TARGET {
            assert_eq!(level.name().parse(), Ok(level));
        }
        for name in ["AVX2", "z80", ""] {
            assert_eq!(name.parse::<Level>(), Err(UnknownLevel));
        }
    }

    #[test]
    fn capping_never_raises() {
        for &cap in Level::OF_TARGET {
            let isa = Isa::of_processor().at_most(cap);
            assert!(cap.includes(isa.level()) && Isa::of_processor().has(isa.level()));
            for &higher in Level::OF_TARGET.iter().filter(|level| level.includes(isa.level())) {
                assert_eq!(isa.at_most(higher), isa);
            }
        }
    }

    #[test]
    fn levels_of_other_architectures_are_out_of_reach() {
        use Level::{ArmAes, ArmSha3, Avx2, Avx512, Neon, Ssse3};
        let foreign = |level: &Level| !Level::OF_TARGET.contains(level);
        let foreign = [Ssse3, Avx2, Avx512, Neon, ArmAes, ArmSha3].into_iter().filter(foreign);
        for level in foreign {
            let isa = Isa::of_processor();
            assert!(!isa.has(level) && !level.is_built(), "{level}");
            assert_eq!(isa.at_most(level), isa);
            assert_eq!(level.name().parse::<Level>(), Err(UnknownLevel));
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
