//! Instructions for areas and their sequences.

#[path = "../arch/sequence.rs"]
mod sequence;

pub(super) use sequence::{descriptor, lock_at, page_at};

/// Assembly: the signature that the kernel expects before the place where an aborted sequence
/// continues. As an instruction it is undefined.
macro_rules! signature {
    () => {
        ".byte 0x0f, 0xb9, 0x3d
        .long 0x53053053"
    };
}

pub(super) use signature;

/// As in `arch`.
#[inline(always)]
pub(crate) fn exported() -> (*const isize, *const u32) {
    let (offset, size): (*const isize, *const u32);
    // Weak, because the C libraries of older systems and of other projects do not define them. A
    // program that was linked where they are defined needs that version of glibc, 2.35, from then
    // on.
    // SAFETY: reads the addresses of two variables, or zero.
    unsafe {
        core::arch::asm!(
            ".weak __rseq_offset",
            ".weak __rseq_size",
            "mov {offset}, qword ptr [rip + __rseq_offset@GOTPCREL]",
            "mov {size}, qword ptr [rip + __rseq_size@GOTPCREL]",
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
    // SAFETY: the first word of the thread's control block is its own address.
    unsafe {
        core::arch::asm!(
            "mov {pointer}, qword ptr fs:[0]",
            pointer = out(reg) pointer,
            options(nostack, preserves_flags, readonly)
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
            "2:",
            "ud2",
            "3:",
            signature!(),
            "4:",
            "ud2",
            ".popsection",
            "lea {sequence}, [rip + 9b]",
            sequence = out(reg) sequence,
            options(nostack, nomem, preserves_flags)
        );
    }
    sequence
}
