//! The interface between a kind of generator and its place.

use core::fmt;

use lanecrypt_kernels::{Isa, wipe};

use crate::error::EntropyError;
use crate::linux::copy_and_wipe::LONG;
use crate::linux::owner::{FillError, Owner};
use crate::linux::page::{PageMut, Refusal};
use crate::linux::pool;
use crate::linux::word::Word;

/// A kind of generator: [`Erasing`](crate::Erasing) or [`Rekeying`](crate::Rekeying).
///
/// The kind defines how bytes are computed. The place defines where the state is and which code may
/// use it: [`PerThread`](crate::PerThread), [`PerCpu`](crate::PerCpu), [`Shared`](crate::Shared),
/// [`SingleThread`](crate::SingleThread), [`Owned`](crate::Owned). Other crates cannot add one.
#[expect(private_bounds, private_interfaces, reason = "this is the inside of a generator")]
pub trait Generator: Sized + 'static {
    /// Sets a key from the kernel in a page that is live and has no bytes left.
    #[doc(hidden)]
    fn key(owner: &mut Owner<'_, Self>) -> Result<(), FillError>;

    /// Fills `out` from a page that has a key.
    #[doc(hidden)]
    fn serve(owner: &mut Owner<'_, Self>, out: &mut [u8], mixing: Mixing) -> Result<(), FillError>;

    /// Takes a word, if the fast path can.
    #[doc(hidden)]
    #[inline(always)]
    fn take<W: Word>(page: &mut PageMut<'_, Self>) -> Result<W, Refusal> {
        page.take()
    }

    /// Fills fewer than [`LONG`] bytes, if the fast path can.
    #[doc(hidden)]
    #[inline(always)]
    fn take_few_bytes(page: &mut PageMut<'_, Self>, out: &mut [u8]) -> Result<(), Refusal> {
        page.take_few_bytes(out)
    }

    /// Fills any number of bytes, if the fast path can.
    #[doc(hidden)]
    #[inline(always)]
    fn take_bytes(page: &mut PageMut<'_, Self>, isa: Isa, out: &mut [u8]) -> Result<(), Refusal> {
        page.take_bytes(isa, out)
    }
}

/// Fills `out` of any length, if the fast path can. Long requests use kernels of `isa`.
#[inline(always)]
pub(crate) fn take_any<G: Generator>(
    page: &mut PageMut<'_, G>,
    isa: impl FnOnce() -> Isa,
    out: &mut [u8],
) -> Result<(), Refusal> {
    if out.len() < LONG { G::take_few_bytes(page, out) } else { G::take_bytes(page, isa(), out) }
}

/// The source of the bytes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mixing {
    /// The buffer, if the request fits.
    Refills,
    /// A key made for this request, with kernel bytes in it.
    EveryRequest,
    /// The buffer, after it was dropped and a new key was taken from the kernel.
    NewKey,
}

/// A generator that mixes in kernel bytes on demand.
pub(crate) trait Mix {
    /// Fills `out`, with kernel bytes mixed in according to `mixing`.
    fn fill_with(&mut self, out: &mut [u8], mixing: Mixing) -> Result<(), EntropyError>;
}

impl<G: Generator> Owner<'_, G> {
    /// Fills `out`, in any state of the page. Restarts if a fork empties the page.
    ///
    /// # Errors
    ///
    /// If the kernel gives no random bytes. The page is then empty and not live.
    pub(crate) fn fill(mut self, out: &mut [u8], mixing: Mixing) -> Result<(), EntropyError> {
        loop {
            match self.attempt(out, mixing) {
                Ok(()) if self.page.is_live() => return Ok(()),
                Ok(()) | Err(FillError::Forked) => {}
                Err(FillError::NoEntropy(error)) => {
                    // So that the next request takes a new seed.
                    self.page.begin(false);
                    return Err(error);
                }
            }
        }
    }

    /// Tries to fill `out`. Fails if a fork empties the page meanwhile.
    fn attempt(&mut self, out: &mut [u8], mixing: Mixing) -> Result<(), FillError> {
        if mixing == Mixing::NewKey || !self.page.is_live() {
            // Before the key is drawn, so that the page is not live after any later fork.
            self.page.begin(true);
            // Not only when it was mapped, because a child inherits no locks.
            pool::lock_in_memory(&self.page);
            G::key(self)?;
        }
        G::serve(self, out, mixing)
    }
}

/// Wipes the residue on the stack and in the vector registers of a core that uses `stack` bytes,
/// after `length` bytes of keystream.
pub(crate) fn clean_up(stack: usize, length: usize) {
    match stack {
        0..=2048 if length < 1 << 14 => wipe::stack::<2048>(),
        0..=4096 if length < 1 << 14 => wipe::stack::<4096>(),
        0..=8192 => wipe::stack::<8192>(),
        _ => wipe::stack::<12_288>(),
    }
    wipe::registers();
}

/// Writes the name of a place's type.
pub(crate) fn name_only(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_struct(name).finish_non_exhaustive()
}
