//! Memory for secrets that are kept as they came: locked, not dumped, wiped at the end.

#[cfg(not(unix))]
mod heap;
#[cfg(unix)]
mod mapping;

use core::fmt;
use core::ops::{Deref, DerefMut};

#[cfg(not(unix))]
use self::heap::Memory;
#[cfg(unix)]
use self::mapping::Memory;
use crate::wipe;

/// One page that the kernel neither swaps out nor writes to core dumps. It is zero at first, and
/// wiped on drop.
///
/// A forked child has a copy, which is not locked. Linux and FreeBSD leave it out of core dumps. On
/// systems other than Unix it is memory of the heap, and no more than wiped.
pub struct LockedPage(Memory);

impl LockedPage {
    /// The length in bytes.
    pub const LENGTH: usize = 4096;

    /// A page; none if memory is short, or if the process may not lock more (`RLIMIT_MEMLOCK`).
    /// `errno` may change.
    #[must_use]
    pub fn new() -> Option<Self> {
        Memory::new().map(Self)
    }
}

impl Deref for LockedPage {
    type Target = [u8; Self::LENGTH];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for LockedPage {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Drop for LockedPage {
    fn drop(&mut self) {
        wipe::memory(&mut **self);
    }
}

impl fmt::Debug for LockedPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockedPage").finish_non_exhaustive()
    }
}

#[cfg(all(test, target_os = "linux"))]
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
