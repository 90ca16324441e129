//! Where pages come from and go back to.
//!
//! Pages are mapped sixteen at a time ([`crate::slab`]), emptied by the kernel in a forked child
//! ([`lanecrypt_kernels::fork`]), left out of core dumps (`MADV_DONTDUMP`) and locked in memory as
//! far as the limit allows ([`crate::memlock`]). The pool's lock lies in such a page, too: a child
//! finds it free, whatever the parent's threads were doing at the moment of the fork.

use core::num::NonZeroU64;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::fork::map_wiped;

pub(crate) use lanecrypt_kernels::fork::NoPage;

use crate::errno::Errno;
use crate::memlock::Tally;
use crate::owner::Owner;
use crate::page::{Page, PageMut, STRIDE};
use crate::quiet::Blocked;
use crate::slab::{self, User};
use crate::vdso::State;

/// How often to try for the lock before giving up; holders do a few stores or one mapping.
const TRIES: u32 = 10_000;

/// A page that belongs to whoever has this value, and its state of the kernel's generator. It goes
/// back when this is dropped.
pub(crate) struct Slot<G> {
    /// Mapped for ever.
    page: NonNull<Page<G>>,
    vdso: State,
}

// SAFETY: the page belongs to this value alone, wherever it goes.
unsafe impl<G> Send for Slot<G> {}
// SAFETY: no method does anything through a shared reference but read atomic numbers, or what the
// page's lock allows.
unsafe impl<G> Sync for Slot<G> {}

impl<G> Slot<G> {
    /// Puts together what [`Slot::into_parts`] took apart.
    ///
    /// # Safety
    ///
    /// They are parts of one slot, and nobody uses the page.
    pub(crate) unsafe fn from_parts(page: &'static Page<G>, vdso: State) -> Self {
        Self { page: page.into(), vdso }
    }

    /// The page, to be used by whoever arranges whose turn it is.
    pub(crate) fn into_parts(self) -> (&'static Page<G>, State)
    where
        G: 'static,
    {
        let (page, vdso) = (self.page, self.vdso);
        core::mem::forget(self);
        // SAFETY: pages stay mapped.
        (unsafe { page.as_ref() }, vdso)
    }

    #[inline(always)]
    pub(crate) fn page(&self) -> &Page<G> {
        // SAFETY: pages stay mapped.
        unsafe { self.page.as_ref() }
    }

    /// The page's state of the kernel's generator.
    pub(crate) fn vdso(&self) -> State {
        self.vdso
    }

    #[inline(always)]
    pub(crate) fn page_mut(&mut self) -> PageMut<'_, G> {
        // SAFETY: the page belongs to this value, which is borrowed.
        unsafe { PageMut::new(self.page()) }
    }

    pub(crate) fn owner(&mut self, isa: Isa, interval: Option<NonZeroU64>) -> Owner<'_, G> {
        let vdso = self.vdso;
        Owner { page: self.page_mut(), vdso, isa, interval }
    }
}

impl<G> Drop for Slot<G> {
    /// Wipes the page and returns it.
    fn drop(&mut self) {
        let _errno = Errno::keep();
        self.page_mut().empty();
        // A page that cannot be returned now stays mapped, wiped and unused.
        let Ok(pool) = pool() else { return };
        if let Some(lock) = Lock::of(pool) {
            slab::put(&lock, self.page.cast());
        }
    }
}

/// What a forked child begins anew, in a page of its own. All zero is valid.
#[repr(C)]
struct Pool {
    /// One while somebody changes the slabs. Acquired with acquire, given up with release.
    lock: AtomicU32,
    tally: Tally,
}

/// The pool once it is mapped; null before, `REFUSED` if it cannot be. Published with release.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(null_mut());
const REFUSED: *mut Pool = core::ptr::dangling_mut();

/// How much of the protection that was asked for the kernel granted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Protection {
    pub(crate) wipe_on_fork: bool,
    pub(crate) dont_dump: bool,
    pub(crate) locked: bool,
    pub(crate) locked_bytes: usize,
    pub(crate) lock_budget: Option<u64>,
}

/// What the kernel grants; maps the first slab if there is none yet.
pub(crate) fn protection() -> Protection {
    if let Ok(mut slot) = take::<()>(User::Value) {
        lock_in_memory(&mut slot.page_mut());
    }
    let pool = pool().ok();
    Protection {
        wipe_on_fork: pool.is_some(),
        dont_dump: pool.is_some() && slab::is_kept_out_of_dumps(),
        locked: pool.is_some_and(|pool| pool.tally.has_locked_all()),
        locked_bytes: pool.map_or(0, |pool| pool.tally.bytes()),
        lock_budget: pool.map_or(Some(0), |pool| pool.tally.budget()),
    }
}

/// Takes a page, all zero.
///
/// # Errors
///
/// See [`NoPage`].
pub(crate) fn take<G>(user: User) -> Result<Slot<G>, NoPage> {
    let lock = Lock::of(pool()?).ok_or(NoPage::NotNow)?;
    let (page, vdso) = slab::take(&lock, user)?;
    drop(lock);
    let mut slot = Slot { page: page.cast(), vdso };
    // One that was left behind may hold bytes.
    slot.page_mut().empty();
    Ok(slot)
}

/// Locks a page in memory, if the limit allows: then it never reaches swap space.
pub(crate) fn lock_in_memory<G>(page: &mut PageMut<'_, G>) {
    if let Ok(pool) = pool() {
        pool.tally.lock(page);
    }
}

fn pool() -> Result<&'static Pool, NoPage> {
    let mut pool = POOL.load(Ordering::Acquire);
    if pool.is_null() {
        // Of threads that race, one publishes its page and the others give theirs up.
        let mapped = match map_wiped(STRIDE) {
            Ok(page) => page.as_ptr().cast(),
            Err(NoPage::Refused) => REFUSED,
            Err(NoPage::NotNow) => return Err(NoPage::NotNow),
        };
        pool = match POOL.compare_exchange(null_mut(), mapped, Ordering::Release, Ordering::Acquire)
        {
            Ok(_) => mapped,
            Err(first) => {
                if mapped != REFUSED {
                    // SAFETY: this mapping was made above and nobody else has seen it.
                    unsafe { libc::munmap(mapped.cast(), STRIDE) };
                }
                first
            }
        };
    }
    if pool == REFUSED {
        return Err(NoPage::Refused);
    }
    // SAFETY: the pool stays mapped, everything in it is atomic, and all zero is valid.
    Ok(unsafe { &*pool })
}

/// The pool's lock, held with all signals blocked: so no handler finds its own thread holding it,
/// and none forks while the slabs are half changed.
pub(crate) struct Lock {
    pool: &'static Pool,
    /// Ends after the lock is given up.
    _blocked: Blocked,
}

impl Lock {
    /// Takes the lock; `None` if others keep it busy for too long.
    fn of(pool: &'static Pool) -> Option<Self> {
        let blocked = Blocked::new();
        for attempt in 0..TRIES {
            // Pairs with the store in `drop`.
            if pool.lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return Some(Self { pool, _blocked: blocked });
            }
            if attempt % 64 == 63 {
                std::thread::yield_now();
            } else {
                core::hint::spin_loop();
            }
        }
        None
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Pairs with the exchange in `of`.
        self.pool.lock.store(0, Ordering::Release);
    }
}
