//! What the owner of a page does when the quick way does not serve: everything that needs the
//! kernel, a refill or more than the buffer holds, and begins again when a fork emptied the page.

use core::num::NonZeroU64;

use lanecrypt_kernels::Isa;

use crate::error::EntropyError;
use crate::generator::{Cut, Mixing, Source};
use crate::hand_out::hand_out;
use crate::pool::{self, Slot};

/// A page and what its owner needs to refill it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) slot: Slot,
    pub(crate) isa: Isa,
    /// Bytes that one key makes, for generators that count them; `None` is the process's setting.
    pub(crate) interval: Option<NonZeroU64>,
}

impl Owner {
    /// Fills `out`, whatever the state of the page.
    ///
    /// # Errors
    ///
    /// When the kernel gives no random bytes; the page is then empty and not live.
    ///
    /// # Safety
    ///
    /// The page is mapped and the caller owns it; if others may reach it, it is claimed or locked.
    pub(crate) unsafe fn fill<G: Source>(
        self,
        out: &mut [u8],
        mixing: Mixing,
    ) -> Result<(), EntropyError> {
        loop {
            // SAFETY: the caller's promise.
            let result = unsafe { self.attempt::<G>(out, mixing) };
            // SAFETY: the caller's promise.
            let live = unsafe { self.slot.page.is_live() };
            match result {
                Ok(()) if live => return Ok(()),
                Ok(()) | Err(Cut::Forked) => {}
                Err(Cut::NoEntropy(error)) => {
                    // SAFETY: the caller's promise; so the next request seeds anew.
                    unsafe { self.slot.page.set_left(0) };
                    // SAFETY: as above.
                    unsafe { self.slot.page.set_live(false) };
                    return Err(error);
                }
            }
        }
    }

    /// One attempt to fill `out`; it fails if a fork empties the page meanwhile.
    ///
    /// # Safety
    ///
    /// As for [`Owner::fill`].
    unsafe fn attempt<G: Source>(self, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        let page = self.slot.page;
        // SAFETY: the caller's promise.
        if mixing == Mixing::NewKey || !unsafe { page.is_live() } {
            // SAFETY: the caller's promise.
            unsafe { page.set_left(0) };
            // Before the key is drawn: a fork from here on makes the page read as not live.
            // SAFETY: the caller's promise.
            unsafe { page.set_live(true) };
            // Not only when it was mapped: a child inherits no locks.
            pool::lock_in_memory(page);
            // SAFETY: the caller's promise.
            unsafe { G::key(self)? };
        }
        // SAFETY: the caller's promise.
        unsafe { G::serve(self, out, mixing) }
    }

    /// Fills `out` from the buffer, refilled by `refill` as needed.
    ///
    /// # Safety
    ///
    /// As for [`Owner::fill`]; `refill` asks for no more.
    pub(crate) unsafe fn drain(
        self,
        out: &mut [u8],
        refill: unsafe fn(Self) -> Result<(), Cut>,
    ) -> Result<(), Cut> {
        let mut rest = out;
        loop {
            // SAFETY: the caller's promise.
            rest = unsafe { self.take_what_is_left(rest) };
            if rest.is_empty() {
                return Ok(());
            }
            // SAFETY: the caller's promise.
            unsafe { refill(self)? };
        }
    }

    /// Fills as much of `out` as the buffer holds; returns the rest.
    ///
    /// # Safety
    ///
    /// As for [`Owner::fill`].
    pub(crate) unsafe fn take_what_is_left(self, out: &mut [u8]) -> &mut [u8] {
        let page = self.slot.page;
        // SAFETY: the caller's promise.
        let left = unsafe { page.left() };
        let (now, later) = out.split_at_mut(out.len().min(left as usize));
        // SAFETY: the caller's promise; the count never exceeds the buffer.
        let source = unsafe { page.unused(left) };
        // SAFETY: as many bytes are left in the buffer, and `now` is outside of the page.
        unsafe { hand_out(self.isa, source, now.as_mut_ptr(), now.len()) };
        // At most `left`, which is 32 bits wide.
        let taken = u32::try_from(now.len()).unwrap_or(left);
        // SAFETY: the caller's promise.
        unsafe { page.set_left(left - taken) };
        later
    }
}
