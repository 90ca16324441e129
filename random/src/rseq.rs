//! Locking the page of the processor that the thread runs on, without an atomic instruction.
//!
//! A *restartable sequence* (Linux 4.18) is a stretch of instructions that the kernel aborts when
//! the thread is preempted, moved to another processor or interrupted by a signal before the last
//! of them. Threads on one processor never run at the same time; so "read the processor's number,
//! find its page, see that the lock is free, set it" is as good as atomic among the threads of that
//! processor, and costs a few plain instructions, where an atomic exchange costs more than all the
//! rest of a draw.
//!
//! The C library registers each thread's area with the kernel (glibc 2.35 and later) and says where
//! it lies; elsewhere there is none, and callers take an ordinary lock.

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
use core::mem::offset_of;
use core::sync::atomic::Ordering;

use crate::page::{Page, PageMut};
use crate::table::{Entry, Place, Table};

/// Offsets in the thread's area, as the kernel defines them.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
mod area {
    pub(super) const SIGNATURE: u32 = 0x5305_3053;
    pub(super) const CPU_ID: usize = 4;
    pub(super) const SEQUENCE: usize = 8;
}

/// Assembly: the kernel's description of a sequence, at label 9 (`struct rseq_cs`: version, flags,
/// start, length, abort). The sequence runs from label 2 to label 3; aborted, it goes on at label
/// 4.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
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

/// Assembly: the signature that the kernel wants before the place where an aborted sequence goes
/// on. As an instruction it is an undefined one.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
macro_rules! signature {
    () => {
        ".byte 0x0f, 0xb9, 0x3d
        .long {SIGNATURE}"
    };
}

/// The area of the calling thread, registered with the kernel.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area(isize);

/// Elsewhere there is none.
#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64")))]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Area {}

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
impl Area {
    /// The calling thread's, if it has one.
    #[inline]
    pub(crate) fn here() -> Option<Self> {
        let area = area();
        if area == 0 {
            return None;
        }
        let processor: i32;
        // SAFETY: every thread of the C library has such an area at that offset. Negative numbers
        // say that the kernel does not know it.
        unsafe {
            core::arch::asm!(
                "mov {processor:e}, dword ptr fs:[{area} + {CPU_ID}]",
                processor = out(reg) processor,
                area = in(reg) area,
                CPU_ID = const area::CPU_ID,
                options(nostack, preserves_flags, readonly)
            );
        }
        (processor >= 0).then_some(Self(area))
    }

    /// Tells the kernel of a sequence that no thread is ever in; returns it. The kernel forgets it
    /// when it interrupts the thread, by a signal or to run another one.
    #[inline(never)]
    pub(crate) fn watch(self) -> usize {
        let sequence;
        // SAFETY: the area is this thread's own. The sequence is as the kernel wants it, with the
        // signature before the place where an aborted one would go on.
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
                SEQUENCE = const area::SEQUENCE,
                SIGNATURE = const area::SIGNATURE,
                options(nostack, preserves_flags)
            );
        }
        sequence
    }

    /// Whether the kernel still knows `sequence`, which it then forgets.
    ///
    /// Handlers that interrupt the thread may name sequences, too, but this one is not among those
    /// that they leave behind: watches end before the handler does, and [`lock`] has sequences of
    /// its own.
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
                SEQUENCE = const area::SEQUENCE,
                options(nostack, preserves_flags)
            );
        }
        found == sequence
    }
}

#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64")))]
impl Area {
    pub(crate) fn here() -> Option<Self> {
        None
    }

    pub(crate) fn watch(self) -> usize {
        match self {}
    }

    pub(crate) fn was_undisturbed(self, _: usize) -> bool {
        match self {}
    }
}

/// One of a processor's own pages, locked by this thread; given up, on whichever processor this
/// thread runs then, when dropped.
pub(crate) struct Own<G: 'static> {
    page: &'static Page<G>,
    entry: &'static Entry<G>,
    which: usize,
}

impl<G> Own<G> {
    /// Where the page is published.
    pub(crate) fn place(&self) -> &'static Place<G> {
        &self.entry.own[self.which]
    }

    #[inline(always)]
    pub(crate) fn page(&mut self) -> PageMut<'_, G> {
        // SAFETY: the lock is held, without which nobody uses an own page.
        unsafe { PageMut::new(self.page) }
    }
}

impl<G> Drop for Own<G> {
    #[inline(always)]
    fn drop(&mut self) {
        // Pairs with the sequence in `lock`, which reads it in order: this processor is x86-64.
        self.entry.is_locked[self.which].store(false, Ordering::Release);
    }
}

/// Locks an own page, the first or the second, of the processor that this thread runs on; `None` if
/// there is none yet, if somebody has locked it, or if the thread was interrupted meanwhile.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
#[inline(always)]
pub(crate) fn lock<G, const WHICH: usize>(table: &'static Table<G>) -> Option<Own<G>> {
    // Pairs with the store when the table was ready.
    let area = table.area.load(Ordering::Acquire);
    if area == 0 {
        return None;
    }
    let (page, entry): (*const Page<G>, *const Entry<G>);
    // SAFETY: the area is this thread's own. The store names the sequence from 2 to 3 to the
    // kernel, which continues at 4 when it aborts it, and forgets the sequence when it finds the
    // thread outside. Within the sequence only the lock is written, by its last instruction: so
    // either all of it happened on one processor without another thread of it in between, or
    // nothing. The processor's number is compared with the number of entries, and a page that is
    // there is mapped for ever.
    unsafe {
        core::arch::asm!(
            descriptor!(),
            "lea {page}, [rip + 9b]",
            "mov qword ptr fs:[{area} + {SEQUENCE}], {page}",
            "2:",
            "mov {page:e}, dword ptr fs:[{area} + {CPU_ID}]",
            "cmp {page}, {count}",
            "jae 4f",
            "shl {page:e}, 7",
            "add {entry}, {page}",
            "mov {page}, [{entry} + {PAGE}]",
            "test {page}, {page}",
            "jz 3f",
            "cmp byte ptr [{entry} + {LOCK}], 0",
            "jne 4f",
            "mov byte ptr [{entry} + {LOCK}], 1",
            "3:",
            ".pushsection __rseq_failure, \"ax\"",
            signature!(),
            "4:",
            "xor {page:e}, {page:e}",
            "jmp 3b",
            ".popsection",
            page = out(reg) page,
            entry = inout(reg) table.entries.load(Ordering::Relaxed).cast_const() => entry,
            count = in(reg) table.count.load(Ordering::Relaxed),
            area = in(reg) area,
            SEQUENCE = const area::SEQUENCE,
            CPU_ID = const area::CPU_ID,
            SIGNATURE = const area::SIGNATURE,
            PAGE = const offset_of!(Entry<G>, own) + WHICH * size_of::<Place<G>>() + offset_of!(Place<G>, page),
            LOCK = const offset_of!(Entry<G>, is_locked) + WHICH,
            options(nostack)
        );
    }
    // SAFETY: published pages stay mapped.
    let page = unsafe { page.as_ref() }?;
    // SAFETY: entries stay mapped, and all that is in them is atomic.
    let entry = unsafe { &*entry };
    Some(Own { page, entry, which: WHICH })
}

/// Elsewhere nothing is known of the processor without a call.
#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64")))]
#[inline(always)]
pub(crate) fn lock<G, const WHICH: usize>(_: &'static Table<G>) -> Option<Own<G>> {
    None
}

// `lock` multiplies by this size; a processor's number has 32 bits.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
const _: () = assert!(size_of::<Entry<()>>() == 128);

/// Where each thread's area lies, in bytes from the thread pointer; zero without one.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
pub(crate) fn area() -> isize {
    let (offset, size): (*const isize, *const u32);
    // Weak: the C libraries that older systems and other projects have do not define them. A
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
    // SAFETY: a constant of the C library; zero if the kernel refused the registration.
    if unsafe { size.read() } == 0 {
        return 0;
    }
    // SAFETY: a constant of the C library.
    unsafe { offset.read() }
}

#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64")))]
pub(crate) fn area() -> isize {
    0
}
