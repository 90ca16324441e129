//! The area in which a thread registers restartable sequences with the kernel (Linux 4.18).
//!
//! The C library registers the area of each thread (glibc 2.35 and later) and exports its offset.

/// Offsets in the thread's area, as the kernel defines them.
pub(super) mod layout {
    pub(crate) const SIGNATURE: u32 = 0x5305_3053;
    pub(crate) const CPU_ID: usize = 4;
    pub(crate) const SEQUENCE: usize = 8;
}

/// Assembly: the description of a sequence for the kernel, at label 9 (`struct rseq_cs`: version,
/// flags, start, length, abort). The sequence runs from label 2 to label 3. If it is aborted,
/// execution continues at label 4.
macro_rules! descriptor {
    () => {
        ".pushsection __rseq_cs, \"aw\"
        .balign 32
        9:
        .long 0, 0
        .quad 2f, 3f - 2f, 4f
        .popsection"
    };
}

/// Assembly: the signature that the kernel expects before the place where an aborted sequence
/// continues. As an instruction it is undefined.
macro_rules! signature {
    () => {
        ".byte 0x0f, 0xb9, 0x3d
        .long {SIGNATURE}"
    };
}

pub(super) use {descriptor, signature};

/// The area of the calling thread, registered with the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area(isize);

impl Area {
    /// The calling thread's, if it has one.
    #[inline]
    pub(crate) fn here() -> Option<Self> {
        let area = offset();
        if area == 0 {
            return None;
        }
        let processor: i32;
        // SAFETY: every thread of the C library has such an area at that offset. A negative number
        // says that the kernel does not know it.
        unsafe {
            core::arch::asm!(
                "mov {processor:e}, dword ptr fs:[{area} + {CPU_ID}]",
                processor = out(reg) processor,
                area = in(reg) area,
                CPU_ID = const layout::CPU_ID,
                options(nostack, preserves_flags, readonly)
            );
        }
        (processor >= 0).then_some(Self(area))
    }

    /// Registers a sequence in which no thread ever is, and returns it. The kernel clears it when
    /// it interrupts the thread, by a signal or to run another one.
    #[inline(never)]
    pub(crate) fn watch(self) -> usize {
        let sequence;
        // SAFETY: the area is this thread's own. The sequence has the form that the kernel expects,
        // with the signature before the place where an aborted one would continue.
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
                "mov qword ptr fs:[{area} + {SEQUENCE}], {sequence}",
                sequence = out(reg) sequence,
                area = in(reg) self.0,
                SEQUENCE = const layout::SEQUENCE,
                SIGNATURE = const layout::SIGNATURE,
                options(nostack, preserves_flags)
            );
        }
        sequence
    }

    /// Whether `sequence` is still registered. Clears it.
    ///
    /// Handlers that interrupt the thread may also register sequences, but never leave this one
    /// registered: watches end before the handler does, and
    /// [`rseq::lock`](crate::linux::rseq::lock) has its own sequences.
    #[inline(always)]
    pub(crate) fn was_undisturbed(self, sequence: usize) -> bool {
        let found: usize;
        // SAFETY: the area is this thread's own; null names no sequence.
        unsafe {
            core::arch::asm!(
                "mov {found}, qword ptr fs:[{area} + {SEQUENCE}]",
                "mov qword ptr fs:[{area} + {SEQUENCE}], 0",
                found = out(reg) found,
                area = in(reg) self.0,
                SEQUENCE = const layout::SEQUENCE,
                options(nostack, preserves_flags)
            );
        }
        found == sequence
    }
}

/// The offset of each thread's area from the thread pointer, in bytes; zero if there is none.
pub(crate) fn offset() -> isize {
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
    if offset.is_null() || size.is_null() {
        return 0;
    }
    // SAFETY: a constant of the C library. It is zero if the kernel refused the registration.
    if unsafe { size.read() } == 0 {
        return 0;
    }
    // SAFETY: a constant of the C library.
    unsafe { offset.read() }
}
