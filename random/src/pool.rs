//! Where pages come from and go back to.
//!
//! Pages are mapped sixteen at a time, emptied by the kernel in a forked child
//! (`MADV_WIPEONFORK`), left out of core dumps (`MADV_DONTDUMP`) and locked in memory while the
//! limit allows. The pool's own book-keeping lives in such a page, too: a child begins with an
//! empty, unlocked pool, whatever the parent's threads were doing at the moment of the fork.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use crate::page::{Page, PagePtr, SIZE, STRIDE};
use crate::vdso::{self, State};

/// Pages mapped at a time.
const SLAB: usize = 16;
/// How often to try for the lock before giving up; holders do a few stores or one mapping.
const TRIES: u32 = 10_000;
/// Advice that no kernel knows.
const NO_ADVICE: libc::c_int = -1;

/// A page and the state of the kernel's generator that goes with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) page: PagePtr,
    pub(crate) vdso: State,
}

/// Why there is no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPage {
    /// The kernel refuses pages that are emptied on fork, or memory at all.
    Refused,
    /// The pool is busy. A signal handler must not wait: it may have interrupted the holder.
    Busy,
}

/// The pool, in a page of its own.
#[repr(C)]
struct Pool {
    /// One while somebody changes the list. Acquired with acquire, given up with release.
    lock: AtomicU32,
    /// The first free page; linked through `Page::next`. Guarded by `lock`.
    free: *mut Page,
}

/// The pool once it is mapped; null before, `REFUSED` if it cannot be. Published with release.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(null_mut());
const REFUSED: *mut Pool = core::ptr::dangling_mut();

/// Whether every slab so far is excluded from core dumps, and whether it is locked in memory.
static DUMPED: AtomicBool = AtomicBool::new(false);
static UNLOCKED: AtomicBool = AtomicBool::new(false);

/// How much of the protection that was asked for the kernel granted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Protection {
    pub(crate) wipe_on_fork: bool,
    pub(crate) dont_dump: bool,
    pub(crate) locked: bool,
}

/// What the kernel grants; maps the first slab if there is none yet.
pub(crate) fn protection() -> Protection {
    if let Ok(slot) = take() {
        give_back(slot);
    }
    let wipe_on_fork = pool().is_some();
    Protection {
        wipe_on_fork,
        // Relaxed: plain facts, which do not publish anything else.
        dont_dump: wipe_on_fork && !DUMPED.load(Ordering::Relaxed),
        locked: wipe_on_fork && !UNLOCKED.load(Ordering::Relaxed),
    }
}

/// Takes a page, all zero, for an owner.
///
/// # Errors
///
/// See [`NoPage`].
pub(crate) fn take() -> Result<Slot, NoPage> {
    let pool = pool().ok_or(NoPage::Refused)?;
    if !lock(pool) {
        return Err(NoPage::Busy);
    }
    // SAFETY: the pool stays mapped, and this thread holds its lock.
    let slot = unsafe { pop(pool) }.ok_or(NoPage::Refused);
    unlock(pool);
    slot
}

/// Wipes a page and takes it back.
pub(crate) fn give_back(slot: Slot) {
    let page = slot.page.0;
    // SAFETY: the owner hands the page over, and a page is `SIZE` bytes.
    let bytes = unsafe { core::slice::from_raw_parts_mut(page.cast::<u8>(), SIZE) };
    lanecrypt_kernels::wipe::memory(bytes);
    // A page that cannot be returned now stays mapped, wiped and unused.
    let Some(pool) = pool() else { return };
    if !lock(pool) {
        return;
    }
    // SAFETY: the lock is held and the page belongs to nobody.
    unsafe { push(pool, slot) };
    unlock(pool);
}

fn pool() -> Option<*mut Pool> {
    let mut pool = POOL.load(Ordering::Acquire);
    if pool.is_null() {
        // Of threads that race, one publishes its page and the others give theirs up.
        let mapped = map_protected(STRIDE).map_or(REFUSED, |page| page.cast());
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
    (pool != REFUSED).then_some(pool)
}

fn lock(pool: *mut Pool) -> bool {
    // SAFETY: the pool stays mapped; the lock is only ever used as an atomic.
    let lock = unsafe { &(*pool).lock };
    for attempt in 0..TRIES {
        // Pairs with the store in `unlock`.
        if lock.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return true;
        }
        if attempt % 64 == 63 {
            std::thread::yield_now();
        } else {
            core::hint::spin_loop();
        }
    }
    false
}

fn unlock(pool: *mut Pool) {
    // SAFETY: as in `lock`.
    let lock = unsafe { &(*pool).lock };
    // Pairs with the exchange in `lock`.
    lock.store(0, Ordering::Release);
}

/// Takes the first free page, mapping a new slab if there is none.
///
/// # Safety
///
/// The lock is held.
unsafe fn pop(pool: *mut Pool) -> Option<Slot> {
    // SAFETY: the list is guarded by the lock.
    if unsafe { (*pool).free }.is_null() {
        // SAFETY: the lock is held.
        unsafe { grow(pool)? };
    }
    // SAFETY: as above.
    let page = unsafe { (*pool).free };
    if page.is_null() {
        // A handler forked in between, and this child's pool is empty again.
        return None;
    }
    // SAFETY: free pages are mapped and belong to the list.
    let next = unsafe { (*page).next };
    // SAFETY: as above.
    let vdso = unsafe { (*page).vdso };
    // SAFETY: as above.
    unsafe { (*pool).free = next };
    // SAFETY: the page is out of the list now.
    unsafe { (*page).next = null_mut() };
    // SAFETY: the page is out of the list now.
    unsafe { (*page).vdso = null_mut() };
    Some(Slot { page: PagePtr(page), vdso: State(vdso) })
}

/// Puts a page in front of the list.
///
/// # Safety
///
/// The lock is held; the page is mapped and belongs to nobody.
unsafe fn push(pool: *mut Pool, slot: Slot) {
    let page = slot.page.0;
    // SAFETY: the page belongs to this call.
    unsafe { (*page).vdso = slot.vdso.0 };
    // SAFETY: the list is guarded by the lock.
    let first = unsafe { (*pool).free };
    // SAFETY: the page belongs to this call.
    unsafe { (*page).next = first };
    // SAFETY: the list is guarded by the lock.
    unsafe { (*pool).free = page };
}

/// Maps a slab and puts its pages on the list.
///
/// # Safety
///
/// The lock is held.
unsafe fn grow(pool: *mut Pool) -> Option<()> {
    let slab = map_protected(SLAB * STRIDE)?;
    let mut states = [State::NONE; SLAB];
    vdso::map_states(SLAB, |i, state| states[i] = state);
    for (i, &vdso) in states.iter().enumerate() {
        let page = PagePtr(slab.wrapping_add(i * STRIDE).cast());
        // SAFETY: the lock is held, and the page is fresh.
        unsafe { push(pool, Slot { page, vdso }) };
    }
    Some(())
}

/// Maps zeroed memory that a forked child sees as zero; `None` if the kernel cannot do that.
fn map_protected(length: usize) -> Option<*mut u8> {
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh anonymous mapping touches no memory that is in use.
    let base = unsafe { libc::mmap(null_mut(), length, protection, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the range is exactly the fresh mapping.
    let refused = unsafe { libc::madvise(base, length, libc::MADV_WIPEONFORK) } != 0;
    // Emulators such as qemu's user mode ignore advice and answer success to any, even to one that
    // does not exist; a forked child would then repeat its parent's bytes.
    // SAFETY: the range is exactly the fresh mapping.
    if refused || unsafe { libc::madvise(base, length, NO_ADVICE) } == 0 {
        // SAFETY: nobody else knows of the mapping.
        unsafe { libc::munmap(base, length) };
        return None;
    }
    // SAFETY: the range is exactly the fresh mapping.
    if unsafe { libc::madvise(base, length, libc::MADV_DONTDUMP) } != 0 {
        DUMPED.store(true, Ordering::Relaxed);
    }
    // On fault: the gaps between pages are locked only in name and take no memory.
    // SAFETY: the range is exactly the fresh mapping.
    if unsafe { libc::mlock2(base, length, libc::MLOCK_ONFAULT) } != 0 {
        UNLOCKED.store(true, Ordering::Relaxed);
    }
    Some(base.cast())
}
