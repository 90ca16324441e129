//! The registers of x86-64.

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
