//! The worker's side.

use core::hint::spin_loop;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::Ordering;
use core::time::Duration;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rtrb::Consumer;

use super::super::service::Service;
use super::super::slot::Slot;
use super::super::{Attached, MessageError};
use super::Settings;
use super::shared::Shared;
use crate::Session;

/// What goes to the worker.
pub(crate) enum Job<B> {
    Message(Slot<B>),
    Attach(Attached, Box<Session>),
    Detach(Attached),
}

/// Where completions go.
pub(crate) trait Outlet<B> {
    /// Takes the completions from these slots, and wakes whoever waits for them.
    fn publish(&mut self, slots: &mut [Slot<B>]);
}

/// The worker: takes what is there, serves it, publishes it, and looks again.
pub(crate) struct Worker<B, O> {
    jobs: Consumer<Job<B>>,
    outlet: O,
    shared: Arc<Shared>,
    service: Service,
    /// The messages of a turn.
    slots: Vec<Slot<B>>,
    /// How many messages have been taken.
    taken: u64,
    in_order: bool,
    spin: Spin,
}

/// How long to look for messages before sleeping.
struct Spin {
    longest: Duration,
    now: Duration,
}

impl<B: AsMut<[u8]>, O: Outlet<B>> Worker<B, O> {
    pub(crate) fn new(
        jobs: Consumer<Job<B>>,
        outlet: O,
        shared: Arc<Shared>,
        service: Service,
        settings: &Settings,
    ) -> Self {
        let slots = Vec::with_capacity(service.most());
        let spin = Spin { longest: settings.spin, now: settings.spin };
        Self { jobs, outlet, shared, service, slots, taken: 0, in_order: settings.in_order, spin }
    }

    /// Works until the queue is closed and all messages have been answered.
    pub(crate) fn run(mut self) {
        loop {
            // The order matters: nothing comes after the queue was closed.
            let closed = self.shared.closed.load(Ordering::Acquire);
            match self.jobs.slots() {
                0 if closed => break,
                0 => self.idle(),
                jobs => self.turn(jobs, closed),
            }
        }
    }

    /// Takes up to this many jobs and serves them.
    fn turn(&mut self, jobs: usize, closed: bool) {
        let mut control = None;
        if let Ok(chunk) = self.jobs.read_chunk(jobs.min(self.service.most())) {
            for job in chunk {
                match job {
                    Job::Message(slot) => self.slots.push(slot),
                    // It concerns the messages behind it only.
                    other => {
                        control = Some(other);
                        break;
                    }
                }
            }
        }
        self.drop_cancelled(closed);
        self.serve();
        match control {
            Some(Job::Attach(number, session)) => self.service.sessions.attach(number, session),
            Some(Job::Detach(number)) => {
                // A driver that closes the session may panic.
                let session = self.service.sessions.detach(number);
                let _ = catch_unwind(AssertUnwindSafe(|| drop(session)));
            }
            _ => {}
        }
    }

    /// Settles the messages that need not be served any more.
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
        let waiting = self.serve_each_alone();
        if waiting > 0 {
            if !self.in_order && waiting < self.slots.len() {
                self.outlet.publish(&mut self.slots);
            }
            self.service.serve([&mut self.slots, &mut []], waiting);
        }
        if !self.slots.is_empty() {
            self.outlet.publish(&mut self.slots);
        }
        self.slots.clear();
    }

    /// Serves the messages that gain nothing from company, and returns how many others there are.
    fn serve_each_alone(&mut self) -> usize {
        let Self { slots, service, .. } = self;
        let (mut at, mut waiting) = (0, 0);
        while at < slots.len() {
            let all = catch_unwind(AssertUnwindSafe(|| {
                while let Some(slot) = slots.get_mut(at) {
                    if slot.outcome.is_none() {
                        slot.serve_alone(service);
                        waiting += usize::from(slot.outcome.is_none());
                    }
                    at += 1;
                }
            }));
            if let (Err(_), Some(slot)) = (all, slots.get_mut(at)) {
                // The buffer's own code.
                slot.outcome = Some(Err(MessageError::Panicked));
                at += 1;
            }
        }
        waiting
    }

    /// Waits until there is something to do: awake at first, then asleep.
    fn idle(&mut self) {
        if self.spins() {
            self.spin.now = self.spin.longest;
            return;
        }
        self.spin.now = (self.spin.now / 2).max(self.spin.longest / 16);
        let Self { jobs, shared, .. } = self;
        let found = || jobs.slots() > 0 || shared.closed.load(Ordering::Acquire);
        if shared.worker.falls_asleep(found) {
            thread::park();
            shared.worker.wakes_up();
        }
    }

    /// Looks for a while; true if there is something to do.
    fn spins(&self) -> bool {
        if self.spin.now.is_zero() {
            return false;
        }
        let begun = Instant::now();
        loop {
            for _ in 0..64 {
                if self.jobs.slots() > 0 {
                    return true;
                }
                spin_loop();
            }
            if self.shared.closed.load(Ordering::Acquire) {
                return true;
            }
            if begun.elapsed() >= self.spin.now {
                return false;
            }
        }
    }
}
