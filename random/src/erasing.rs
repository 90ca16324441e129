//! A generator that its holder owns.

use core::fmt;
use core::marker::PhantomData;

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::chacha::ChaCha;

use crate::SeedCore;
use crate::errno::Errno;
use crate::error::{EntropyError, abort};
use crate::hand_out::LONG;
use crate::kernel;
use crate::owner::{Mixing, Owner};
use crate::page::{Refusal, Word};
use crate::pool;
use crate::strict::{Mix, Strict};
use crate::vdso::State;

/// A generator with fast key erasure over the core `C`, owned by whoever holds it.
///
/// It has the guarantees of the per-thread generator (bytes are wiped as they leave, keys are
/// replaced before they could tell what was given out, a forked child never repeats its parent)
/// and saves looking the thread's generator up at each request. It may be sent to another thread.
pub struct Erasing<C = ChaCha<20>> {
    /// `None` as long as there is no page that a fork empties: then nothing may be buffered.
    owner: Option<Owner>,
    isa: Isa,
    core: PhantomData<fn() -> C>,
}

// SAFETY: the page belongs to this value alone, wherever it goes.
unsafe impl<C> Send for Erasing<C> {}
// SAFETY: no method does anything through a shared reference.
unsafe impl<C> Sync for Erasing<C> {}

impl<C: SeedCore> Erasing<C> {
    /// A generator seeded by the kernel.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] when the kernel gives no random bytes.
    pub fn new() -> Result<Self, EntropyError> {
        Self::with_isa(Isa::detect())
    }

    /// A generator seeded by the kernel whose kernels are those of `isa`.
    ///
    /// # Errors
    ///
    /// As for [`Erasing::new`].
    pub fn with_isa(isa: Isa) -> Result<Self, EntropyError> {
        let mut generator = Self { owner: None, isa, core: PhantomData };
        generator.try_fill(&mut [0; 4])?;
        Ok(generator)
    }

    /// The same generator with kernel bytes mixed into every request.
    #[must_use]
    pub const fn strict(self) -> Strict<Self> {
        Strict::new(self)
    }

    /// Fills `out` with random bytes, or says why it cannot.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] when the kernel gives no random bytes; `out` must then not be used.
    #[inline]
    pub fn try_fill(&mut self, out: &mut [u8]) -> Result<(), EntropyError> {
        if let Some(owner) = self.owner {
            let page = owner.slot.page;
            let taken = if out.len() < LONG {
                // SAFETY: this value owns the page.
                unsafe { page.take_few_bytes(out) }
            } else {
                // SAFETY: this value owns the page.
                unsafe { page.take_bytes(owner.isa, out) }
            };
            if taken.is_ok() {
                return Ok(());
            }
        }
        self.fill_slowly(out)
    }

    /// Fills `out` with random bytes.
    ///
    /// Aborts the process, after one line on standard error, where [`Erasing::try_fill`] would
    /// return an error.
    #[inline]
    pub fn fill(&mut self, out: &mut [u8]) {
        if let Err(error) = self.try_fill(out) {
            abort(error);
        }
    }

    /// A random 32-bit number. Aborts like [`Erasing::fill`].
    #[inline]
    #[must_use]
    pub fn u32(&mut self) -> u32 {
        self.word()
    }

    /// A random 64-bit number. Aborts like [`Erasing::fill`].
    #[inline]
    #[must_use]
    pub fn u64(&mut self) -> u64 {
        self.word()
    }

    #[inline(always)]
    fn word<W: Word>(&mut self) -> W {
        let Some(owner) = self.owner else {
            return self.word_slowly(Refusal::Empty);
        };
        // SAFETY: this value owns the page.
        match unsafe { owner.slot.page.take() } {
            Ok(word) => word,
            Err(refusal) => self.word_slowly(refusal),
        }
    }

    #[cold]
    #[inline(never)]
    fn word_slowly<W: Word>(&mut self, refusal: Refusal) -> W {
        if let (Refusal::Zero, Some(owner)) = (refusal, self.owner)
            // SAFETY: this value owns the page.
            && unsafe { owner.slot.page.is_live() }
        {
            return W::ZERO;
        }
        W::by(|bytes| self.fill_slowly(bytes)).unwrap_or_else(|error| abort(error))
    }

    #[cold]
    #[inline(never)]
    fn fill_slowly(&mut self, out: &mut [u8]) -> Result<(), EntropyError> {
        self.fill_with(out, Mixing::Refills)
    }
}

impl<C: SeedCore> Mix for Erasing<C> {
    fn fill_with(&mut self, out: &mut [u8], mixing: Mixing) -> Result<(), EntropyError> {
        let _errno = Errno::keep();
        if self.owner.is_none() {
            self.owner = pool::take().ok().map(|slot| Owner { slot, isa: self.isa });
        }
        let Some(owner) = self.owner else {
            return kernel::fill(State::NONE, out);
        };
        // SAFETY: this value owns the page, and no signal handler can reach it.
        unsafe { owner.fill::<C>(out, mixing) }
    }
}

impl<C> Drop for Erasing<C> {
    fn drop(&mut self) {
        let _errno = Errno::keep();
        if let Some(owner) = self.owner {
            pool::give_back(owner.slot);
        }
    }
}

impl<C> fmt::Debug for Erasing<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Erasing").finish_non_exhaustive()
    }
}
