//! One generator behind a lock, for all threads.

use core::fmt;
use core::hint::spin_loop;
use core::marker::PhantomData;
use core::num::NonZeroU64;
use std::thread::yield_now;

use lanecrypt_kernels::Isa;

use crate::core_type::SeedCore;
use crate::erasing::Erasing;
use crate::errno::Errno;
use crate::error::{EntropyError, abort};
use crate::generator::{Generator, Mixing, name_only};
use crate::kernel;
use crate::owner::Owner;
use crate::page::{PagePtr, Word};
use crate::pool;
use crate::rekeying::{Counters, Made, Rekeying};
use crate::slab::User;
use crate::turn::Mark;

/// Tries for the lock before the processor is offered to others at each further one.
const SPINS: u32 = 100;
/// Tries after which the kernel is asked: the holder may be a thread that will not run for long.
const TRIES: u32 = 10_000;

/// One generator of the kind `G` behind a lock: the state that many threads share.
///
/// The place that most libraries keep their generator at, and the slowest: two threads that draw at
/// the same time get less than one alone. It is here for comparison, and for programs that want one
/// sequence of keys for all threads. [`PerThread`](crate::PerThread) is what programs should use.
///
/// Safe in signal handlers, which get kernel bytes where they interrupt a draw, and after a fork: the
/// child finds the lock free and the generator unseeded, whoever held it.
pub struct Shared<G = Erasing> {
    /// `None` if there was no page that a fork empties: then every request goes to the kernel.
    owner: Option<Owner>,
    kind: PhantomData<fn() -> G>,
}

// SAFETY: the page belongs to this value, wherever it goes.
unsafe impl<G> Send for Shared<G> {}
// SAFETY: only who holds the page's lock touches the rest of it.
unsafe impl<G> Sync for Shared<G> {}

impl<G: Generator> Shared<G> {
    /// A generator seeded by the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] when the kernel gives no random bytes.
    pub fn new() -> Result<Self, EntropyError> {
        Self::made(None)
    }

    fn made(interval: Option<NonZeroU64>) -> Result<Self, EntropyError> {
        let _errno = Errno::keep();
        let isa = Isa::detect();
        let owner = pool::take(User::Value).ok().map(|slot| Owner { slot, isa, interval });
        let generator = Self { owner, kind: PhantomData };
        generator.try_fill(&mut [0; 4])?;
        Ok(generator)
    }

    /// Fills `out` with random bytes, or says why it cannot.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] when the kernel gives no random bytes; `out` must then not be used.
    #[inline]
    pub fn try_fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        let Some(turn) = self.turn() else { return kernel::stand_in(out) };
        let Owner { slot, isa, .. } = turn.owner;
        // SAFETY: the turn makes this call the page's owner.
        let taken = unsafe { G::take_any(slot.page, || isa, out) };
        match taken {
            Ok(()) => Ok(()),
            Err(_) => turn.serve::<G>(out, Mixing::Refills),
        }
    }

    /// Fills `out` with random bytes.
    ///
    /// Aborts the process, after one line on standard error, where [`Shared::try_fill`] would
    /// return an error.
    #[inline]
    pub fn fill(&self, out: &mut [u8]) {
        if let Err(error) = self.try_fill(out) {
            abort(error);
        }
    }

    /// A random 32-bit number. Aborts like [`Shared::fill`].
    #[inline]
    #[must_use]
    pub fn u32(&self) -> u32 {
        self.word()
    }

    /// A random 64-bit number. Aborts like [`Shared::fill`].
    #[inline]
    #[must_use]
    pub fn u64(&self) -> u64 {
        self.word()
    }

    /// Drops what is buffered and takes a new key from the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] when the kernel gives no random bytes.
    ///
    /// Does nothing in a signal handler that interrupts a draw, and if the lock stays busy for long.
    pub fn reseed(&self) -> Result<(), EntropyError> {
        self.turn().map_or(Ok(()), |turn| turn.serve::<G>(&mut [], Mixing::NewKey))
    }

    #[inline(always)]
    fn word<W: Word>(&self) -> W {
        let Some(turn) = self.turn() else {
            return kernel::stand_in_word();
        };
        // SAFETY: the turn makes this call the page's owner.
        match unsafe { G::take(turn.owner.slot.page) } {
            Ok(word) => word,
            // SAFETY: as above.
            Err(refusal) if unsafe { turn.owner.slot.page.drew_zero(refusal) } => W::ZERO,
            Err(_) => W::by(|bytes| turn.serve::<G>(bytes, Mixing::Refills))
                .unwrap_or_else(|error| abort(error)),
        }
    }

    /// Waits for the lock; `None` where the kernel must be asked instead: there is no page, this is
    /// a handler that interrupted a draw, or the lock stays busy for long.
    #[inline(always)]
    fn turn(&self) -> Option<Turn> {
        let owner = self.owner?;
        let mark = Mark::here();
        if !mark.begin() {
            return None;
        }
        // SAFETY: the page is this value's, and locked in this way only.
        if unsafe { owner.slot.page.try_lock() } || wait_for(owner.slot.page) {
            return Some(Turn { owner });
        }
        mark.end();
        None
    }
}

impl<C: SeedCore + 'static> Shared<Rekeying<C>> {
    /// A generator that takes a new key after `interval` bytes of keystream, rounded up to whole
    /// blocks of 64 bytes.
    ///
    /// # Errors
    ///
    /// As for [`Shared::new`].
    pub fn with_interval(interval: NonZeroU64) -> Result<Self, EntropyError> {
        Self::made(Some(interval))
    }

    /// What it has done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        // SAFETY: the page belongs to this value; counters need no lock.
        self.owner
            .map_or_else(Counters::default, |owner| unsafe { Made::of(owner.slot.page).counters() })
    }
}

impl<G> Drop for Shared<G> {
    fn drop(&mut self) {
        let _errno = Errno::keep();
        if let Some(owner) = self.owner {
            pool::give_back(owner.slot);
        }
    }
}

impl<G> fmt::Debug for Shared<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        name_only("Shared", f)
    }
}

/// The lock, held; given up with the thread's mark when dropped.
struct Turn {
    owner: Owner,
}

impl Turn {
    #[cold]
    #[inline(never)]
    fn serve<G: Generator>(&self, out: &mut [u8], mixing: Mixing) -> Result<(), EntropyError> {
        let _errno = Errno::keep();
        // SAFETY: the lock makes this call the page's owner.
        unsafe { self.owner.fill::<G>(out, mixing) }
    }
}

impl Drop for Turn {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: this value stands for the lock.
        unsafe { self.owner.slot.page.unlock() };
        Mark::here().end();
    }
}

/// Tries for a page's lock again and again; false if it stays busy for too long.
#[cold]
#[inline(never)]
fn wait_for(page: PagePtr) -> bool {
    let _errno = Errno::keep();
    (0..TRIES).any(|attempt| {
        if attempt < SPINS {
            spin_loop();
        } else {
            yield_now();
        }
        // SAFETY: the page is one that many threads lock in this way.
        unsafe { page.try_lock() }
    })
}
