//! Where pages come from and go back to.
//!
//! Pages are mapped sixteen at a time, emptied by the kernel in a forked child
//! (`MADV_WIPEONFORK`), left out of core dumps (`MADV_DONTDUMP`) and locked in memory while the
//! limit allows. The pool's own book-keeping lives in such a page, too: a child begins with an
//! empty, unlocked pool, whatever the parent's threads were doing at the moment of the fork.

use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use std::io::Error;

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
    /// The kernel refuses pages that are emptied on fork; it will not change its mind.
    Refused,
    /// The pool is busy or memory is short; the next request may try again.
    NotNow,
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

/// Whether some slab got into core dumps, and whether some page could not be locked in memory.
/// Relaxed everywhere: plain facts, which publish nothing else.
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
        lock_in_memory(slot.page);
        give_back(slot);
    }
    let wipe_on_fork = pool().is_ok();
    Protection {
        wipe_on_fork,
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
    let pool = pool()?;
    let locked = Lock::of(pool).ok_or(NoPage::NotNow)?;
    // SAFETY: the pool stays mapped, and this thread holds its lock.
    let slot = unsafe { pop(pool) };
    drop(locked);
    slot
}

/// Wipes a page and takes it back.
pub(crate) fn give_back(slot: Slot) {
    let page = slot.page.0;
    // SAFETY: the owner hands the page over, and a page is `SIZE` bytes.
    let bytes = unsafe { core::slice::from_raw_parts_mut(page.cast::<u8>(), SIZE) };
    lanecrypt_kernels::wipe::memory(bytes);
    // A page that cannot be returned now stays mapped, wiped and unused.
    let Ok(pool) = pool() else { return };
    if let Some(_locked) = Lock::of(pool) {
        // SAFETY: the lock is held and the page belongs to nobody.
        unsafe { push(pool, slot) };
    }
}

/// Locks a page in memory, if the limit allows: then it never reaches swap space.
///
/// With the gap behind it, so that locked pages make one mapping and not many.
pub(crate) fn lock_in_memory(page: PagePtr) {
    // SAFETY: the page and its gap are mapped.
    if unsafe { libc::mlock2(page.0.cast(), STRIDE, libc::MLOCK_ONFAULT) } != 0 {
        UNLOCKED.store(true, Ordering::Relaxed);
    }
}

fn pool() -> Result<*mut Pool, NoPage> {
    let mut pool = POOL.load(Ordering::Acquire);
    if pool.is_null() {
        // Of threads that race, one publishes its page and the others give theirs up.
        let mapped = match map_protected(STRIDE) {
            Ok(page) => page.cast(),
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
    if pool == REFUSED { Err(NoPage::Refused) } else { Ok(pool) }
}

/// The pool's lock, held with all signals blocked: so no handler finds its own thread holding it,
/// and none forks while the list is half changed.
struct Lock {
    pool: *mut Pool,
    signals: libc::sigset_t,
}

impl Lock {
    /// Takes the lock; `None` if others keep it busy for too long.
    fn of(pool: *mut Pool) -> Option<Self> {
        let held = Self { pool, signals: block_signals() };
        for attempt in 0..TRIES {
            // Pairs with the store in `drop`.
            if held.word().compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return Some(held);
            }
            if attempt % 64 == 63 {
                std::thread::yield_now();
            } else {
                core::hint::spin_loop();
            }
        }
        restore_signals(&held.signals);
        core::mem::forget(held);
        None
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: the pool stays mapped; the lock is only ever used as an atomic.
        unsafe { &(*self.pool).lock }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Pairs with the exchange in `of`.
        self.word().store(0, Ordering::Release);
        restore_signals(&self.signals);
    }
}

/// Blocks all signals of this thread; returns those that were blocked before.
fn block_signals() -> libc::sigset_t {
    let mut all = MaybeUninit::uninit();
    // SAFETY: the call fills the set in.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    let mut before = MaybeUninit::uninit();
    // SAFETY: the first set was filled in above, and the call fills in the second.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    // SAFETY: as said; the call cannot fail with these arguments.
    unsafe { before.assume_init() }
}

fn restore_signals(signals: &libc::sigset_t) {
    // SAFETY: the set is what the thread had before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, signals, null_mut()) };
}

/// Takes the first free page, mapping a new slab if there is none.
///
/// # Safety
///
/// The lock is held.
unsafe fn pop(pool: *mut Pool) -> Result<Slot, NoPage> {
    // SAFETY: the list is guarded by the lock.
    if unsafe { (*pool).free }.is_null() {
        // SAFETY: the lock is held.
        unsafe { grow(pool)? };
    }
    // SAFETY: the list is guarded by the lock, and `grow` has put pages on it.
    let page = unsafe { (*pool).free };
    // SAFETY: free pages are mapped and belong to the list.
    let next = unsafe { (*page).next };
    // SAFETY: as above.
    let vdso = unsafe { (*page).vdso };
    // SAFETY: the list is guarded by the lock.
    unsafe { (*pool).free = next };
    // SAFETY: the page is out of the list now.
    unsafe { (*page).next = null_mut() };
    // SAFETY: the page is out of the list now.
    unsafe { (*page).vdso = null_mut() };
    Ok(Slot { page: PagePtr(page), vdso: State(vdso) })
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
unsafe fn grow(pool: *mut Pool) -> Result<(), NoPage> {
    let slab = map_protected(SLAB * STRIDE)?;
    let mut states = [State::NONE; SLAB];
    vdso::map_states(SLAB, |i, state| states[i] = state);
    for (i, &vdso) in states.iter().enumerate() {
        let page = PagePtr(slab.wrapping_add(i * STRIDE).cast());
        // SAFETY: the lock is held, and the page is fresh.
        unsafe { push(pool, Slot { page, vdso }) };
    }
    Ok(())
}

/// Maps zeroed memory that a forked child sees as zero.
fn map_protected(length: usize) -> Result<*mut u8, NoPage> {
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh anonymous mapping touches no memory that is in use.
    let base = unsafe { libc::mmap(null_mut(), length, protection, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return Err(NoPage::NotNow);
    }
    // Emulators such as qemu's user mode ignore advice and answer success to any, even to one that
    // does not exist; a forked child would then repeat its parent's bytes.
    // SAFETY: the range is exactly the fresh mapping.
    let refusal = match unsafe { libc::madvise(base, length, libc::MADV_WIPEONFORK) } {
        // SAFETY: as above.
        0 if unsafe { libc::madvise(base, length, NO_ADVICE) } != 0 => None,
        0 => Some(NoPage::Refused),
        _ if Error::last_os_error().raw_os_error() == Some(libc::EINVAL) => Some(NoPage::Refused),
        _ => Some(NoPage::NotNow),
    };
    if let Some(refusal) = refusal {
        // SAFETY: nobody else knows of the mapping.
        unsafe { libc::munmap(base, length) };
        return Err(refusal);
    }
    // SAFETY: the range is exactly the fresh mapping.
    if unsafe { libc::madvise(base, length, libc::MADV_DONTDUMP) } != 0 {
        DUMPED.store(true, Ordering::Relaxed);
    }
    // Locked at once if the limit allows all of it; else page by page as they are used.
    // SAFETY: the range is exactly the fresh mapping.
    unsafe { libc::mlock2(base, length, libc::MLOCK_ONFAULT) };
    Ok(base.cast())
}
