//! Vector registers of a chosen width, used and released on purpose.
//!
//! This is not a peer. Measuring the cost of wide vectors besides their instructions needs code
//! that puts the registers into use, and code that tells the processor that they hold nothing worth
//! saving.

use core::hint::black_box;

/// The width of the registers in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Width {
    /// No vector registers.
    None,
    /// 256 bits: AVX2.
    Bits256,
    /// 512 bits, and the upper sixteen registers: AVX-512.
    Bits512,
}

impl Width {
    /// Every width, narrowest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Bits256, Self::Bits512];

    /// The widths that this processor has and that can be told apart on it.
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|width| state::has(*width)).collect()
    }

    /// A short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bits256 => "256-bit",
            Self::Bits512 => "512-bit",
        }
    }
}

/// Multiplies `x` by an odd constant 32 times, wrapping, in registers of `width`; in general
/// registers if the processor lacks it.
///
/// The result is the same for every width. It is a chain, so the width changes only the registers.
#[must_use]
pub fn work(width: Width, x: u32) -> u32 {
    let mut x = black_box(x);
    if width == Width::None || !state::has(width) {
        for _ in 0..32 {
            x = x.wrapping_mul(black_box(FACTOR));
        }
        return x;
    }
    state::work(width, x)
}

/// An odd constant without meaning.
const FACTOR: u32 = 0x9E37_79B1;

/// Puts registers of `width` into use on the calling thread, and all wider ones out of use.
///
/// They stay in use until [`forget`], or until code of the C library changes that; [`is_occupied`]
/// tells.
pub fn occupy(width: Width) {
    forget();
    if state::has(width) {
        state::occupy(width);
    }
}

/// Tells the processor that no vector register wider than 128 bits holds anything.
///
/// The kernel then has nothing of them to save when it switches to another thread.
pub fn forget() {
    state::forget();
}

/// Whether the registers of `width`, and no wider ones, are in use on the calling thread.
///
/// If the processor does not tell, only [`Width::None`] is available, and the answer is assumed.
#[must_use]
pub fn is_occupied(width: Width) -> bool {
    state::in_use().unwrap_or(Width::None) == width
}

#[cfg(target_arch = "x86_64")]
mod state {
    use core::arch::asm;
    use std::sync::OnceLock;

    use super::{FACTOR, Width};

    /// State components: upper halves of ymm; opmasks; upper halves of zmm; zmm16 and up.
    const AVX: u32 = 1 << 2;
    const OPMASK: u32 = 1 << 5;
    const ZMM_HIGH: u32 = 1 << 6;
    const ZMM_16_31: u32 = 1 << 7;

    /// Whether the width can be used, put out of use, and seen to be in use.
    pub(super) fn has(width: Width) -> bool {
        static TRACKED: OnceLock<bool> = OnceLock::new();
        let supported = match width {
            Width::None => return true,
            Width::Bits256 => is_x86_feature_detected!("avx2"),
            Width::Bits512 => is_x86_feature_detected!("avx512f"),
        };
        // The kernel lists `xgetbv1` only where it has enabled the extended states.
        supported
            && *TRACKED.get_or_init(|| {
                let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
                let flags = info.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
                flags.split_ascii_whitespace().any(|flag| flag == "xgetbv1")
            })
    }

    /// The components of the vector registers that this processor has; zero without tracking.
    fn components() -> u32 {
        if has(Width::Bits512) {
            AVX | OPMASK | ZMM_HIGH | ZMM_16_31
        } else if has(Width::Bits256) {
            AVX
        } else {
            0
        }
    }

    /// The area that XRSTOR reads: no component is in it, so each asked for becomes initial.
    #[repr(C, align(64))]
    struct Area([u32; 144]);

    pub(super) fn forget() {
        /// The control register of SSE lies at offset 24 and is loaded together with AVX.
        static INITIAL: Area = {
            let mut words = [0; 144];
            words[6] = 0x1F80;
            words[7] = 0xFFFF;
            Area(words)
        };
        let components = components();
        if components == 0 {
            return;
        }
        // SAFETY: the area is aligned to 64 bytes, has a legacy part of 512 and a header of 64
        // bytes that names no component, and the kernel has enabled the components asked for (see
        // `has`). All vector registers are declared as overwritten; the control word loaded is the
        // default one, which Rust code always runs with.
        unsafe {
            asm!(
                "xrstor [{area}]",
                area = in(reg) &raw const INITIAL,
                in("eax") components,
                in("edx") 0,
                clobber_abi("C"),
                options(nostack, readonly)
            );
        }
    }

    pub(super) fn occupy(width: Width) {
        match width {
            Width::None => {}
            // SAFETY: the caller has asked `has`, so AVX is there; the register is declared.
            Width::Bits256 => unsafe {
                asm!("vpcmpeqd ymm0, ymm0, ymm0", out("ymm0") _, options(nomem, nostack));
            },
            // SAFETY: the caller has asked `has`, so AVX-512 is there; both registers are declared.
            Width::Bits512 => unsafe {
                asm!(
                    "vpternlogd zmm0, zmm0, zmm0, 255",
                    "vpternlogd zmm31, zmm31, zmm31, 255",
                    out("zmm0") _, out("zmm31") _,
                    options(nomem, nostack)
                );
            },
        }
    }

    /// The widest registers in use; `None` if the processor does not tell.
    pub(super) fn in_use() -> Option<Width> {
        if !has(Width::Bits256) {
            return None;
        }
        let (low, _high): (u32, u32);
        // SAFETY: `has` has seen that the instruction exists with this index.
        unsafe {
            asm!("xgetbv", in("ecx") 1, out("eax") low, out("edx") _high, options(nomem, nostack));
        }
        Some(match low {
            low if low & (ZMM_HIGH | ZMM_16_31) != 0 => Width::Bits512,
            low if low & AVX != 0 => Width::Bits256,
            _ => Width::None,
        })
    }

    pub(super) fn work(width: Width, x: u32) -> u32 {
        let mut x = x;
        match width {
            Width::None => {}
            // SAFETY: the caller has asked `has`, so AVX2 is there; the registers are declared and
            // their upper halves are put out of use again.
            Width::Bits256 => unsafe {
                asm!(
                    "vmovd xmm0, eax", "vpbroadcastd ymm0, xmm0",
                    "vmovd xmm1, edx", "vpbroadcastd ymm1, xmm1",
                    ".rept 32", "vpmulld ymm0, ymm0, ymm1", ".endr",
                    "vmovd eax, xmm0", "vzeroupper",
                    inout("eax") x, in("edx") FACTOR,
                    clobber_abi("C"), options(nomem, nostack)
                );
            },
            // SAFETY: the caller has asked `has`, so AVX-512 is there; the registers are declared
            // and their upper halves are put out of use again.
            Width::Bits512 => unsafe {
                asm!(
                    "vpbroadcastd zmm0, eax", "vpbroadcastd zmm1, edx",
                    ".rept 32", "vpmulld zmm0, zmm0, zmm1", ".endr",
                    "vmovd eax, xmm0", "vzeroupper",
                    inout("eax") x, in("edx") FACTOR,
                    clobber_abi("C"), options(nomem, nostack)
                );
            },
        }
        x
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod state {
    use super::Width;

    pub(super) fn has(width: Width) -> bool {
        width == Width::None
    }

    pub(super) fn forget() {}

    pub(super) fn occupy(_width: Width) {}

    pub(super) fn in_use() -> Option<Width> {
        None
    }

    pub(super) fn work(_width: Width, x: u32) -> u32 {
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_gives_the_same_result() {
        for x in [0, 1, 3, u32::MAX, 0x1234_5678] {
            for width in Width::available() {
                assert_eq!(work(width, x), work(Width::None, x), "{width:?} {x}");
            }
        }
    }

    #[test]
    fn registers_come_into_use_and_out_of_it() {
        // Nothing between the two calls uses vectors: only then can the answer be exact.
        for width in Width::available().into_iter().filter(|width| *width != Width::None) {
            for _ in 0..3 {
                occupy(width);
                let after = is_occupied(width);
                forget();
                let forgotten = !is_occupied(width);
                assert!(after && forgotten, "{width:?}");
            }
        }
    }
}
