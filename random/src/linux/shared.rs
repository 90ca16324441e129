//! One generator behind a lock, for all threads.

use core::fmt;
use core::hint::spin_loop;
use core::num::NonZeroU64;
use std::thread::yield_now;

use lanecrypt_kernels::Isa;

use crate::error::{EntropyError, abort};
use crate::linux::core_type::SeedCore;
use crate::linux::erasing::Erasing;
use crate::linux::errno::Errno;
use crate::linux::generator::{Generator, Mixing, name_only, take_any};
use crate::linux::kernel;
use crate::linux::methods::{draws, interval};
use crate::linux::owner::Owner;
use crate::linux::page_guard::{Marked, PageGuard};
use crate::linux::pool::{self, Slot};
use crate::linux::rekeying::{Counters, Rekeying};
use crate::linux::slab::User;
use crate::linux::vdso::State;
use crate::linux::word::Word;

/// The number of tries for the lock before each further try first yields the processor.
const SPINS: u32 = 100;
/// The number of tries before drawing from the kernel: the holder may be a thread that does not run
/// for a long time.
const TRIES: u32 = 10_000;

/// One generator of the kind `G` behind a lock, which many threads share.
///
/// Most libraries keep their generator like this, and it is the slowest place: two threads that
/// draw at the same time get less than a single one. It is here for comparison, and for programs
/// with one sequence of keys for all threads. Programs should use [`PerThread`](crate::PerThread).
///
/// Safe in signal handlers, which get kernel bytes if they interrupt a draw, and after a fork. A
/// child finds the lock free and the generator unseeded, whichever thread held the lock.
pub struct Shared<G = Erasing> {
    /// `None` if there was no page that a fork empties. Then every request is passed to the kernel.
    slot: Option<Slot<G>>,
    isa: Isa,
    interval: Option<NonZeroU64>,
}

impl<G: Generator> Shared<G> {
    /// A generator seeded by the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the kernel gives no random bytes.
    pub fn new() -> Result<Self, EntropyError> {
        Self::made(Isa::detect(), None)
    }

    fn made(isa: Isa, interval: Option<NonZeroU64>) -> Result<Self, EntropyError> {
        let _errno = Errno::keep();
        let generator = Self { slot: pool::take(User::Value).ok(), isa, interval };
        generator.try_fill(&mut [0; 4])?;
        Ok(generator)
    }

    /// Fills `out` with random bytes, or returns an error.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the kernel gives no random bytes. `out` must then not be used.
    #[inline]
    pub fn try_fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        let Some(mut turn) = self.turn() else { return kernel::stand_in(out) };
        match take_any(&mut turn.page(), || self.isa, out) {
            Ok(()) => Ok(()),
            Err(_) => self.serve(turn, out, Mixing::Refills),
        }
    }

    draws!();

    /// Drops the buffer and takes a new key from the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the kernel gives no random bytes.
    ///
    /// Does nothing in a signal handler that interrupts a draw, or if the lock stays busy for long.
    pub fn reseed(&self) -> Result<(), EntropyError> {
        self.turn().map_or(Ok(()), |turn| self.serve(turn, &mut [], Mixing::NewKey))
    }

    #[inline(always)]
    fn word<W: Word>(&self) -> W {
        let Some(mut turn) = self.turn() else {
            return kernel::stand_in_word();
        };
        match G::take(&mut turn.page()) {
            Ok(word) => word,
            Err(refusal) if turn.page().drew_zero(refusal) => W::ZERO,
            Err(_) => W::by(|bytes| self.serve(turn, bytes, Mixing::Refills))
                .unwrap_or_else(|error| abort(error)),
        }
    }

    /// Waits for the lock. `None` if the draw must be from the kernel: there is no page, this is a
    /// handler that interrupted a draw, or the lock stays busy for long.
    #[inline(always)]
    fn turn(&self) -> Option<PageGuard<'_, G>> {
        let page = self.slot.as_ref()?.page();
        let draw = Marked::of_thread()?;
        // SAFETY: this value's page is only used in this way.
        match unsafe { draw.try_lock(page) } {
            Ok(turn) => Some(turn),
            Err(draw) => self.wait_for(draw),
        }
    }

    /// Tries for the lock repeatedly. `None` if it stays busy for too long.
    #[cold]
    #[inline(never)]
    fn wait_for<'a>(&'a self, mut draw: Marked<'static>) -> Option<PageGuard<'a, G>> {
        let _errno = Errno::keep();
        let page = self.slot.as_ref()?.page();
        for attempt in 0..TRIES {
            if attempt < SPINS {
                spin_loop();
            } else {
                yield_now();
            }
            // SAFETY: as in `turn`.
            match unsafe { draw.try_lock(page) } {
                Ok(turn) => return Some(turn),
                Err(again) => draw = again,
            }
        }
        None
    }

    /// A request that the buffer did not serve.
    #[cold]
    #[inline(never)]
    fn serve(
        &self,
        mut turn: PageGuard<'_, G>,
        out: &mut [u8],
        mixing: Mixing,
    ) -> Result<(), EntropyError> {
        let _errno = Errno::keep();
        let vdso = self.slot.as_ref().map_or(State::NONE, Slot::vdso);
        let (isa, interval) = (self.isa, self.interval);
        Owner { page: turn.page(), vdso, isa, interval }.fill(out, mixing)
    }
}

interval!(Shared);

impl<G> fmt::Debug for Shared<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        name_only("Shared", f)
    }
}
