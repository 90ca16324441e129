//! Instructions for areas and their sequences.

#[path = "../arch/sequence.rs"]
mod sequence;

pub(super) use sequence::{descriptor, lock_at, page_at};

/// Assembly: the signature that the kernel expects before the place where an aborted sequence
/// continues (`brk #0x45e0`).
macro_rules! signature {
    () => {
        ".balign 4
        .inst 0xd428bc00"
    };
}

pub(super) use signature;

/// As in `arch`.
#[inline(always)]
pub(crate) fn exported() -> (*const isize, *const u32) {
    let (offset, size): (*const isize, *const u32);
    // Weak, as in `x86_64`.
    // SAFETY: reads the addresses of two variables, or zero.
    unsafe {
        core::arch::asm!(
            ".weak __rseq_offset",
            ".weak __rseq_size",
            "adrp {offset}, :got:__rseq_offset",
            "ldr {offset}, [{offset}, :got_lo12:__rseq_offset]",
            "adrp {size}, :got:__rseq_size",
            "ldr {size}, [{size}, :got_lo12:__rseq_size]",
            offset = out(reg) offset,
            size = out(reg) size,
            options(nostack, preserves_flags, readonly)
        );
    }
    (offset, size)
}

/// As in `arch`.
#[inline(always)]
pub(crate) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: reads a register that programs may read.
    unsafe {
        core::arch::asm!(
            "mrs {pointer}, tpidr_el0",
            pointer = out(reg) pointer,
            options(nostack, nomem, preserves_flags)
        );
    }
    pointer
}

/// As in `arch`.
#[inline(never)]
pub(crate) fn unentered() -> usize {
    let sequence;
    // SAFETY: only takes an address. The sequence has the form that the kernel expects, with the
    // signature before the place where an aborted one would continue.
    unsafe {
        core::arch::asm!(
            descriptor!(),
            ".pushsection __rseq_failure, \"ax\"",
            ".balign 4",
            "2:",
            "udf 0",
            "3:",
            signature!(),
            "4:",
            "udf 0",
            ".popsection",
            "adrp {sequence}, 9b",
            "add {sequence}, {sequence}, :lo12:9b",
            sequence = out(reg) sequence,
            options(nostack, nomem, preserves_flags)
        );
    }
    sequence
}
