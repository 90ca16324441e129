//! A generator that is a value owned by the caller.

use core::fmt;
use core::num::NonZeroU64;

use lanecrypt_kernels::Isa;

use crate::error::{EntropyError, abort};
use crate::linux::copy_and_wipe::LONG;
use crate::linux::core_type::SeedCore;
use crate::linux::erasing::Erasing;
use crate::linux::errno::Errno;
use crate::linux::generator::{Generator, Mix, Mixing, name_only};
use crate::linux::kernel;
use crate::linux::methods::{draws, interval};
use crate::linux::page::Refusal;
use crate::linux::pool::{self, Slot};
use crate::linux::rekeying::{Counters, Rekeying};
use crate::linux::slab::User;
use crate::linux::strict::Strict;
use crate::linux::vdso::State;
use crate::linux::word::Word;

/// A generator that is a value owned by the caller.
///
/// It has the properties of its kind, [`Erasing`] or [`Rekeying`], and a forked child does not
/// repeat its parent. It avoids the look-up of the thread's generator at each request. It may be
/// sent to another thread.
pub struct Owned<G = Erasing> {
    /// `None` if there is no page that a fork empties. Then nothing is buffered.
    slot: Option<Slot<G>>,
    isa: Isa,
    interval: Option<NonZeroU64>,
}

impl<G: Generator> Owned<G> {
    /// A generator seeded by the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the kernel gives no random bytes.
    pub fn new() -> Result<Self, EntropyError> {
        Self::with_isa(Isa::detect())
    }

    /// A generator seeded by the kernel, with the kernels of `isa`.
    ///
    /// # Errors
    ///
    /// Same as [`Owned::new`].
    pub fn with_isa(isa: Isa) -> Result<Self, EntropyError> {
        Self::made(isa, None)
    }

    pub(crate) fn made(isa: Isa, interval: Option<NonZeroU64>) -> Result<Self, EntropyError> {
        let mut generator = Self { slot: None, isa, interval };
        generator.try_fill(&mut [0; 4])?;
        Ok(generator)
    }

    /// The same generator with kernel bytes mixed into every request.
    #[must_use]
    pub const fn strict(self) -> Strict<Self> {
        Strict::new(self)
    }

    /// Fills `out` with random bytes, or returns an error.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the kernel gives no random bytes. `out` must then not be used.
    #[inline(always)]
    pub fn try_fill(&mut self, out: &mut [u8]) -> Result<(), EntropyError> {
        let Some(slot) = &mut self.slot else { return self.fill_slowly(out) };
        if out.len() >= LONG {
            return self.fill_long(out);
        }
        if G::take_few_bytes(&mut slot.page_mut(), out).is_err() {
            return self.fill_slowly(out);
        }
        Ok(())
    }

    draws!(mut);

    /// Drops the buffer and takes a new key from the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the kernel gives no random bytes.
    pub fn reseed(&mut self) -> Result<(), EntropyError> {
        self.fill_with(&mut [], Mixing::NewKey)
    }

    #[inline(always)]
    pub(crate) fn word<W: Word>(&mut self) -> W {
        let Some(slot) = &mut self.slot else {
            return self.word_slowly(Refusal::Empty);
        };
        match G::take(&mut slot.page_mut()) {
            Ok(word) => word,
            Err(refusal) => self.word_slowly(refusal),
        }
    }

    #[cold]
    #[inline(never)]
    fn word_slowly<W: Word>(&mut self, refusal: Refusal) -> W {
        if self.slot.as_mut().is_some_and(|slot| slot.page_mut().drew_zero(refusal)) {
            return W::ZERO;
        }
        W::by(|bytes| self.fill_slowly(bytes)).unwrap_or_else(|error| abort(error))
    }

    /// A long request. Not inlined, so that short ones are small enough to be inlined.
    #[inline(never)]
    fn fill_long(&mut self, out: &mut [u8]) -> Result<(), EntropyError> {
        let Some(slot) = &mut self.slot else { return self.fill_slowly(out) };
        if G::take_bytes(&mut slot.page_mut(), self.isa, out).is_err() {
            return self.fill_slowly(out);
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn fill_slowly(&mut self, out: &mut [u8]) -> Result<(), EntropyError> {
        self.fill_with(out, Mixing::Refills)
    }
}

interval!(Owned);

impl<G: Generator> Mix for Owned<G> {
    fn fill_with(&mut self, out: &mut [u8], mixing: Mixing) -> Result<(), EntropyError> {
        let _errno = Errno::keep();
        if self.slot.is_none() {
            self.slot = pool::take(User::Value).ok();
        }
        match &mut self.slot {
            Some(slot) => slot.owner(self.isa, self.interval).fill(out, mixing),
            None => kernel::fill(State::NONE, out),
        }
    }
}

impl<G> fmt::Debug for Owned<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        name_only("Owned", f)
    }
}
