//! The instructions of planted leaks.

/// A jump on a bit of the number.
#[inline(always)]
pub(crate) fn jump(secret: u64) {
    // SAFETY: the instructions change nothing.
    unsafe {
        core::arch::asm!(
            "tbz {0}, #0, 2f",
            "nop",
            "2:",
            in(reg) secret,
            options(nomem, nostack, preserves_flags)
        );
    }
}

/// Twice each byte, modulo 256, by a vector register.
#[target_feature(enable = "neon")]
pub(crate) fn doubled(&[a, b, c, d, ..]: &[u8; 16]) -> i32 {
    use core::arch::aarch64::*;
    let vector = vreinterpretq_s8_s32(vdupq_n_s32(i32::from_le_bytes([a, b, c, d])));
    vgetq_lane_s32::<0>(vreinterpretq_s32_s8(vaddq_s8(vector, vector)))
}

/// What the disassembly must show, by the names of the rules that they break. They are never run.
pub(crate) mod forbidden {
    use core::arch::aarch64::*;
    use core::arch::asm;
    use core::hint::black_box;

    /// Keeps the functions in the program.
    pub(crate) fn keep() {
        black_box(gather as unsafe fn(_));
        black_box(division as fn(_, _) -> _);
        black_box(flags as fn(_));
        black_box(prefetch as fn(_, _));
        black_box(pair as unsafe fn(_, _, _) -> _);
    }

    /// # Safety
    ///
    /// The processor must have SVE, and 64 words must follow.
    #[inline(never)]
    unsafe fn gather(table: *const i32) {
        // SAFETY: the caller's promise.
        unsafe {
            asm!(
                ".arch_extension sve",
                "ld1w {{ z0.s }}, p0/z, [{0}, z1.s, uxtw #2]",
                ".arch_extension nosve",
                in(reg) table,
                out("v0") _,
                options(nostack, readonly)
            );
        }
    }

    #[inline(never)]
    fn division(secret: u64, by: core::num::NonZeroU64) -> u64 {
        secret / by
    }

    #[inline(never)]
    fn flags(secret: f64) {
        if secret < 1.0 {
            crate::planted::rare();
        }
    }

    #[inline(never)]
    fn prefetch(table: &[u8; 256], secret: u8) {
        let place = &table[usize::from(secret)];
        // SAFETY: a prefetch changes nothing and never faults.
        unsafe { asm!("prfm pldl1keep, [{0}]", in(reg) place, options(nostack, readonly)) };
    }

    /// Something between the two instructions that processors fuse.
    #[inline(never)]
    #[target_feature(enable = "aes")]
    fn pair(block: uint8x16_t, key: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        let (mut block, mut other) = (block, other);
        // SAFETY: the instructions change only these registers, and the feature is enabled.
        unsafe {
            asm!(
                "aese {0:v}.16b, {1:v}.16b",
                "eor {2:v}.16b, {2:v}.16b, {1:v}.16b",
                "aesmc {0:v}.16b, {0:v}.16b",
                inout(vreg) block,
                in(vreg) key,
                inout(vreg) other,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        veorq_u8(block, other)
    }
}
