//! The instructions of planted leaks.

/// A jump on whether the number is zero.
#[inline(always)]
pub(crate) fn jump(secret: u64) {
    // SAFETY: the instructions change nothing.
    unsafe {
        core::arch::asm!(
            "jrcxz 2f",
            "nop",
            "2:",
            in("rcx") secret,
            options(nomem, nostack, preserves_flags)
        );
    }
}

/// Twice each byte, modulo 256, by a vector register.
#[target_feature(enable = "sse2")]
pub(crate) fn doubled(&[a, b, c, d, ..]: &[u8; 16]) -> i32 {
    use core::arch::x86_64::*;
    let vector = _mm_set1_epi32(i32::from_le_bytes([a, b, c, d]));
    _mm_cvtsi128_si32(_mm_add_epi8(vector, vector))
}

/// What the disassembly must show, by the names of the rules that they break. They are never run.
pub(crate) mod forbidden {
    use core::arch::x86_64::*;
    use core::hint::black_box;

    /// Keeps the functions in the program.
    pub(crate) fn keep() {
        black_box(gather as unsafe fn(_, _) -> _);
        black_box(division as fn(_, _) -> _);
        black_box(flags as unsafe fn(_));
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f")]
    fn gather(secret: __m512i, table: &[i32; 16]) -> __m512i {
        let index = _mm512_and_si512(secret, _mm512_set1_epi32(15));
        // SAFETY: every index is below 16, the length of the table.
        unsafe { _mm512_i32gather_epi32::<4>(index, table.as_ptr()) }
    }

    #[inline(never)]
    fn division(secret: u64, by: core::num::NonZeroU64) -> u64 {
        secret / by
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f")]
    fn flags(secret: __m512i) {
        if _mm512_test_epi32_mask(secret, secret) != 0 {
            crate::planted::rare();
        }
    }
}
