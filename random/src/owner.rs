//! What the user of a page does when the quick way does not serve: everything that needs the
//! kernel, a refill or more than the buffer holds. It begins again when a fork emptied the page.

use core::num::NonZeroU64;

use lanecrypt_kernels::Isa;

use crate::error::EntropyError;
use crate::generator::{Cut, Generator, Mixing};
use crate::page::PageMut;
use crate::pool;
use crate::vdso::State;

/// A page in use, and what its user needs to refill it.
pub(crate) struct Owner<'a, G> {
    pub(crate) page: PageMut<'a, G>,
    /// The page's state of the kernel's generator.
    pub(crate) vdso: State,
    pub(crate) isa: Isa,
    /// Bytes that one key makes, for generators that count them; `None` is the process's setting.
    pub(crate) interval: Option<NonZeroU64>,
}

impl<G: Generator> Owner<'_, G> {
    /// Fills `out`, whatever the state of the page.
    ///
    /// # Errors
    ///
    /// When the kernel gives no random bytes; the page is then empty and not live.
    pub(crate) fn fill(mut self, out: &mut [u8], mixing: Mixing) -> Result<(), EntropyError> {
        loop {
            match self.attempt(out, mixing) {
                Ok(()) if self.page.is_live() => return Ok(()),
                Ok(()) | Err(Cut::Forked) => {}
                Err(Cut::NoEntropy(error)) => {
                    // So the next request seeds anew.
                    self.page.begin(false);
                    return Err(error);
                }
            }
        }
    }

    /// One attempt to fill `out`; it fails if a fork empties the page meanwhile.
    fn attempt(&mut self, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        if mixing == Mixing::NewKey || !self.page.is_live() {
            // Before the key is drawn: a fork from here on makes the page read as not live.
            self.page.begin(true);
            // Not only when it was mapped: a child inherits no locks.
            pool::lock_in_memory(&mut self.page);
            G::key(self)?;
        }
        G::serve(self, out, mixing)
    }
}

impl<G> Owner<'_, G> {
    /// Fails if a fork has emptied the page.
    pub(crate) fn check(&self) -> Result<(), Cut> {
        if self.page.is_live() { Ok(()) } else { Err(Cut::Forked) }
    }
}
