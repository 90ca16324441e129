//! Memory that a fork empties, and a number that tells a value whether it is still in the process
//! that made it.

#[cfg(feature = "std")]
pub use self::mapped::{NoPage, map_wiped};

/// The process that a value was made in, as the count of forks since the first of its ancestors.
///
/// The number is in a page that the kernel empties in a forked child (`MADV_WIPEONFORK`, Linux
/// 4.14). The child finds zero there and takes the next number, so no process ever has the number
/// of an ancestor. Every kind of fork is noticed: `fork`, `clone`, raw system calls, and in signal
/// handlers. A child that shares the memory of its parent (`vfork`, `CLONE_VM`) has its parent's
/// number, and so has a copy of the whole process or machine.
///
/// Compare with [`is_current`](Self::is_current): if memory is short at first, one process has two
/// values. If the kernel refuses such pages, the id of the process replaces the number. Then two
/// cases are not noticed: a child in its own namespace of process ids that has the id of its
/// parent, and a later process with the same id. Without the feature `std` no fork is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation(#[cfg(feature = "std")] u64);

#[cfg(not(feature = "std"))]
impl Generation {
    /// The calling process.
    #[must_use]
    #[inline]
    pub fn now() -> Self {
        Self()
    }

    /// Whether this is still the process that made the value.
    #[must_use]
    #[inline]
    pub fn is_current(self) -> bool {
        true
    }
}

#[cfg(feature = "std")]
impl Generation {
    /// The calling process. The first call of a process maps a page; safe in signal handlers.
    #[must_use]
    #[inline]
    pub fn now() -> Self {
        match mapped::number() {
            0 => Self(mapped::first_number()),
            number => Self(number),
        }
    }

    /// Whether this is still the process that made the value: two loads and a comparison.
    #[must_use]
    #[inline(always)]
    pub fn is_current(self) -> bool {
        mapped::number() == self.0 || mapped::is_this_process(self.0)
    }
}

#[cfg(feature = "std")]
mod mapped {
    use core::ptr::{NonNull, null_mut};
    use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

    use std::io::Error;

    use crate::pin;

    /// The reason why there is no memory that a fork empties.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "it will not change its mind, or it may")]
    pub enum NoPage {
        /// The kernel refuses it, and will not change its mind.
        Refused,
        /// Memory is short; the next request may try again.
        NotNow,
    }

    /// Advice that no kernel knows.
    const NO_ADVICE: libc::c_int = -1;

    /// Maps `length` bytes of zeroed memory that a forked child sees as zero. It is never unmapped.
    /// If this code is in a shared library, the library stays loaded from then on. `errno` may
    /// change.
    ///
    /// # Errors
    ///
    /// [`NoPage`].
    pub fn map_wiped(length: usize) -> Result<NonNull<u8>, NoPage> {
        pin::stay_loaded();
        let base = map(length)?;
        // Emulators such as qemu's user mode ignore advice and report success for any, even for
        // advice that does not exist; a forked child would then see its parent's data.
        // SAFETY: the range is exactly the fresh mapping.
        let refusal = match unsafe { libc::madvise(base, length, libc::MADV_WIPEONFORK) } {
            // SAFETY: as above.
            0 if unsafe { libc::madvise(base, length, NO_ADVICE) } != 0 => None,
            0 => Some(NoPage::Refused),
            // Old kernels answer EINVAL; filters of system calls EPERM, ENOSYS or any other error.
            _ => match Error::last_os_error().raw_os_error() {
                Some(libc::ENOMEM | libc::EAGAIN | libc::EINTR) => Some(NoPage::NotNow),
                _ => Some(NoPage::Refused),
            },
        };
        if let Some(refusal) = refusal {
            unmap(base, length);
            return Err(refusal);
        }
        NonNull::new(base.cast()).ok_or(NoPage::NotNow)
    }

    /// Zeroed memory that nothing else refers to.
    fn map(length: usize) -> Result<*mut libc::c_void, NoPage> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping touches no memory that is in use.
        let base = unsafe { libc::mmap(null_mut(), length, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED { Err(NoPage::NotNow) } else { Ok(base) }
    }

    fn unmap(base: *mut libc::c_void, length: usize) {
        // SAFETY: the callers made the mapping, and nobody else has seen it.
        unsafe { libc::munmap(base, length) };
    }

    /// The length of a mapping that holds the number.
    const PAGE: usize = 4096;
    /// Set in the number if the kernel refuses the page; the rest is then the id of the process.
    const IS_PROCESS: u64 = 1 << 63;

    /// The place of the number; before it is mapped, or if it cannot be, a place that holds zero.
    /// Published with release, loaded with acquire.
    static PLACE: AtomicPtr<AtomicU64> = AtomicPtr::new(core::ptr::from_ref(&UNMAPPED).cast_mut());
    static UNMAPPED: AtomicU64 = AtomicU64::new(0);
    static REFUSED: AtomicU64 = AtomicU64::new(0);
    /// The last number that this process or an ancestor of it took. Relaxed everywhere, as is the
    /// number itself: they publish nothing else.
    static LAST: AtomicU64 = AtomicU64::new(0);

    /// The number of this process; zero if it has none yet.
    #[inline(always)]
    pub(super) fn number() -> u64 {
        // SAFETY: a static, or a word in a mapping that is never undone; all zero is valid for it.
        unsafe { &*PLACE.load(Ordering::Acquire) }.load(Ordering::Relaxed)
    }

    /// Whether `number` is the id of this process, if the kernel refuses the page.
    #[cold]
    #[inline(never)]
    pub(super) fn is_this_process(number: u64) -> bool {
        number & IS_PROCESS != 0 && number == process()
    }

    /// The number of a process that has none yet, or the id in its place.
    #[cold]
    #[inline(never)]
    pub(super) fn first_number() -> u64 {
        let place = place();
        if [&raw const UNMAPPED, &raw const REFUSED].contains(&core::ptr::from_ref(place)) {
            return process();
        }
        // No ancestor has this number: their numbers are lower, because `LAST` is inherited.
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        // A fork in between only makes the child skip a number.
        match place.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => number,
            Err(first) => first,
        }
    }

    /// The place of the number, which is mapped now if it was not.
    fn place() -> &'static AtomicU64 {
        let mut place = PLACE.load(Ordering::Acquire);
        if core::ptr::eq(place, &raw const UNMAPPED) {
            let mapped = match map_wiped(PAGE) {
                Ok(base) => base.as_ptr().cast(),
                Err(NoPage::Refused) => core::ptr::from_ref(&REFUSED).cast_mut(),
                Err(NoPage::NotNow) => place,
            };
            // If threads race, one publishes its page and the others unmap theirs.
            match PLACE.compare_exchange(place, mapped, Ordering::Release, Ordering::Acquire) {
                Ok(_) => place = mapped,
                Err(first) => {
                    if !core::ptr::eq(mapped, &raw const REFUSED) && mapped != place {
                        unmap(mapped.cast(), PAGE);
                    }
                    place = first;
                }
            }
        }
        // SAFETY: as in `number`.
        unsafe { &*place }
    }

    fn process() -> u64 {
        // SAFETY: has no preconditions.
        let id = unsafe { libc::getpid() };
        IS_PROCESS | u64::from(id.unsigned_abs())
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_one_number() {
        let numbers: Vec<_> =
            (0..8).map(|_| std::thread::spawn(Generation::now)).map(|t| t.join()).collect();
        for number in numbers {
            let number = number.expect("it only asks");
            assert!(number.is_current() && number == Generation::now());
        }
    }

    #[test]
    fn what_stands_for_a_number_is_of_one_process() {
        // SAFETY: has no preconditions.
        let (own, parent) = (unsafe { libc::getpid() }, unsafe { libc::getppid() });
        let of = |id: libc::pid_t| Generation(1 << 63 | u64::from(id.unsigned_abs()));
        assert!(of(own).is_current() && !of(parent).is_current());
    }
}
