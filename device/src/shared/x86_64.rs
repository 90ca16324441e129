//! Copies with registers of x86-64; `arch` has the portable versions.

/// Whether options of sockets have their usual numbers.
pub(super) const USUAL_OPTIONS: bool = true;

#[inline(always)]
pub(super) unsafe fn sixty_four(from: *const u8, to: *mut u8) {
    // SAFETY: every x86-64 processor has these instructions. They read and write the 64 bytes that
    // the caller vouches for, and change nothing else but the named registers.
    unsafe {
        core::arch::asm!(
            "movups {first}, xmmword ptr [{from}]",
            "movups {second}, xmmword ptr [{from} + 16]",
            "movups {third}, xmmword ptr [{from} + 32]",
            "movups {fourth}, xmmword ptr [{from} + 48]",
            "movups xmmword ptr [{to}], {first}",
            "movups xmmword ptr [{to} + 16], {second}",
            "movups xmmword ptr [{to} + 32], {third}",
            "movups xmmword ptr [{to} + 48], {fourth}",
            first = out(xmm_reg) _,
            second = out(xmm_reg) _,
            third = out(xmm_reg) _,
            fourth = out(xmm_reg) _,
            from = in(reg) from,
            to = in(reg) to,
            options(nostack, preserves_flags),
        );
    }
}

#[inline(always)]
pub(super) unsafe fn sixteen(from: *const u8, to: *mut u8) {
    // SAFETY: every x86-64 processor has these instructions. They read and write the 16 bytes that
    // the caller vouches for, and change nothing else but the named register.
    unsafe {
        core::arch::asm!(
            "movups {bytes}, xmmword ptr [{from}]",
            "movups xmmword ptr [{to}], {bytes}",
            bytes = out(xmm_reg) _,
            from = in(reg) from,
            to = in(reg) to,
            options(nostack, preserves_flags),
        );
    }
}
