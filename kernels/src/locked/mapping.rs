//! A mapping of one page.

use core::ops::{Deref, DerefMut};
use core::ptr::{NonNull, null_mut};

use super::LockedPage;

/// How the kernel is asked to leave memory out of core dumps.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NO_DUMP: Option<libc::c_int> = Some(libc::MADV_DONTDUMP);
#[cfg(target_os = "freebsd")]
const NO_DUMP: Option<libc::c_int> = Some(libc::MADV_NOCORE);
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
const NO_DUMP: Option<libc::c_int> = None;

pub(super) struct Memory(NonNull<[u8; LockedPage::LENGTH]>);

impl Memory {
    pub(super) fn new() -> Option<Self> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        // SAFETY: a fresh anonymous mapping touches no memory that is in use.
        let base = unsafe { libc::mmap(null_mut(), LockedPage::LENGTH, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let page = Self(NonNull::new(base.cast())?);
        // SAFETY: the range is exactly the mapping.
        let locked = unsafe { libc::mlock(base, LockedPage::LENGTH) } == 0;
        if let Some(advice) = NO_DUMP {
            // Old kernels may not know the advice.
            // SAFETY: the range is exactly the mapping.
            unsafe { libc::madvise(base, LockedPage::LENGTH, advice) };
        }
        locked.then_some(page)
    }
}

impl Deref for Memory {
    type Target = [u8; LockedPage::LENGTH];

    fn deref(&self) -> &Self::Target {
        // SAFETY: the mapping has this length, is initialised, and lives as long as `self`.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut Self::Target {
        // SAFETY: as in `deref`; nothing else refers to the mapping.
        unsafe { self.0.as_mut() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `new` made the mapping, and no reference to it is left.
        unsafe { libc::munmap(self.0.as_ptr().cast(), LockedPage::LENGTH) };
    }
}

// SAFETY: the value owns its mapping, as a box would.
unsafe impl Send for Memory {}
// SAFETY: a shared mapping is only read.
unsafe impl Sync for Memory {}
