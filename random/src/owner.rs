//! What the owner of a page does when the buffer does not serve: seed, refill, and requests larger
//! than the buffer.
//!
//! Fast key erasure (Bernstein 2017): the first 32 bytes of each refill replace the key that made
//! it, before anything is handed out. A request that the buffer cannot hold runs under keys of its
//! own straight into the caller's memory, a new one each 1 MiB.

use lanecrypt_kernels::{Isa, wipe};

use crate::SeedCore;
use crate::error::EntropyError;
use crate::hand_out::hand_out;
use crate::kernel;
use crate::page::{BUFFER, Page, YIELD};
use crate::pool::{self, Slot};
use crate::vdso::State;

/// The most bytes that one key makes.
const BYTES_PER_KEY: usize = 1 << 20;
/// Where kernel bytes cost a system call, refills between two mixings: 64 KiB.
const REFILLS_PER_MIXING: u32 = 8;
/// And seconds between two mixings, noticed at the next refill.
const SECONDS_PER_MIXING: u32 = 1;

/// Where the bytes of a request come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mixing {
    /// The buffer, if the request fits; kernel bytes go in at refills.
    Refills,
    /// A key made for this request with kernel bytes in it.
    EveryRequest,
}

/// A page and what its owner needs to refill it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) slot: Slot,
    pub(crate) isa: Isa,
}

/// Why an attempt to fill a request failed.
enum Cut {
    /// A fork emptied the page: what was drawn so far, the parent has drawn too.
    Forked,
    /// The kernel gave no random bytes.
    NoEntropy(EntropyError),
}

impl From<EntropyError> for Cut {
    fn from(error: EntropyError) -> Self {
        Self::NoEntropy(error)
    }
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
    /// The page is mapped and the caller owns it; if signal handlers may reach it, it is claimed.
    pub(crate) unsafe fn fill<C: SeedCore>(
        self,
        out: &mut [u8],
        mixing: Mixing,
    ) -> Result<(), EntropyError> {
        loop {
            // SAFETY: the caller's promise.
            let result = unsafe { self.attempt::<C>(out, mixing) };
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
    unsafe fn attempt<C: SeedCore>(self, out: &mut [u8], mixing: Mixing) -> Result<(), Cut> {
        // SAFETY: the caller's promise.
        if !unsafe { self.slot.page.is_live() } {
            // SAFETY: the caller's promise.
            unsafe { self.seed()? };
        }
        if mixing == Mixing::Refills && out.len() <= YIELD as usize {
            // SAFETY: the caller's promise.
            return unsafe { self.drain::<C>(out) };
        }
        // The vDSO's state is memory of this process, and copied with it.
        let vdso = match mixing {
            Mixing::Refills => self.slot.vdso,
            Mixing::EveryRequest => State::NONE,
        };
        for chunk in out.chunks_mut(BYTES_PER_KEY) {
            // SAFETY: the caller's promise.
            unsafe { self.one_off::<C>(chunk, vdso)? };
        }
        Ok(())
    }

    /// Gives the page a key from the kernel.
    ///
    /// # Safety
    ///
    /// As for [`Owner::fill`].
    unsafe fn seed(self) -> Result<(), EntropyError> {
        let page = self.slot.page;
        // SAFETY: the caller's promise.
        unsafe { page.set_left(0) };
        // Before the key is drawn: a fork from here on makes the page read as not live.
        // SAFETY: the caller's promise.
        unsafe { page.set_live(true) };
        // Not only when it was mapped: a child inherits no locks.
        pool::lock_in_memory(page);
        // SAFETY: the caller owns the page, and nothing else refers to its key.
        let key = unsafe { &mut (*page.0).key };
        kernel::fill(self.slot.vdso, key)?;
        // SAFETY: the caller owns the page.
        unsafe { (*page.0).unmixed = 0 };
        // SAFETY: the caller owns the page.
        unsafe { (*page.0).mixed_at = now() };
        Ok(())
    }

    /// Fills `out` from the buffer, refilling it as needed.
    ///
    /// # Safety
    ///
    /// As for [`Owner::fill`].
    unsafe fn drain<C: SeedCore>(self, out: &mut [u8]) -> Result<(), Cut> {
        let page = self.slot.page;
        let mut rest = out;
        loop {
            // SAFETY: the caller's promise.
            let left = unsafe { page.left() };
            let (now, later) = rest.split_at_mut(rest.len().min(left as usize));
            // SAFETY: the caller's promise; the count never exceeds the buffer.
            let source = unsafe { page.unused(left) };
            // SAFETY: as many bytes are left in the buffer, and `now` is outside of the page.
            unsafe { hand_out(self.isa, source, now.as_mut_ptr(), now.len()) };
            // At most `left`, which is 32 bits wide.
            let taken = u32::try_from(now.len()).unwrap_or(left);
            // SAFETY: the caller's promise.
            unsafe { page.set_left(left - taken) };
            if later.is_empty() {
                return Ok(());
            }
            rest = later;
            // SAFETY: the caller's promise.
            unsafe { self.refill::<C>()? };
        }
    }

    /// Fills `out`, at most [`BYTES_PER_KEY`], under a key of its own, with kernel bytes in it that
    /// come through `vdso` or else by system call.
    ///
    /// # Safety
    ///
    /// As for [`Owner::fill`].
    unsafe fn one_off<C: SeedCore>(self, out: &mut [u8], vdso: State) -> Result<(), Cut> {
        let (mut key, mut fresh) = ([0; 32], [0; 32]);
        // SAFETY: the caller's promise.
        let drained = unsafe { self.drain::<C>(&mut key) };
        let result = drained.and_then(|()| {
            kernel::fill(vdso, &mut fresh)?;
            mix(&mut key, &fresh);
            keystream::<C>(self.isa, &key, out);
            Ok(())
        });
        wipe::memory(&mut key);
        wipe::memory(&mut fresh);
        clean_up::<C>(out.len());
        // SAFETY: the caller's promise.
        if unsafe { self.slot.page.is_live() } { result } else { Err(Cut::Forked) }
    }

    /// Makes a new key and a full buffer, with kernel bytes mixed in where it is time.
    ///
    /// # Safety
    ///
    /// As for [`Owner::fill`], and no bytes are left.
    unsafe fn refill<C: SeedCore>(self) -> Result<(), Cut> {
        // SAFETY: the caller owns the page, and nothing else refers to it during this call.
        let page: &mut Page = unsafe { &mut *self.slot.page.0 };
        if self.is_time_to_mix(page) {
            // The buffer is about to be overwritten and serves as the place for fresh bytes.
            let (fresh, _) = page.buffer.split_at_mut(32);
            kernel::fill(self.slot.vdso, fresh)?;
            mix(&mut page.key, fresh);
        }
        keystream::<C>(self.isa, &page.key, &mut page.buffer);
        let (key, _) = page.buffer.split_at_mut(32);
        page.key.copy_from_slice(key);
        wipe::memory(key);
        clean_up::<C>(BUFFER);
        // SAFETY: the caller's promise.
        if !unsafe { self.slot.page.is_live() } {
            return Err(Cut::Forked);
        }
        // SAFETY: the caller's promise; the buffer was filled.
        unsafe { self.slot.page.set_left(YIELD) };
        Ok(())
    }

    /// Whether the next refill takes kernel bytes; keeps count.
    fn is_time_to_mix(self, page: &mut Page) -> bool {
        if !self.slot.vdso.0.is_null() {
            return true;
        }
        let now = now();
        let elapsed = now.wrapping_sub(page.mixed_at);
        page.unmixed += 1;
        if page.unmixed < REFILLS_PER_MIXING && elapsed < SECONDS_PER_MIXING {
            return false;
        }
        page.unmixed = 0;
        page.mixed_at = now;
        true
    }
}

/// XORs `fresh` into `key`.
fn mix(key: &mut [u8; 32], fresh: &[u8]) {
    for (key, fresh) in key.iter_mut().zip(fresh) {
        *key ^= fresh;
    }
}

/// Fills `out` with the keystream of `key`. Kept apart, so that what it leaves on the stack lies
/// below its caller's frame.
#[inline(never)]
fn keystream<C: SeedCore>(isa: Isa, key: &[u8; 32], out: &mut [u8]) {
    C::from_seed(isa, key).keystream(out);
}

/// Wipes what making `length` bytes left on the stack and in the vector registers.
fn clean_up<C: SeedCore>(length: usize) {
    // A generic constant cannot be an array's length.
    match C::STACK {
        0..=2048 if length < 1 << 14 => wipe::stack::<2048>(),
        0..=4096 if length < 1 << 14 => wipe::stack::<4096>(),
        _ => wipe::stack::<8192>(),
    }
    wipe::registers();
}

/// Seconds of the coarse monotonic clock, which costs a few cycles; they wrap after 68 years.
fn now() -> u32 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a structure of the type that the call fills in.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) };
    // As many bits as every processor's `time_t` has besides the sign.
    u32::try_from(time.tv_sec & 0x7fff_ffff).unwrap_or(0)
}
