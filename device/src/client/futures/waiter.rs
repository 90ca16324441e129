//! The thread that waits for the daemon on behalf of the tasks.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::super::watch::{Watch, ring};
use super::slots::Slots;
use crate::shared::Mapping;

/// The state that tasks and the thread share.
pub(super) struct Shared<B> {
    places: Mutex<Slots<B>>,
    /// Notified when a message is in flight again, or the client is closed.
    begun: Condvar,
    /// Whether the thread waits for that.
    is_resting: AtomicBool,
    is_closed: AtomicBool,
    memory: Arc<Mapping>,
}

impl<B> Shared<B> {
    pub(super) fn new(places: Slots<B>, memory: Arc<Mapping>) -> Self {
        let [is_resting, is_closed] = [(); 2].map(|()| AtomicBool::new(false));
        Self { places: Mutex::new(places), begun: Condvar::new(), is_resting, is_closed, memory }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Slots<B>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message is in flight; the lock has been held since then.
    #[inline]
    pub(super) fn begins(&self, places: MutexGuard<'_, Slots<B>>) {
        // Relaxed: it is only changed under the lock.
        let is_resting = self.is_resting.load(Ordering::Relaxed);
        drop(places);
        if is_resting {
            self.begun.notify_one();
        }
    }

    /// Requests the thread to end.
    pub(super) fn close(&self) {
        let places = self.lock();
        // Relaxed: a resting thread reads it under the lock, and a napping one after the fence in
        // `Watch::sleep`, which pairs with that in `ring`.
        self.is_closed.store(true, Ordering::Relaxed);
        drop(places);
        self.begun.notify_one();
        ring(&self.memory);
    }

    fn is_closed(&self) -> bool {
        // Relaxed: as in `close`.
        self.is_closed.load(Ordering::Relaxed)
    }
}

/// The thread.
pub(super) struct Waiter<B> {
    shared: Arc<Shared<B>>,
    watch: Watch,
}

/// The number of naps without messages in flight before it rests, so that the next message need not
/// wake it: about a second.
const NAPS: u32 = 25;

impl<B: AsMut<[u8]>> Waiter<B> {
    pub(super) fn new(shared: Arc<Shared<B>>, watch: Watch) -> Self {
        Self { shared, watch }
    }

    /// Wakes tasks until the client is closed.
    pub(super) fn run(mut self) {
        let mut idle = 0;
        while !self.shared.is_closed() {
            let mut places = self.shared.lock();
            let answered = places.look();
            let (read, is_idle) = (places.read(), places.is_idle());
            drop(places);
            answered.wake();
            idle = if is_idle { idle + 1 } else { 0 };
            if idle > NAPS {
                self.rest();
                idle = 0;
                continue;
            }
            if !is_idle && self.watch.wait_for(read) {
                continue;
            }
            self.watch.sleep(read, || self.shared.is_closed());
            self.shared.lock().attend();
        }
    }

    /// Sleeps until something is in flight.
    fn rest(&self) {
        let mut places = self.shared.lock();
        // Relaxed: it is only changed under the lock.
        self.shared.is_resting.store(true, Ordering::Relaxed);
        while places.is_idle() && !self.shared.is_closed() {
            places = self.shared.begun.wait(places).unwrap_or_else(PoisonError::into_inner);
        }
        // Relaxed: as above.
        self.shared.is_resting.store(false, Ordering::Relaxed);
    }
}
