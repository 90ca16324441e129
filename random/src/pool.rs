//! Where pages come from and go back to.
//!
//! Pages are mapped sixteen at a time ([`crate::slab`]), emptied by the kernel in a forked child
//! ([`lanecrypt_kernels::fork`]), left out of core dumps (`MADV_DONTDUMP`) and locked in memory as far
//! as the limit allows ([`crate::memlock`]). The pool's lock lies in such a page, too: a child finds it
//! free, whatever the parent's threads were doing at the moment of the fork.

use core::mem::{MaybeUninit, offset_of};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use lanecrypt_kernels::fork::map_wiped;
use lanecrypt_kernels::wipe;

pub(crate) use lanecrypt_kernels::fork::NoPage;

use crate::memlock::Tally;
use crate::page::{Page, PagePtr, STRIDE};
use crate::slab::{self, User};
use crate::vdso::State;

/// How often to try for the lock before giving up; holders do a few stores or one mapping.
const TRIES: u32 = 10_000;

/// A page and the state of the kernel's generator that goes with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) page: PagePtr,
    pub(crate) vdso: State,
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
    if let Ok(slot) = take(User::Value) {
        lock_in_memory(slot.page);
        give_back(slot);
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
pub(crate) fn take(user: User) -> Result<Slot, NoPage> {
    let locked = Lock::of(pool()?).ok_or(NoPage::NotNow)?;
    // SAFETY: the lock is held.
    let slot = unsafe { slab::take(user) };
    drop(locked);
    slot
}

/// Wipes a page and takes it back.
pub(crate) fn give_back(slot: Slot) {
    // SAFETY: the owner hands the page over.
    unsafe { empty(slot.page) };
    // A page that cannot be returned now stays mapped, wiped and unused.
    let Ok(pool) = pool() else { return };
    if let Some(_locked) = Lock::of(pool) {
        // SAFETY: the lock is held, and the page belongs to nobody.
        unsafe { slab::put(slot.page) };
    }
}

/// Wipes a page; whether it is locked in memory stays known.
///
/// # Safety
///
/// The page is mapped and the caller owns it.
pub(crate) unsafe fn empty(page: PagePtr) {
    let length = offset_of!(Page, locked);
    // SAFETY: the caller's promise; the length is less than that of a page.
    let bytes = unsafe { core::slice::from_raw_parts_mut(page.0.cast::<u8>(), length) };
    wipe::memory(bytes);
}

/// Locks a page in memory, if the limit allows: then it never reaches swap space. The caller owns the
/// page, or has locked it.
pub(crate) fn lock_in_memory(page: PagePtr) {
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
struct Lock {
    pool: &'static Pool,
    signals: libc::sigset_t,
}

impl Lock {
    /// Takes the lock; `None` if others keep it busy for too long.
    fn of(pool: &'static Pool) -> Option<Self> {
        let held = Self { pool, signals: block_signals() };
        for attempt in 0..TRIES {
            // Pairs with the store in `drop`.
            let lock = &held.pool.lock;
            if lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
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
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Pairs with the exchange in `of`.
        self.pool.lock.store(0, Ordering::Release);
        restore_signals(&self.signals);
    }
}

/// Blocks all signals of this thread; returns those that were blocked before.
fn block_signals() -> libc::sigset_t {
    let mut all = MaybeUninit::uninit();
    // SAFETY: the call fills the set in.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // Empty, where a filter of system calls refuses the call that fills it in.
    let mut before = MaybeUninit::zeroed();
    // SAFETY: the first set was filled in above, and the call fills in the second.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    // SAFETY: a set is plain bits, and all of them have a value.
    unsafe { before.assume_init() }
}

fn restore_signals(signals: &libc::sigset_t) {
    // SAFETY: the set is what the thread had before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, signals, null_mut()) };
}
