//! How much the module is used, so that programs, tests and administrators can tell.
//!
//! A context counts its messages and adds them up when it is freed, and now and then before that:
//! an addition that all threads share costs as much as a third of the work around a message.

use core::sync::atomic::{AtomicU64, Ordering};

/// Contexts of ciphers that were made.
pub(crate) static CONTEXTS: AtomicU64 = AtomicU64::new(0);
/// Messages and pieces that were processed.
pub(crate) static MESSAGES: AtomicU64 = AtomicU64::new(0);
/// Requests for random numbers that were served.
pub(crate) static DRAWS: AtomicU64 = AtomicU64::new(0);
/// Signatures that were made.
pub(crate) static SIGNATURES: AtomicU64 = AtomicU64::new(0);
/// Those of them that were made together with others.
pub(crate) static TOGETHER: AtomicU64 = AtomicU64::new(0);
/// Signatures that were checked.
pub(crate) static CHECKS: AtomicU64 = AtomicU64::new(0);

/// Messages of a context that are not added up yet.
pub(crate) struct Count(u32);

impl Count {
    /// Counts one more context.
    #[inline]
    pub(crate) fn of_new_context() -> Self {
        CONTEXTS.fetch_add(1, Ordering::Relaxed);
        Self(0)
    }

    /// For a context that was duplicated, and took the count along.
    pub(crate) fn restart(&mut self) {
        CONTEXTS.fetch_add(1, Ordering::Relaxed);
        self.0 = 0;
    }

    #[inline]
    pub(crate) fn one_more(&mut self) {
        self.0 += 1;
        if self.0 == 256 {
            self.flush();
        }
    }

    #[cold]
    fn flush(&mut self) {
        MESSAGES.fetch_add(self.0.into(), Ordering::Relaxed);
        self.0 = 0;
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        if self.0 > 0 {
            self.flush();
        }
    }
}

/// Counts a draw. Threads that draw from one generator at the same time may lose some of them.
#[inline]
pub(crate) fn one_more_draw(draws: &AtomicU64) {
    let count = draws.load(Ordering::Relaxed) + 1;
    if count == 256 {
        flush_draws(draws, count);
    } else {
        draws.store(count, Ordering::Relaxed);
    }
}

#[cold]
pub(crate) fn flush_draws(draws: &AtomicU64, count: u64) {
    draws.store(0, Ordering::Relaxed);
    DRAWS.fetch_add(count, Ordering::Relaxed);
}
