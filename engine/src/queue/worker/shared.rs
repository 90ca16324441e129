//! The state that a queue and its worker share besides the rings.

use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use super::super::closed::Closed;
use super::super::wakeup::Wakeup;

/// The state that a queue and its worker share besides the rings.
//
// It has its own cache lines: both sides read it for each batch.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Shared {
    /// Wakes the worker.
    pub(crate) worker: Wakeup,
    pub(crate) closed: Closed,
    cancelled: Cancelled,
}

impl Shared {
    pub(crate) fn new(depth: usize) -> Self {
        Self { worker: Wakeup::new(), closed: Closed::new(), cancelled: Cancelled::new(depth) }
    }

    pub(crate) fn cancel(&self, number: u64) {
        self.cancelled.cancel(number);
    }

    #[inline]
    pub(crate) fn cancels_from(&self, number: u64) -> bool {
        self.cancelled.any_from(number)
    }

    #[inline]
    pub(crate) fn is_cancelled(&self, number: u64) -> bool {
        self.cancelled.has(number)
    }
}

/// The messages that are to be cancelled. Messages are numbered in the order of submission, on both
/// sides.
///
/// At most `depth` messages were submitted and not yet taken by the worker, so each has a separate
/// place. All atomics here are relaxed: they publish nothing else, and a message that is not found
/// cancelled in time is served.
#[derive(Debug)]
struct Cancelled {
    /// The number, plus one, of the last message that was cancelled.
    last: AtomicU64,
    /// For each place the number, plus one, of the last message there that was cancelled.
    places: Box<[AtomicU64]>,
}

impl Cancelled {
    fn new(depth: usize) -> Self {
        let places = (0..depth.next_power_of_two()).map(|_| AtomicU64::new(0)).collect();
        Self { last: AtomicU64::new(0), places }
    }

    fn place(&self, number: u64) -> Option<&AtomicU64> {
        // The length is a power of two, and only bits above the index are truncated.
        #[expect(clippy::cast_possible_truncation, reason = "only the lowest bits count")]
        self.places.get(number as usize & (self.places.len() - 1))
    }

    fn cancel(&self, number: u64) {
        if let Some(place) = self.place(number) {
            // The larger one is kept, so that an old message never hides a newer one.
            place.fetch_max(number.wrapping_add(1), Ordering::Relaxed);
            self.last.fetch_max(number.wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// Whether a message with this number or a later one may be cancelled.
    #[inline]
    fn any_from(&self, number: u64) -> bool {
        self.last.load(Ordering::Relaxed) > number
    }

    #[inline]
    fn has(&self, number: u64) -> bool {
        let place = self.place(number);
        place.is_some_and(|place| place.load(Ordering::Relaxed) == number.wrapping_add(1))
    }
}

/// Wakes the thread that waits for completions.
//
// It has its own cache lines, as `Shared` has.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Client {
    pub(crate) wakeup: Wakeup,
    target: Mutex<Option<Target>>,
}

/// The thread or descriptor to wake.
#[derive(Debug)]
pub(crate) enum Target {
    Thread(Thread),
    #[cfg(target_os = "linux")]
    Descriptor(Arc<OwnedFd>),
}

impl Client {
    pub(crate) fn new() -> Self {
        Self { wakeup: Wakeup::new(), target: Mutex::new(None) }
    }

    fn target(&self) -> MutexGuard<'_, Option<Target>> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the target of wake-ups, before it sleeps.
    pub(crate) fn set(&self, target: Target) {
        *self.target() = Some(target);
    }

    /// Wakes the client if it sleeps. It is called after completions have been published.
    #[inline]
    pub(crate) fn ring(&self) {
        if self.wakeup.may_be_to_ring() {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        // The lock is held until the signal is sent. A client that clears its descriptor holds it
        // too, so a late signal never makes it readable after that.
        let target = self.target();
        if !self.wakeup.wakes() {
            return;
        }
        match &*target {
            Some(Target::Thread(thread)) => thread.unpark(),
            #[cfg(target_os = "linux")]
            Some(Target::Descriptor(descriptor)) => super::descriptor::signal(descriptor),
            None => {}
        }
    }

    /// Requests a signal of the descriptor at the next completion; false if `found` finds one now.
    #[cfg(target_os = "linux")]
    pub(crate) fn waits_at(&self, descriptor: &OwnedFd, found: impl Fn() -> bool) -> bool {
        if self.wakeup.is_asleep() {
            return true;
        }
        // It is not signalled while the lock is held.
        let _target = self.target();
        super::descriptor::clear(descriptor);
        self.wakeup.falls_asleep(found)
    }
}
