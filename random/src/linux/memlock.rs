//! Pages that are locked in memory, within a budget: a quarter of the limit of the process, so that
//! the program can use the rest.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use crate::linux::page::{PageMut, STRIDE};

/// The tally of locked pages. It is in memory that is zero in a forked child, which inherits no
/// locks. Relaxed everywhere: the numbers publish nothing else.
#[repr(C)]
pub(crate) struct Tally {
    bytes: AtomicUsize,
    /// Whether the limit applies to this process; zero before that was tested.
    limited: AtomicU8,
    /// Whether some page could not be locked.
    is_short: AtomicBool,
}

const LIMITED: u8 = 1;
const PRIVILEGED: u8 = 2;
/// The generators' share of the limit.
const PART: u64 = 4;

/// The most bytes that the process may lock. `None` means no limit.
pub(crate) fn limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a structure of the type that the call fills in.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) };
    if result != 0 {
        return Some(0);
    }
    #[allow(clippy::useless_conversion, reason = "limits have 32 bits on some processors")]
    (limit.rlim_cur != libc::RLIM_INFINITY).then(|| limit.rlim_cur.into())
}

impl Tally {
    /// The number of bytes that are locked.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether all pages could be locked.
    pub(crate) fn has_locked_all(&self) -> bool {
        !self.is_short.load(Ordering::Relaxed)
    }

    /// The most bytes that the generators may lock. `None` means no limit.
    pub(crate) fn budget(&self) -> Option<u64> {
        let limit = limit()?;
        (!self.is_privileged(limit)).then_some(limit / PART)
    }

    /// Locks a page, if it is not locked yet and the budget allows it.
    ///
    /// The gap after it is locked, too, so that locked pages form one mapping.
    pub(crate) fn lock<G>(&self, page: &mut PageMut<'_, G>) {
        if page.locked().get() {
            return;
        }
        if self.admit() {
            let start = page.page().buffer().cast();
            // SAFETY: the page and its gap are mapped.
            if unsafe { libc::mlock2(start, STRIDE, libc::MLOCK_ONFAULT) } == 0 {
                page.locked().set(true);
                return;
            }
            self.bytes.fetch_sub(STRIDE, Ordering::Relaxed);
        }
        self.is_short.store(true, Ordering::Relaxed);
    }

    /// Counts a page, if the budget allows one more.
    fn admit(&self) -> bool {
        let limit = limit();
        let one_more = |locked: usize| {
            let more = locked + STRIDE;
            let fits =
                limit.is_none_or(|limit| more as u64 <= limit / PART || self.is_privileged(limit));
            fits.then_some(more)
        };
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    /// Whether the limit does not apply to this process (`CAP_IPC_LOCK`). This is tested once, by
    /// locking more than the limit of memory that is never touched. Having the capability does not
    /// suffice, because it is valid only in the first user namespace.
    fn is_privileged(&self, limit: u64) -> bool {
        let mut known = self.limited.load(Ordering::Relaxed);
        if known == 0 {
            known = if exceeds(limit) { PRIVILEGED } else { LIMITED };
            self.limited.store(known, Ordering::Relaxed);
        }
        known == PRIVILEGED
    }
}

/// Whether more than `limit` bytes can be locked.
fn exceeds(limit: u64) -> bool {
    let Some(length) = usize::try_from(limit).ok().and_then(|limit| limit.checked_add(STRIDE))
    else {
        return false;
    };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping touches no memory that is in use.
    let base = unsafe { libc::mmap(null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return false;
    }
    // SAFETY: the range is exactly the fresh mapping. This brings none of it into memory.
    let is_locked = unsafe { libc::mlock2(base, length, libc::MLOCK_ONFAULT) } == 0;
    // SAFETY: nobody else knows of the mapping.
    unsafe { libc::munmap(base, length) };
    is_locked
}
