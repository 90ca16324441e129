//! The worker's side.

use core::hint::spin_loop;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use super::super::MessageError;
use super::super::jobs::{Other, Taken};
use super::super::service::{ASYMMETRIC_AT_ONCE, Service};
use super::super::slot::Slot;
use super::Settings;
use super::shared::Shared;

/// The destination of completions.
pub(crate) trait Outlet<B> {
    /// The number of messages that are published together if they do not benefit from lanes. The
    /// client takes them while the next are served.
    const PART: usize;

    /// Takes the completions from these slots.
    fn publish(&mut self, slots: &mut [Slot<B>]);

    /// Wakes the threads or tasks that wait for them and were not woken.
    fn wake(&mut self);
}

/// The worker: takes queued messages, serves them, publishes them, and repeats.
pub(crate) struct Worker<B, O> {
    jobs: Taken<B>,
    outlet: O,
    shared: Arc<Shared>,
    service: Service,
    /// The messages of one pass.
    slots: Vec<Slot<B>>,
    /// The most of them.
    at_once: usize,
    /// The number of messages that were taken.
    taken: u64,
    in_order: bool,
    spin: Spin,
}

/// The duration of spinning before sleeping.
struct Spin {
    longest: Duration,
    now: Duration,
}

impl<B: AsMut<[u8]>, O: Outlet<B>> Worker<B, O> {
    pub(crate) fn new(
        jobs: Taken<B>,
        outlet: O,
        shared: Arc<Shared>,
        service: Service,
        settings: &Settings,
    ) -> Self {
        let at_once = service.most();
        let slots = Vec::with_capacity(at_once);
        let spin = Spin { longest: settings.spin, now: settings.spin };
        let in_order = settings.in_order;
        Self { jobs, outlet, shared, service, slots, at_once, taken: 0, in_order, spin }
    }

    /// Runs until the queue is closed and all messages are completed.
    pub(crate) fn run(mut self) {
        loop {
            // The order matters: nothing is submitted after the queue was closed.
            let closed = self.shared.closed.is_set();
            match self.jobs.count() {
                0 if closed => break,
                0 => self.idle(),
                jobs => self.turn(jobs, closed),
            }
        }
    }

    /// Takes up to this many jobs and serves them.
    fn turn(&mut self, jobs: usize, closed: bool) {
        // It affects only the messages behind it.
        let other = self.jobs.take(jobs.min(self.at_once), &mut self.slots);
        self.drop_cancelled(closed);
        self.serve();
        match other {
            Some(Other::Attach(number, session)) => {
                if session.is_asymmetric() {
                    // More would only be completed later.
                    self.at_once = self.at_once.min(ASYMMETRIC_AT_ONCE);
                }
                self.service.attach(number, session);
            }
            Some(Other::Detach(number)) => {
                // A driver that closes the session may panic.
                let session = self.service.detach(number);
                let _ = catch_unwind(AssertUnwindSafe(|| drop(session)));
            }
            None => {}
        }
    }

    /// Settles the messages that no longer need to be served.
    #[inline]
    fn drop_cancelled(&mut self, closed: bool) {
        let first = self.taken;
        self.taken += self.slots.len() as u64;
        if closed {
            for slot in &mut self.slots {
                slot.outcome = Some(Err(MessageError::Closed));
            }
        }
        if self.shared.cancels_from(first) {
            for (slot, number) in self.slots.iter_mut().zip(first..) {
                if self.shared.is_cancelled(number) {
                    slot.outcome = Some(Err(MessageError::Cancelled));
                }
            }
        }
    }

    fn serve(&mut self) {
        let (published, waiting) = self.serve_each_alone();
        let Some(slots) = self.slots.get_mut(published..).filter(|slots| !slots.is_empty()) else {
            return self.slots.clear();
        };
        if waiting > 0 {
            if !self.in_order && waiting < slots.len() {
                self.outlet.publish(slots);
            }
            self.outlet.wake();
            self.service.serve([&mut *slots, &mut []], |_| true, waiting);
        }
        self.outlet.publish(slots);
        self.outlet.wake();
        self.slots.clear();
    }

    /// Serves the messages that do not benefit from lanes. Returns how many at the front were
    /// published without notification, and how many others there are. The last is never published.
    fn serve_each_alone(&mut self) -> (usize, usize) {
        let Self { slots, service, outlet, .. } = self;
        let (mut at, mut waiting, mut published) = (0, 0, 0_usize);
        while at < slots.len() {
            // If messages wait, those behind them are published with them.
            let part = if waiting > 0 { usize::MAX } else { published.saturating_add(O::PART) };
            let all = catch_unwind(AssertUnwindSafe(|| {
                while at < part
                    && let Some(slot) = slots.get_mut(at)
                {
                    if slot.outcome.is_none() {
                        service.serve_slot_alone(slot);
                        waiting += usize::from(slot.outcome.is_none());
                    }
                    at += 1;
                }
            }));
            if let (Err(_), Some(slot)) = (all, slots.get_mut(at)) {
                // The buffer's code panicked.
                slot.outcome = Some(Err(MessageError::Panicked));
                at += 1;
            }
            if waiting == 0
                && at < slots.len()
                && let Some(part) = slots.get_mut(published..at)
            {
                outlet.publish(part);
                published = at;
            }
        }
        (published, waiting)
    }

    /// Waits for work: spinning at first, then asleep.
    fn idle(&mut self) {
        if self.spins() {
            self.spin.now = self.spin.longest;
            return;
        }
        self.spin.now = (self.spin.now / 2).max(self.spin.longest / 16);
        let Self { jobs, shared, .. } = self;
        let found = || jobs.count() > 0 || shared.closed.is_set();
        if shared.worker.falls_asleep(found) {
            thread::park();
            shared.worker.wakes_up();
        }
    }

    /// Spins for a while; true if there is work.
    fn spins(&self) -> bool {
        if self.spin.now.is_zero() {
            return false;
        }
        let begun = Instant::now();
        loop {
            for _ in 0..64 {
                if self.jobs.count() > 0 {
                    return true;
                }
                spin_loop();
            }
            if self.shared.closed.is_set() {
                return true;
            }
            if begun.elapsed() >= self.spin.now {
                return false;
            }
        }
    }
}
