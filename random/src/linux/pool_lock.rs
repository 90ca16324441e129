//! The pool's own page: its lock, and the tally of memory that is locked.
//!
//! The kernel empties this page in a forked child. So a child finds the lock free, regardless of
//! the state of the parent's threads at the fork.

use core::ptr::null_mut;

use lanecrypt_kernels::fork::{NoPage, map_wiped};

use crate::linux::lock_word::LockWord;
use crate::linux::memlock::Tally;
use crate::linux::page::STRIDE;
use crate::linux::published::Published;
use crate::linux::rseq_watch::Blocked;
use crate::sync::AtomicPtr;

/// The number of tries for the lock. Holders only make a few stores or one mapping.
const TRIES: u32 = 10_000;

/// The part of the pool that a forked child starts over, in its own page. All zero is valid.
#[repr(C)]
pub(crate) struct Pool {
    /// Held while a thread changes the slabs.
    lock: LockWord,
    pub(crate) tally: Tally,
}

/// The pool after it was mapped; `REFUSED` if it cannot be mapped.
static POOL: Published<Pool> = Published(AtomicPtr::new(null_mut()));
const REFUSED: *mut Pool = core::ptr::dangling_mut();

/// The pool, which the first caller maps.
pub(crate) fn pool() -> Result<&'static Pool, NoPage> {
    let mut pool = POOL.get();
    if pool.is_null() {
        // If threads race, one publishes its page and the others unmap theirs.
        let mapped = match map_wiped(STRIDE) {
            Ok(page) => page.as_ptr().cast(),
            Err(NoPage::Refused) => REFUSED,
            Err(NoPage::NotNow) => return Err(NoPage::NotNow),
        };
        pool = POOL.publish(mapped).unwrap_or_else(|first| {
            if mapped != REFUSED {
                // SAFETY: this mapping was made above and nobody else has seen it.
                unsafe { libc::munmap(mapped.cast(), STRIDE) };
            }
            first
        });
    }
    if pool == REFUSED {
        return Err(NoPage::Refused);
    }
    // SAFETY: the pool stays mapped, everything in it is atomic, and all zero is valid.
    Ok(unsafe { &*pool })
}

/// The pool's lock, held with all signals blocked. So no handler finds that its own thread holds
/// it, and no handler forks while the slabs are half changed.
pub(crate) struct Lock {
    pool: &'static Pool,
    /// Signals are blocked until the lock has been released.
    _blocked: Blocked,
}

impl Lock {
    /// Takes the lock. `None` if it stays busy for too long.
    pub(crate) fn of(pool: &'static Pool) -> Option<Self> {
        let blocked = Blocked::new();
        for attempt in 0..TRIES {
            if pool.lock.try_lock() {
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
        self.pool.lock.unlock();
    }
}
