//! Moving bytes by vector registers, which are cleared.

/// Moves 16 to 32 bytes by two registers that may overlap.
#[inline(always)]
pub(crate) fn pair(source: &mut [u8], out: &mut [u8]) {
    let length = out.len();
    assert!(source.len() == length && length >= 16, "the caller looks");
    let (source, out) = (source.as_mut_ptr(), out.as_mut_ptr());
    // SAFETY: reads and wipes the first and the last 16 bytes of `source` and writes them to `out`.
    // Both have at least 16 bytes.
    unsafe {
        core::arch::asm!(
            "ldr {a:q}, [{source}]",
            "ldur {b:q}, [{source_end}, -16]",
            "stp xzr, xzr, [{source}]",
            "stp xzr, xzr, [{source_end}, -16]",
            "str {a:q}, [{out}]",
            "stur {b:q}, [{out_end}, -16]",
            "movi {a:v}.2d, 0",
            "movi {b:v}.2d, 0",
            source = in(reg) source,
            source_end = in(reg) source.wrapping_add(length),
            out = in(reg) out,
            out_end = in(reg) out.wrapping_add(length),
            a = out(vreg) _,
            b = out(vreg) _,
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
    let (source, out) = (source.as_mut_ptr(), out.as_mut_ptr());
    // SAFETY: reads and wipes `length` bytes of `source` and writes as many to `out`. Both have
    // that length. The blocks of 64 and 16 bytes end before the last 16 bytes begin or within them,
    // and the last 16 bytes are inside because the length is at least 16.
    unsafe {
        core::arch::asm!(
            "ldur {last:q}, [{source_end}, -16]",
            "movi {zero:v}.2d, 0",
            "subs {rest}, {rest}, 80",
            "b.lo 3f",
            "2:",
            "ldp {a:q}, {b:q}, [{source}]",
            "ldp {c:q}, {d:q}, [{source}, 32]",
            "stp {zero:q}, {zero:q}, [{source}], 32",
            "stp {zero:q}, {zero:q}, [{source}], 32",
            "stp {a:q}, {b:q}, [{out}], 32",
            "stp {c:q}, {d:q}, [{out}], 32",
            "subs {rest}, {rest}, 64",
            "b.hs 2b",
            "3:",
            "adds {rest}, {rest}, 64",
            "b.eq 5f",
            "4:",
            "ldr {a:q}, [{source}]",
            "str {zero:q}, [{source}], 16",
            "str {a:q}, [{out}], 16",
            "subs {rest}, {rest}, 16",
            "b.hi 4b",
            "5:",
            "stur {zero:q}, [{source_end}, -16]",
            "stur {last:q}, [{out_end}, -16]",
            "movi {a:v}.2d, 0",
            "movi {b:v}.2d, 0",
            "movi {c:v}.2d, 0",
            "movi {d:v}.2d, 0",
            "movi {last:v}.2d, 0",
            source_end = in(reg) source.wrapping_add(length),
            out_end = in(reg) out.wrapping_add(length),
            source = inout(reg) source => _,
            out = inout(reg) out => _,
            rest = inout(reg) length => _,
            a = out(vreg) _,
            b = out(vreg) _,
            c = out(vreg) _,
            d = out(vreg) _,
            last = out(vreg) _,
            zero = out(vreg) _,
            options(nostack)
        );
    }
}
