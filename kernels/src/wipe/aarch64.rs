//! Registers of AArch64.
#![cfg(target_arch = "aarch64")]

use core::arch::asm;

#[inline(always)]
pub(super) fn clear_set_up<const N: usize>() {
    super::stack::<N>();
    super::registers();
}

/// Writing a vector register clears what longer registers have above it.
#[inline]
pub(super) fn clear() {
    // SAFETY: changes only registers named as outputs.
    unsafe {
        asm!(
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "movi v\\n\\().2d, 0",
            ".endr",
            ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            "movi v\\n\\().2d, 0",
            ".endr",
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
            out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _,
            out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            out("v16") _, out("v17") _, out("v18") _, out("v19") _,
            out("v20") _, out("v21") _, out("v22") _, out("v23") _,
            out("v24") _, out("v25") _, out("v26") _, out("v27") _,
            out("v28") _, out("v29") _, out("v30") _, out("v31") _,
            options(nomem, nostack, preserves_flags)
        );
    }
}

/// All that a call may change, except the platform's register.
#[inline]
pub(super) fn clear_general() {
    // SAFETY: changes only registers named as outputs.
    unsafe {
        asm!(
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17",
            "mov x\\n, xzr",
            ".endr",
            out("x0") _, out("x1") _, out("x2") _, out("x3") _, out("x4") _, out("x5") _,
            out("x6") _, out("x7") _, out("x8") _, out("x9") _, out("x10") _, out("x11") _,
            out("x12") _, out("x13") _, out("x14") _, out("x15") _, out("x16") _, out("x17") _,
            options(nomem, nostack, preserves_flags)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_cleared() {
        let mut found = [[0xEE_u8; 16]; 24];
        // Those of which a call preserves nothing; the compiler may restore the others.
        // SAFETY: changes only registers named as outputs.
        unsafe {
            asm!(
                ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23",
                "movi v\\n\\().16b, 0xab",
                ".endr",
                ".irp n, 24, 25, 26, 27, 28, 29, 30, 31",
                "movi v\\n\\().16b, 0xab",
                ".endr",
                clobber_abi("C"),
                options(nomem, nostack, preserves_flags)
            );
        }
        crate::wipe::registers();
        // SAFETY: writes the array.
        unsafe {
            asm!(
                ".irp n, 0, 2, 4, 6, 16, 18, 20, 22, 24, 26, 28, 30",
                "str q\\n, [{place}], 16",
                ".endr",
                ".irp n, 1, 3, 5, 7, 17, 19, 21, 23, 25, 27, 29, 31",
                "str q\\n, [{place}], 16",
                ".endr",
                place = inout(reg) found.as_mut_ptr() => _,
                options(nostack, preserves_flags)
            );
        }
        assert_eq!(found, [[0; 16]; 24]);
    }
}
