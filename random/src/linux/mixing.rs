//! When kernel bytes are mixed into a key, and their source: one rule for all places.
//!
//! A page has one chain of keys: each key first generates the next one ([`crate::linux::erasing`]).
//! Kernel bytes are mixed into a key before it is used:
//!
//! - by **system call** into the first key, and into a key under which the total since the last
//!   such call would exceed [`LIMIT`] bytes, or under which bytes would be made in another second
//!   of the clock;
//! - by the **vDSO**, if there is one, into every other key.
//!
//! The vDSO alone is not enough. It expands a key in this process's memory until the kernel
//! reseeds, up to a minute later, so an attacker who has read that memory can compute its output.
//! The system call uses keys that never leave the kernel.

use core::cell::Cell;

use lanecrypt_kernels::wipe;

use crate::error::EntropyError;
use crate::linux::kernel;
use crate::linux::vdso;

/// The most bytes between two mixings by system call: 64 KiB, unless one key makes more.
const LIMIT: usize = 64 << 10;
/// Bytes are counted in these units, so that the count fits into the page.
const UNIT: usize = 64;

/// The key of a page, and the bytes generated since the last system call. All of it is in the page,
/// so a forked child starts over.
pub(crate) struct Chain<'page> {
    pub(crate) key: &'page mut [u8; 32],
    /// The bytes generated, in units, rounded up for each key.
    pub(crate) made: &'page Cell<u16>,
    /// The second of the coarse clock at the last system call.
    pub(crate) asked_at: &'page Cell<u32>,
}

impl Chain<'_> {
    /// Begins the chain with a key from the kernel.
    pub(crate) fn seed(&mut self) -> Result<(), EntropyError> {
        kernel::ask(self.key)?;
        self.made.set(0);
        self.asked_at.set(now());
        Ok(())
    }

    /// Kernel bytes for the key that will generate `length` bytes: by system call if it is due or
    /// if `always`; zeros if there are no kernel bytes for this key.
    pub(crate) fn fresh(
        &self,
        vdso: vdso::State,
        length: usize,
        always: bool,
    ) -> Result<Fresh, EntropyError> {
        let mut fresh = Fresh([0; 32]);
        if self.is_time(length) || always {
            kernel::ask(&mut fresh.0)?;
        } else if vdso.is_there() {
            kernel::fill(vdso, &mut fresh.0)?;
        }
        Ok(fresh)
    }

    /// Whether a key that will generate `length` bytes needs the system call. Counts the bytes.
    fn is_time(&self, length: usize) -> bool {
        // Saturates above the limit.
        let units = u16::try_from(length.div_ceil(UNIT)).unwrap_or(u16::MAX);
        let made = self.made.get().saturating_add(units);
        let now = now();
        let is_time = usize::from(made) > LIMIT / UNIT || now != self.asked_at.get();
        self.made.set(if is_time { units } else { made });
        self.asked_at.set(now);
        is_time
    }
}

/// Kernel bytes to mix into a key.
pub(crate) struct Fresh([u8; 32]);

impl Fresh {
    /// Mixes them into a key, without exposure to signal handlers, and wipes them.
    #[inline(always)]
    pub(crate) fn mix_into(&mut self, key: &mut [u8; 32]) {
        for (key, fresh) in key.iter_mut().zip(&self.0) {
            *key ^= fresh;
        }
        wipe::memory(&mut self.0);
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        wipe::memory(&mut self.0);
    }
}

/// The second of the coarse monotonic clock, which costs a few cycles. It wraps after 68 years.
fn now() -> u32 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a structure of the type that the call fills in.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) };
    // The bits that `time_t` has on every processor, without the sign.
    u32::try_from(time.tv_sec & 0x7fff_ffff).unwrap_or(0)
}
