//! A generator for programs with one thread.

use core::cell::UnsafeCell;
use core::fmt;

use crate::error::EntropyError;
use crate::linux::erasing::Erasing;
use crate::linux::generator::{Generator, name_only};
use crate::linux::kernel;
use crate::linux::methods::draws;
use crate::linux::owned::Owned;
use crate::linux::page_guard::{Mark, Marked};
use crate::linux::word::Word;

/// A generator that one thread uses from many places, without a lock, a thread-local look-up or the
/// processor's number. It suffices for a program with one thread.
///
/// Unlike [`Owned`] it is used through a shared reference. The compiler ensures that no other
/// thread has one at the same time.
///
/// Safe in signal handlers, which get kernel bytes if they interrupt a draw, and after a fork.
pub struct SingleThread<G = Erasing> {
    held: UnsafeCell<Owned<G>>,
    /// Set while a draw is in progress.
    mark: Mark,
}

impl<G: Generator> SingleThread<G> {
    /// A generator seeded by the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the kernel gives no random bytes.
    pub fn new() -> Result<Self, EntropyError> {
        let held = Owned::new()?;
        Ok(Self { held: UnsafeCell::new(held), mark: Mark::new() })
    }

    /// Fills `out` with random bytes, or returns an error.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the kernel gives no random bytes. `out` must then not be used.
    #[inline]
    pub fn try_fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        match self.begin() {
            Some(mut draw) => draw.held().try_fill(out),
            None => kernel::stand_in(out),
        }
    }

    draws!();

    /// Drops the buffer and takes a new key from the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the kernel gives no random bytes.
    ///
    /// Does nothing in a signal handler that interrupts a draw.
    pub fn reseed(&self) -> Result<(), EntropyError> {
        self.begin().map_or(Ok(()), |mut draw| draw.held().reseed())
    }

    #[inline(always)]
    fn word<W: Word>(&self) -> W {
        self.begin().map_or_else(kernel::stand_in_word, |mut draw| draw.held().word())
    }

    /// Begins a draw; `None` if this is a handler that interrupted one.
    #[inline(always)]
    fn begin(&self) -> Option<Draw<'_, G>> {
        Some(Draw { held: &self.held, _mark: self.mark.begin()? })
    }
}

/// The draw in progress. Dropping it ends the draw.
struct Draw<'a, G> {
    held: &'a UnsafeCell<Owned<G>>,
    _mark: Marked<'a>,
}

impl<G> Draw<'_, G> {
    #[inline(always)]
    fn held(&mut self) -> &mut Owned<G> {
        // SAFETY: the type cannot be shared between threads, and a handler that interrupts this
        // draw finds the mark.
        unsafe { &mut *self.held.get() }
    }
}

impl<G> fmt::Debug for SingleThread<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        name_only("SingleThread", f)
    }
}
