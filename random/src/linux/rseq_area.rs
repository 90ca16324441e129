//! The area in which a thread registers restartable sequences with the kernel (Linux 4.18).
//!
//! The C library registers the area of each thread (glibc 2.35 and later) and exports its offset.

use core::ptr::with_exposed_provenance;

use crate::linux::arch::{exported, thread_pointer, unentered};
use crate::linux::volatile::Volatile;

/// The start of an area, as the kernel defines it (`struct rseq`). The kernel writes to it when it
/// interrupts its thread, like a signal handler.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Fields {
    first_processor: u32,
    /// The processor on which the thread runs. A negative number says that the kernel does not know
    /// the area.
    pub(crate) processor: Volatile<i32>,
    /// The address of the registered sequence's description, or zero.
    pub(crate) sequence: Volatile<usize>,
}

/// The area of the calling thread, registered with the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area(&'static Fields);

impl Area {
    /// The calling thread's, if it has one.
    #[inline]
    pub(crate) fn here() -> Option<Self> {
        let offset = offset();
        if offset == 0 {
            return None;
        }
        let area = with_exposed_provenance(thread_pointer().wrapping_add_signed(offset));
        // SAFETY: every thread of the C library has such an area at that offset as long as it runs.
        // The reference stays in this thread, because the area has cells.
        let area: &Fields = unsafe { &*area };
        (area.processor.get() >= 0).then_some(Self(area))
    }

    /// Registers a sequence in which no thread ever is, and returns it. The kernel clears it when
    /// it interrupts the thread, by a signal or to run another one.
    #[inline(always)]
    pub(crate) fn watch(self) -> usize {
        let sequence = unentered();
        self.0.sequence.set(sequence);
        sequence
    }

    /// Whether `sequence` is still registered. Clears it.
    ///
    /// Handlers that interrupt the thread may also register sequences, but never leave this one
    /// registered: watches end before the handler does, and
    /// [`rseq::lock`](crate::linux::rseq::lock) has its own sequences.
    #[inline(always)]
    pub(crate) fn was_undisturbed(self, sequence: usize) -> bool {
        let found = self.0.sequence.get();
        self.0.sequence.set(0);
        found == sequence
    }
}

/// The offset of each thread's area from the thread pointer, in bytes; zero if there is none.
pub(crate) fn offset() -> isize {
    let (offset, size) = exported();
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The description of a sequence, as the kernel defines it (`struct rseq_cs`).
    #[derive(Clone, Copy, Debug)]
    #[repr(C, align(32))]
    pub(crate) struct Description {
        version: u32,
        flags: u32,
        pub(crate) start: usize,
        pub(crate) length: usize,
        abort: usize,
    }

    impl Description {
        /// The description at this address, which the kernel accepts.
        pub(crate) fn at(address: usize) -> Self {
            let place = with_exposed_provenance::<Self>(address);
            assert!(place.is_aligned());
            // SAFETY: the callers found the address in an area, or in this program.
            let description = unsafe { place.read() };
            assert_eq!((description.version, description.flags), (0, 0));
            assert!(description.length > 0 && !description.contains(description.abort));
            let signature = with_exposed_provenance::<u32>(description.abort).wrapping_sub(1);
            // SAFETY: the place is in the code of this program.
            let signature = unsafe { signature.read_unaligned() };
            assert_eq!(
                signature,
                if cfg!(target_arch = "x86_64") { 0x5305_3053 } else { 0xd428_bc00 }
            );
            description
        }

        fn contains(self, place: usize) -> bool {
            place.wrapping_sub(self.start) < self.length
        }
    }

    impl Fields {
        /// An area that the kernel does not know, of a thread on this processor.
        pub(crate) const fn on(processor: i32) -> Self {
            let first_processor = processor.cast_unsigned();
            Self {
                first_processor,
                processor: Volatile::new(processor),
                sequence: Volatile::new(0),
            }
        }

        /// What the kernel does when it has interrupted the thread at `place`. Returns the place
        /// where the thread continues.
        pub(crate) fn interrupt(&self, place: usize) -> usize {
            let sequence = self.sequence.get();
            if sequence == 0 {
                return place;
            }
            self.sequence.set(0);
            let description = Description::at(sequence);
            if description.contains(place) { description.abort } else { place }
        }
    }

    #[test]
    fn an_interruption_ends_a_watch() {
        if unentered() == 0 {
            return;
        }
        let area = Area(Box::leak(Box::new(Fields::on(0))));
        let sequence = area.watch();
        assert!(area.was_undisturbed(sequence) && area.0.sequence.get() == 0);
        let sequence = area.watch();
        let here = an_interruption_ends_a_watch as fn() as usize;
        assert_eq!(area.0.interrupt(here), here, "no thread is in this sequence");
        assert!(!area.was_undisturbed(sequence));
    }

    #[test]
    fn the_area_of_a_thread_is_that_of_the_c_library() {
        // SAFETY: the name ends with a zero byte.
        let offset = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()) };
        assert!(unentered() == 0 || exported().0 == offset.cast_const().cast());
        let Some(Area(area)) = Area::here() else { return };
        let of_other =
            std::thread::spawn(|| Area::here().map(|it| core::ptr::from_ref(it.0).addr()));
        let of_other = of_other.join().expect("it only looks");
        assert!(of_other.is_some_and(|it| it != core::ptr::from_ref(area).addr()));
        // SAFETY: asks for a number.
        let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        assert!(libc::c_long::from(area.processor.get()) < count);
    }
}
