//! The client's side of one worker.

use core::hint::spin_loop;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use lanecrypt_kernels::fork::Generation;
use rtrb::{Consumer, Producer, RingBuffer};

use super::super::jobs::Jobs;
use super::super::service::Service;
use super::super::sessions::Numbers;
use super::super::slot::Slot;
use super::super::{Completion, Message, QueueError, Rejected, SessionHandle};
use super::Settings;
use super::shared::{Client, Shared, Target};
use super::thread::{Outlet, Worker};
use crate::Session;
use crate::lanes::Lanes;

/// How often a client checks for a completion before it sleeps. Each check takes nanoseconds.
const LOOKS: usize = 200;

/// Additional room for completions, which is never filled. With it the worker rarely reads the
/// client's position: each read transfers the cache line that the client writes.
const SLACK: usize = 64;

/// The client's side of one worker.
pub(super) struct Lane<B> {
    jobs: Jobs<B>,
    completions: Consumer<Completion<B>>,
    shared: Arc<Shared>,
    client: Arc<Client>,
    /// None once it has been joined.
    thread: Option<JoinHandle<()>>,
    /// The process of the worker.
    process: Generation,
    depth: usize,
    in_flight: usize,
    closed: bool,
}

impl<B: AsMut<[u8]> + Send + 'static> Lane<B> {
    pub(super) fn new(lanes: Lanes, settings: &Settings) -> io::Result<Self> {
        Self::waking(Arc::new(Client::new()), lanes, settings)
    }

    /// A lane that wakes the same client as another one.
    pub(super) fn beside(other: &Self, lanes: Lanes, settings: &Settings) -> io::Result<Self> {
        Self::waking(other.client.clone(), lanes, settings)
    }

    fn waking(client: Arc<Client>, lanes: Lanes, settings: &Settings) -> io::Result<Self> {
        let depth = settings.depth;
        let (jobs, taken) = Jobs::new(depth);
        let (published, completions) = RingBuffer::new(depth.saturating_add(SLACK));
        let shared = Arc::new(Shared::new(depth));
        let outlet = Ring { completions: published, client: client.clone() };
        let service = Service::new(lanes, depth);
        let worker = Worker::new(taken, outlet, shared.clone(), service, settings);
        let thread = thread::Builder::new().name("lanecrypt-queue".into());
        let thread = Some(thread.spawn(move || worker.run())?);
        Ok(Self {
            jobs,
            completions,
            shared,
            client,
            thread,
            process: Generation::now(),
            depth,
            in_flight: 0,
            closed: false,
        })
    }
}

impl<B> Lane<B> {
    /// Whether it accepts messages; otherwise the reason.
    #[inline(always)]
    pub(super) fn check_open(&self) -> Result<(), QueueError> {
        match (self.closed, self.process.is_current()) {
            (_, false) => Err(QueueError::Forked),
            (true, _) => Err(QueueError::Closed),
            _ => Ok(()),
        }
    }

    pub(super) fn attach(
        &mut self,
        given: Box<Session>,
        numbers: &mut Numbers,
    ) -> Result<SessionHandle, Rejected<Box<Session>>> {
        if let Err(reason) = self.check_open() {
            return Err(Rejected { value: given, reason });
        }
        let attached = self.jobs.attach(given, numbers);
        self.ring();
        attached
    }

    pub(super) fn detach(
        &mut self,
        session: SessionHandle,
        numbers: &mut Numbers,
    ) -> Result<bool, QueueError> {
        self.check_open()?;
        let detached = self.jobs.detach(session, numbers);
        self.ring();
        detached
    }

    #[inline]
    pub(super) fn submit<N: AsRef<[u8]>>(
        &mut self,
        given: Message<N, B>,
    ) -> Result<u64, Rejected<Message<N, B>>> {
        if let Err(reason) = self.check_open() {
            return Err(Rejected { value: given, reason });
        }
        if self.in_flight >= self.depth {
            return Err(Rejected::full(given));
        }
        let number = self.jobs.push(Slot::of(given));
        self.in_flight += 1;
        self.ring();
        Ok(number)
    }

    #[inline]
    pub(super) fn submit_many<N: AsRef<[u8]>>(
        &mut self,
        messages: &mut impl Iterator<Item = Message<N, B>>,
    ) -> Result<usize, QueueError> {
        self.check_open()?;
        let room = self.depth - self.in_flight;
        let taken = self.jobs.push_many(room, messages.take(room).map(Slot::of));
        self.in_flight += taken;
        if taken > 0 {
            self.ring();
        }
        Ok(taken)
    }

    #[inline]
    pub(super) fn poll(&mut self) -> Option<Completion<B>> {
        if self.in_flight == 0 || !self.process.is_current() {
            return None;
        }
        let done = self.completions.pop().ok()?;
        self.in_flight -= 1;
        Some(done)
    }

    /// Whether there is a completion, or will never be one.
    pub(super) fn has_news(&self) -> bool {
        !self.completions.is_empty()
    }

    /// Sleeps until there may be a completion, unless `found` finds one first.
    pub(super) fn sleep(&self, found: impl Fn() -> bool, end: Option<Instant>) {
        for _ in 0..LOOKS {
            if found() {
                return;
            }
            spin_loop();
        }
        self.client.set(Target::Thread(thread::current()));
        if self.client.wakeup.falls_asleep(found) {
            match end {
                None => thread::park(),
                Some(end) => thread::park_timeout(end.saturating_duration_since(Instant::now())),
            }
            self.client.wakeup.wakes_up();
        }
    }

    /// Requests the worker to signal this descriptor.
    #[cfg(target_os = "linux")]
    pub(super) fn wakes(&self, descriptor: &Arc<OwnedFd>) {
        if self.process.is_current() {
            self.client.set(Target::Descriptor(descriptor.clone()));
        }
    }

    /// Requests a signal of the descriptor at the next completion; false if `found` finds one now.
    #[cfg(target_os = "linux")]
    pub(super) fn waits_at(&self, descriptor: &OwnedFd, found: impl Fn() -> bool) -> bool {
        // A child has the same descriptor as its parent, and does not use it.
        !self.process.is_current() || self.client.waits_at(descriptor, found)
    }

    pub(super) fn cancel(&self, number: u64) {
        if number < self.jobs.messages() && self.process.is_current() {
            self.shared.cancel(number);
        }
    }

    pub(super) fn close(&mut self) {
        if !self.closed && self.process.is_current() {
            self.shared.closed.set();
            self.ring();
        }
        self.closed = true;
    }

    #[inline]
    pub(super) fn in_flight(&self) -> usize {
        if self.process.is_current() { self.in_flight } else { 0 }
    }

    /// Wakes the worker if it sleeps.
    #[inline]
    fn ring(&self) {
        if self.shared.worker.is_due()
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
    }
}

impl<B> Drop for Lane<B> {
    fn drop(&mut self) {
        self.close();
        let Some(thread) = self.thread.take() else { return };
        if self.process.is_current() {
            // The worker does not panic; if it did, there is nothing more to do.
            let _ = thread.join();
        } else {
            // The thread does not exist in this process.
            core::mem::forget(thread);
        }
    }
}

/// The worker's destination of completions.
struct Ring<B> {
    completions: Producer<Completion<B>>,
    client: Arc<Client>,
}

impl<B> Outlet<B> for Ring<B> {
    const PART: usize = 8;

    fn publish(&mut self, slots: &mut [Slot<B>]) {
        let done = slots.iter().filter(|slot| slot.is_done()).count();
        // There is room for all messages in flight.
        if let Ok(chunk) = self.completions.write_chunk_uninit(done) {
            chunk.fill_from_iter(slots.iter_mut().filter_map(Slot::take));
        }
    }

    fn wake(&mut self) {
        self.client.ring();
    }
}
