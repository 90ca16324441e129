//! A number in a page that the kernel empties in a forked child.

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
    // Miri knows no advice, and no fork.
    if cfg!(miri) {
        return Err(NoPage::Refused);
    }
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

/// The number of a process, or its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(u64);

impl Number {
    #[inline]
    pub(super) fn now() -> Self {
        match number() {
            0 => Self(first_number()),
            number => Self(number),
        }
    }

    #[inline(always)]
    pub(super) fn is_current(self) -> bool {
        number() == self.0 || is_this_process(self.0)
    }
}

/// The number of this process; zero if it has none yet.
#[inline(always)]
fn number() -> u64 {
    // SAFETY: a static, or a word in a mapping that is never undone; all zero is valid for it.
    unsafe { &*PLACE.load(Ordering::Acquire) }.load(Ordering::Relaxed)
}

/// Whether `number` is the id of this process, if the kernel refuses the page.
#[cold]
#[inline(never)]
fn is_this_process(number: u64) -> bool {
    number & IS_PROCESS != 0 && number == process()
}

/// The number of a process that has none yet, or the id in its place.
#[cold]
#[inline(never)]
fn first_number() -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_number_is_of_one_process() {
        // SAFETY: has no preconditions.
        let (own, parent) = (unsafe { libc::getpid() }, unsafe { libc::getppid() });
        let of = |id: libc::pid_t| Number(1 << 63 | u64::from(id.unsigned_abs()));
        assert!(of(own).is_current() && !of(parent).is_current());
    }
}
