//! The pool of pages.
//!
//! Pages are mapped sixteen at a time ([`crate::linux::slab`]), emptied by the kernel in a forked
//! child ([`lanecrypt_kernels::fork`]), excluded from core dumps (`MADV_DONTDUMP`) and locked in
//! memory as far as the limit allows ([`crate::linux::memlock`]). The pool's lock is in such a
//! page, too ([`crate::linux::pool_lock`]).

use core::num::NonZeroU64;
use core::ptr::NonNull;

use lanecrypt_kernels::Isa;

pub(crate) use lanecrypt_kernels::fork::NoPage;

use crate::linux::errno::Errno;
use crate::linux::owner::Owner;
use crate::linux::page::{Page, PageMut};
use crate::linux::pool_lock::{Lock, pool};
use crate::linux::slab::{self, User};
use crate::linux::vdso::State;

/// A page that this value owns, and its state of the kernel's generator. Dropping it returns the
/// page.
pub(crate) struct Slot<G> {
    /// Mapped for ever.
    page: NonNull<Page<G>>,
    vdso: State,
}

// SAFETY: the page belongs to this value alone, in whatever thread it is.
unsafe impl<G> Send for Slot<G> {}
// SAFETY: through a shared reference, methods only read atomic numbers, or do what the page's lock
// allows.
unsafe impl<G> Sync for Slot<G> {}

impl<G> Slot<G> {
    /// Joins the parts that [`Slot::into_parts`] returned.
    ///
    /// # Safety
    ///
    /// They are parts of one slot, and nobody uses the page.
    pub(crate) unsafe fn from_parts(page: &'static Page<G>, vdso: State) -> Self {
        Self { page: page.into(), vdso }
    }

    /// The page and its state, for code that controls the use of the page itself.
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

/// The protection that the kernel granted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Protection {
    pub(crate) wipe_on_fork: bool,
    pub(crate) dont_dump: bool,
    pub(crate) locked: bool,
    pub(crate) locked_bytes: usize,
    pub(crate) lock_budget: Option<u64>,
}

/// The protection that the kernel grants. Maps the first slab if there is none yet.
pub(crate) fn protection() -> Protection {
    if let Ok(mut slot) = take::<()>(User::Value) {
        lock_in_memory(&slot.page_mut());
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
    // An abandoned page may contain bytes.
    slot.page_mut().empty();
    Ok(slot)
}

/// Locks a page in memory, if the limit allows it. Then it never reaches swap space.
pub(crate) fn lock_in_memory<G>(page: &PageMut<'_, G>) {
    if let Ok(pool) = pool() {
        let page = page.page();
        if let Some(base) = slab::base_of(NonNull::from(page).cast()) {
            // SAFETY: the page is one of that slab.
            unsafe { pool.tally.lock(page, base) };
        }
    }
}
