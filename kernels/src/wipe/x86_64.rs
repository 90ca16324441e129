//! Registers and stack of x86-64.
#![cfg(target_arch = "x86_64")]

use core::arch::asm;

#[inline]
pub(super) fn clear() {
    if has_avx512() {
        // SAFETY: the processor has these instructions.
        unsafe { clear_zmm() }
    } else if has_avx() {
        // SAFETY: the processor has these instructions.
        unsafe { clear_ymm() }
    } else {
        clear_xmm();
    }
}

/// The stores go right below the stack pointer. A separate function would begin further down,
/// and leave the bytes in between. Assembly that may use the stack has the compiler keep
/// nothing there.
#[inline(always)]
pub(super) fn clear_set_up<const N: usize>() {
    const { assert!(N > 0 && N.is_multiple_of(64)) };
    clear();
    if has_avx() {
        // SAFETY: the processor has these instructions, and calls from here have just used that
        // stack or may use it. All that changes is declared; the stack pointer stays.
        unsafe {
            asm!(
                "vpxor xmm0, xmm0, xmm0",
                "mov rax, -{bytes}",
                "2:",
                "vmovdqu [rsp + rax], ymm0",
                "vmovdqu [rsp + rax + 32], ymm0",
                "add rax, 64",
                "jnz 2b",
                "vzeroupper",
                bytes = const N,
                out("rax") _, out("xmm0") _,
            );
        }
    } else {
        // SAFETY: the instructions are part of SSE2; otherwise as above.
        unsafe {
            asm!(
                "pxor xmm0, xmm0",
                "mov rax, -{bytes}",
                "2:",
                "movups [rsp + rax], xmm0",
                "add rax, 16",
                "jnz 2b",
                bytes = const N,
                out("rax") _, out("xmm0") _,
            );
        }
    }
    clear_general();
}

#[inline]
pub(super) fn clear_general() {
    // SAFETY: the instructions change only registers named as outputs, and the flags.
    unsafe {
        asm!(
            ".irp r, eax, ecx, edx, esi, edi, r8d, r9d, r10d, r11d",
            "xor \\r, \\r",
            ".endr",
            out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _, out("rdi") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            options(nomem, nostack)
        );
    }
}

/// Without detection, this and the next give the features that the program was compiled for.
#[inline]
fn has_avx512() -> bool {
    #[cfg(feature = "std")]
    {
        use std::arch::is_x86_feature_detected as has;
        has!("avx512f") && has!("avx512vl")
    }
    #[cfg(not(feature = "std"))]
    {
        cfg!(all(target_feature = "avx512f", target_feature = "avx512vl"))
    }
}

#[inline]
fn has_avx() -> bool {
    #[cfg(feature = "std")]
    {
        std::arch::is_x86_feature_detected!("avx")
    }
    #[cfg(not(feature = "std"))]
    {
        cfg!(target_feature = "avx")
    }
}

// All of these are zeroing idioms, which the processor executes by renaming alone.

fn clear_xmm() {
    // SAFETY: the instructions are part of SSE2 and change only registers named as outputs.
    unsafe {
        asm!(
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "pxor xmm\\n, xmm\\n",
            ".endr",
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nomem, nostack, preserves_flags)
        );
    }
}

#[target_feature(enable = "avx")]
fn clear_ymm() {
    // SAFETY: AVX is enabled here; a 128-bit VEX instruction clears the whole register, and
    // only registers named as outputs change.
    unsafe {
        asm!(
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "vpxor xmm\\n, xmm\\n, xmm\\n",
            ".endr",
            "vzeroupper",
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nomem, nostack, preserves_flags)
        );
    }
}

#[target_feature(enable = "avx512f,avx512vl")]
fn clear_zmm() {
    // SAFETY: AVX-512 VL is enabled here; a 128-bit EVEX instruction clears the whole
    // register, and only registers named as outputs change.
    unsafe {
        asm!(
            ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            "vpxord xmm\\n, xmm\\n, xmm\\n",
            ".endr",
            out("xmm16") _, out("xmm17") _, out("xmm18") _, out("xmm19") _,
            out("xmm20") _, out("xmm21") _, out("xmm22") _, out("xmm23") _,
            out("xmm24") _, out("xmm25") _, out("xmm26") _, out("xmm27") _,
            out("xmm28") _, out("xmm29") _, out("xmm30") _, out("xmm31") _,
            options(nomem, nostack, preserves_flags)
        );
    }
    clear_ymm();
}
