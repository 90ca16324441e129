//! How much the module is used, so that programs, tests and administrators can tell.
//!
//! A context counts its messages and adds them up when it is freed, and now and then before that:
//! an addition that all threads share costs as much as a third of the work around a message.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

/// What is counted. `lanecrypt openssl --count` finds it by its first bytes in the memory of a
/// process, and expects the others in this order.
#[repr(C, align(64))]
pub(crate) struct Counts {
    name: [u8; 16],
    /// Contexts of ciphers that were made.
    pub(crate) contexts: AtomicU64,
    /// Messages and pieces that were processed.
    pub(crate) messages: AtomicU64,
    /// Requests for random numbers that were served.
    pub(crate) draws: AtomicU64,
    /// Signatures that were made.
    pub(crate) signatures: AtomicU64,
    /// Those of them, and of shared secrets, that were made together with others.
    pub(crate) together: AtomicU64,
    /// Signatures that were checked.
    pub(crate) checks: AtomicU64,
    /// Keys of X25519 and P-256 that were made.
    pub(crate) keys: AtomicU64,
    /// Shared secrets that were computed.
    pub(crate) agreements: AtomicU64,
}

// Nothing here reads the name, so it would be left out.
#[used]
pub(crate) static COUNTS: Counts = Counts {
    name: *b"lanecrypt-counts",
    contexts: AtomicU64::new(0),
    messages: AtomicU64::new(0),
    draws: AtomicU64::new(0),
    signatures: AtomicU64::new(0),
    together: AtomicU64::new(0),
    checks: AtomicU64::new(0),
    keys: AtomicU64::new(0),
    agreements: AtomicU64::new(0),
};

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        write!(f, "contexts {} messages {} ", now(&self.contexts), now(&self.messages))?;
        write!(f, "draws {} signatures {} ", now(&self.draws), now(&self.signatures))?;
        write!(f, "together {} checks {} ", now(&self.together), now(&self.checks))?;
        write!(f, "keys {} agreements {}", now(&self.keys), now(&self.agreements))
    }
}

/// Messages of a context that are not added up yet.
pub(crate) struct Count(u32);

impl Count {
    /// Counts one more context.
    #[inline]
    pub(crate) fn of_new_context() -> Self {
        COUNTS.contexts.fetch_add(1, Ordering::Relaxed);
        Self(0)
    }

    /// For a context that was duplicated, and took the count along.
    pub(crate) fn restart(&mut self) {
        COUNTS.contexts.fetch_add(1, Ordering::Relaxed);
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
        COUNTS.messages.fetch_add(self.0.into(), Ordering::Relaxed);
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
    COUNTS.draws.fetch_add(count, Ordering::Relaxed);
}
