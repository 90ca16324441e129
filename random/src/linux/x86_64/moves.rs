//! Moving bytes by vector registers, which are cleared.

/// Moves 16 to 32 bytes by two registers that may overlap.
#[inline(always)]
pub(crate) fn pair(source: &mut [u8], out: &mut [u8]) {
    let length = out.len();
    assert!(source.len() == length && length >= 16, "the caller looks");
    // SAFETY: reads and wipes the first and the last 16 bytes of `source` and writes them to `out`.
    // Both have at least 16 bytes.
    unsafe {
        core::arch::asm!(
            "movdqu {a}, [{source}]",
            "movdqu {b}, [{source} + {length} - 16]",
            "pxor {zero}, {zero}",
            "movdqu [{source}], {zero}",
            "movdqu [{source} + {length} - 16], {zero}",
            "movdqu [{out}], {a}",
            "movdqu [{out} + {length} - 16], {b}",
            "pxor {a}, {a}",
            "pxor {b}, {b}",
            source = in(reg) source.as_mut_ptr(),
            out = in(reg) out.as_mut_ptr(),
            length = in(reg) length,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            zero = out(xmm_reg) _,
            options(nostack, preserves_flags)
        );
    }
}

/// Moves 16 bytes or more: 64 at a time, then 16, and the last 16, which overlap the previous ones.
///
/// Assembly, because the registers that carried the bytes must be cleared, and only assembly can
/// name them. The last bytes are read first: if they overlap, the loop wipes them.
#[inline(always)]
pub(crate) fn wide(source: &mut [u8], out: &mut [u8]) {
    let length = out.len();
    assert!(source.len() == length && length >= 16, "the caller looks");
    // SAFETY: reads and wipes `length` bytes of `source` and writes as many to `out`. Both have
    // that length. The blocks of 64 and 16 bytes end before the last 16 bytes begin or within them,
    // and the last 16 bytes are inside because the length is at least 16.
    unsafe {
        core::arch::asm!(
            "movdqu {last}, [{source} + {rest} - 16]",
            "pxor {zero}, {zero}",
            "sub {rest}, 16",
            "cmp {rest}, 64",
            "jb 3f",
            "2:",
            "movdqu {a}, [{source}]",
            "movdqu {b}, [{source} + 16]",
            "movdqu {c}, [{source} + 32]",
            "movdqu {d}, [{source} + 48]",
            "movdqu [{source}], {zero}",
            "movdqu [{source} + 16], {zero}",
            "movdqu [{source} + 32], {zero}",
            "movdqu [{source} + 48], {zero}",
            "movdqu [{out}], {a}",
            "movdqu [{out} + 16], {b}",
            "movdqu [{out} + 32], {c}",
            "movdqu [{out} + 48], {d}",
            "add {source}, 64",
            "add {out}, 64",
            "sub {rest}, 64",
            "cmp {rest}, 64",
            "jae 2b",
            "3:",
            "test {rest}, {rest}",
            "jz 5f",
            "4:",
            "movdqu {a}, [{source}]",
            "movdqu [{source}], {zero}",
            "movdqu [{out}], {a}",
            "add {source}, 16",
            "add {out}, 16",
            "sub {rest}, 16",
            "ja 4b",
            "5:",
            "movdqu [{source} + {rest}], {zero}",
            "movdqu [{out} + {rest}], {last}",
            "pxor {a}, {a}",
            "pxor {b}, {b}",
            "pxor {c}, {c}",
            "pxor {d}, {d}",
            "pxor {last}, {last}",
            source = inout(reg) source.as_mut_ptr() => _,
            out = inout(reg) out.as_mut_ptr() => _,
            rest = inout(reg) length => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            last = out(xmm_reg) _,
            zero = out(xmm_reg) _,
            options(nostack)
        );
    }
}

/// Moves 64 bytes or more, like [`wide`].
///
/// Uses only registers above the fifteenth: clearing them whole is cheap, and they cause no
/// transition penalty in surrounding SSE code.
///
/// # Safety
///
/// `source` is valid for reading and writing `out.len()` bytes, at least 64, and nothing else
/// refers to them. The processor has AVX-512.
#[target_feature(enable = "avx512f,avx512vl")]
pub(crate) unsafe fn by_vectors(source: *mut u8, out: &mut [u8]) {
    // SAFETY: as in `wide`, with blocks of 256 and 64 bytes and the last 64.
    unsafe {
        core::arch::asm!(
            "vmovdqu64 zmm20, [{source} + {rest} - 64]",
            "vpxord xmm21, xmm21, xmm21",
            "sub {rest}, 64",
            "cmp {rest}, 256",
            "jb 3f",
            "2:",
            "vmovdqu64 zmm16, [{source}]",
            "vmovdqu64 zmm17, [{source} + 64]",
            "vmovdqu64 zmm18, [{source} + 128]",
            "vmovdqu64 zmm19, [{source} + 192]",
            "vmovdqu64 [{source}], zmm21",
            "vmovdqu64 [{source} + 64], zmm21",
            "vmovdqu64 [{source} + 128], zmm21",
            "vmovdqu64 [{source} + 192], zmm21",
            "vmovdqu64 [{out}], zmm16",
            "vmovdqu64 [{out} + 64], zmm17",
            "vmovdqu64 [{out} + 128], zmm18",
            "vmovdqu64 [{out} + 192], zmm19",
            "add {source}, 256",
            "add {out}, 256",
            "sub {rest}, 256",
            "cmp {rest}, 256",
            "jae 2b",
            "3:",
            "test {rest}, {rest}",
            "jz 5f",
            "4:",
            "vmovdqu64 zmm16, [{source}]",
            "vmovdqu64 [{source}], zmm21",
            "vmovdqu64 [{out}], zmm16",
            "add {source}, 64",
            "add {out}, 64",
            "sub {rest}, 64",
            "ja 4b",
            "5:",
            "vmovdqu64 [{source} + {rest}], zmm21",
            "vmovdqu64 [{out} + {rest}], zmm20",
            "vpxord xmm16, xmm16, xmm16",
            "vpxord xmm17, xmm17, xmm17",
            "vpxord xmm18, xmm18, xmm18",
            "vpxord xmm19, xmm19, xmm19",
            "vpxord xmm20, xmm20, xmm20",
            source = inout(reg) source => _,
            out = inout(reg) out.as_mut_ptr() => _,
            rest = inout(reg) out.len() => _,
            out("zmm16") _,
            out("zmm17") _,
            out("zmm18") _,
            out("zmm19") _,
            out("zmm20") _,
            out("zmm21") _,
            options(nostack)
        );
    }
}
