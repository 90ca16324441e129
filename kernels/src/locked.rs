//! Memory for secrets that are kept as they came: locked, not dumped, wiped at the end.

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::{NonNull, null_mut};

use crate::wipe;

/// One page that the kernel neither swaps out nor writes to core dumps. It is zero at first, and
/// wiped on drop.
///
/// A forked child has a copy, which is not locked.
pub struct LockedPage(NonNull<[u8; Self::LENGTH]>);

impl LockedPage {
    /// The length in bytes.
    pub const LENGTH: usize = 4096;

    /// A page; none if memory is short, or if the process may not lock more (`RLIMIT_MEMLOCK`).
    /// `errno` may change.
    #[must_use]
    pub fn new() -> Option<Self> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping touches no memory that is in use.
        let base = unsafe { libc::mmap(null_mut(), Self::LENGTH, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let page = Self(NonNull::new(base.cast())?);
        // SAFETY: the range is exactly the mapping.
        let locked = unsafe { libc::mlock(base, Self::LENGTH) } == 0;
        // Old kernels may not know the advice.
        // SAFETY: the range is exactly the mapping.
        unsafe { libc::madvise(base, Self::LENGTH, libc::MADV_DONTDUMP) };
        locked.then_some(page)
    }
}

impl Deref for LockedPage {
    type Target = [u8; Self::LENGTH];

    fn deref(&self) -> &Self::Target {
        // SAFETY: the mapping has this length, is initialised, and lives as long as `self`.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for LockedPage {
    fn deref_mut(&mut self) -> &mut Self::Target {
        // SAFETY: as in `deref`; nothing else refers to the mapping.
        unsafe { self.0.as_mut() }
    }
}

impl Drop for LockedPage {
    fn drop(&mut self) {
        wipe::memory(&mut **self);
        // SAFETY: `new` made the mapping, and no reference to it is left.
        unsafe { libc::munmap(self.0.as_ptr().cast(), Self::LENGTH) };
    }
}

impl fmt::Debug for LockedPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockedPage").finish_non_exhaustive()
    }
}

// SAFETY: the value owns its mapping, as a box would.
unsafe impl Send for LockedPage {}
// SAFETY: a shared page is only read.
unsafe impl Sync for LockedPage {}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel says about the mapping that begins at this address.
    fn described(page: &LockedPage) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux has it");
        let begin = format!("{:x}-", page.as_ptr().addr());
        let from = maps.find(&begin).expect("it is a mapping of its own");
        let flags = maps[from..].find("VmFlags").expect("every mapping has flags");
        maps[from..][flags..].lines().next().expect("a line").to_owned()
    }

    #[test]
    fn a_page_is_locked_and_not_dumped() {
        let mut page = LockedPage::new().expect("a page may be locked");
        assert_eq!(*page, [0; LockedPage::LENGTH]);
        page.fill(7);
        let flags = described(&page);
        assert!(flags.contains(" lo") && flags.contains(" dd"), "{flags}");
        assert_eq!(*page, [7; LockedPage::LENGTH]);
    }
    /// A pipe that has been given the page keeps it when it is unmapped.
    #[test]
    fn a_page_is_wiped_before_it_is_given_back() {
        let mut page = LockedPage::new().expect("a page may be locked");
        page.fill(7);
        let mut ends = [0; 2];
        // SAFETY: the pointer is to two integers, which the call fills in.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        let whole = libc::iovec { iov_base: page.as_mut_ptr().cast(), iov_len: LockedPage::LENGTH };
        // SAFETY: the range is the page, which the pipe only reads.
        let given = unsafe { libc::vmsplice(ends[1], &raw const whole, 1, 0) };
        assert_eq!(usize::try_from(given), Ok(LockedPage::LENGTH));
        drop(page);
        let mut left = [1_u8; LockedPage::LENGTH];
        // SAFETY: the pointer and the length are those of the array.
        let read = unsafe { libc::read(ends[0], left.as_mut_ptr().cast(), left.len()) };
        assert_eq!(usize::try_from(read), Ok(LockedPage::LENGTH));
        assert_eq!(left, [0; LockedPage::LENGTH]);
        for end in ends {
            // SAFETY: the descriptor is the test's own.
            assert_eq!(unsafe { libc::close(end) }, 0);
        }
    }
}
