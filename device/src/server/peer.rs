//! The daemon's state of a client.

use core::cell::Cell;
use std::os::fd::OwnedFd;

use super::background::Offer;
use super::sessions::Sessions;
use super::users::User;
use crate::protocol::request::{WireRequest, completion};
use crate::protocol::status;
use crate::shared::{Layout, Mapping};

/// A process that has connected.
#[derive(Debug)]
pub(super) struct Peer {
    /// Its number, which is never reused.
    pub(super) number: u64,
    pub(super) socket: OwnedFd,
    pub(super) user: User,
    pub(super) sessions: Sessions,
    /// The processor that it ran on when it asked for shared memory.
    pub(super) processor: u32,
    /// Whether another thread prepares a reply to it.
    pub(super) awaits_reply: bool,
    pub(super) stage: Stage,
}

/// How far a client has come.
#[derive(Debug)]
pub(super) enum Stage {
    /// It has not asked for shared memory.
    Silent,
    /// Its memory, of this layout, is being made.
    Waiting(Layout),
    /// It has received its memory, and has not confirmed that it has mapped it.
    Mapping(Offer),
    /// Its rings are served.
    Linked(Box<Link>),
}

impl Peer {
    /// The shared memory, once its rings are served.
    #[inline]
    pub(super) fn link(&self) -> Option<&Link> {
        match &self.stage {
            Stage::Linked(link) => Some(link),
            _ => None,
        }
    }

    /// The bytes of its shared memory; none if it has not asked for it.
    pub(super) fn memory(&self) -> u64 {
        let layout = match &self.stage {
            Stage::Silent => return 0,
            Stage::Waiting(layout) => *layout,
            Stage::Mapping(offer) => offer.mapping.layout(),
            Stage::Linked(link) => link.memory.layout(),
        };
        layout.length() as u64
    }
}

/// The memory that a client and the daemon share. The cells are private: the daemon never reads
/// back data that it wrote to shared memory.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) memory: Mapping,
    /// Written by the client to wake the daemon, which never reads it: the client can change the
    /// descriptor's flags, so a read could block.
    pub(super) doorbell: OwnedFd,
    /// The numbers of requests taken and of completions written, modulo 2^32.
    taken: Cell<u32>,
    completed: Cell<u32>,
    /// The number of completions published to the client.
    published: Cell<u32>,
    /// The requests that other threads are serving.
    pub(super) asymmetric: InService,
    pub(super) messages: InService,
    /// The time that it may still take before others, in nanoseconds; below zero after a request
    /// that took more.
    pub(super) credit: Cell<i64>,
    /// The requests taken at the daemon's last wait, and the number of waits without requests.
    seen: Cell<u32>,
    quiet: Cell<u8>,
    /// Whether it has violated the protocol in the shared memory.
    is_broken: Cell<bool>,
}

/// Requests of a client that another thread is serving.
#[derive(Debug, Default)]
pub(super) struct InService {
    count: Cell<u32>,
    bytes: Cell<usize>,
}

impl InService {
    /// Whether there may be one more of this many bytes, if `most` are allowed, in an arena of
    /// `room` bytes. Those of a client that respects its window are all in the arena at once.
    pub(super) fn admits(&self, most: u32, room: u32, span: usize) -> bool {
        self.count.get() < most && self.bytes.get().saturating_add(span) <= room as usize
    }

    /// Counts one of this many bytes.
    pub(super) fn begins(&self, span: usize) {
        self.count.set(self.count.get() + 1);
        self.bytes.set(self.bytes.get() + span);
    }

    /// Counts one of this many bytes that is finished.
    pub(super) fn ends(&self, span: usize) {
        self.count.set(self.count.get().saturating_sub(1));
        self.bytes.set(self.bytes.get().saturating_sub(span));
    }
}

/// The number of waits of the daemon after which a client without requests counts as idle: its
/// published processor is out of date.
const QUIET: u8 = 64;

impl Link {
    pub(super) fn new(memory: Mapping, doorbell: OwnedFd) -> Self {
        Self {
            memory,
            doorbell,
            taken: Cell::default(),
            completed: Cell::default(),
            published: Cell::default(),
            asymmetric: InService::default(),
            messages: InService::default(),
            credit: Cell::default(),
            seen: Cell::default(),
            quiet: Cell::new(QUIET),
            is_broken: Cell::default(),
        }
    }

    /// Notes that the daemon waits.
    #[inline]
    pub(super) fn waits(&self) {
        let taken = self.taken.get();
        self.quiet.set(match self.seen.replace(taken) == taken {
            true => self.quiet.get().saturating_add(1),
            false => 0,
        });
    }

    /// Whether the client had requests in the last waits of the daemon.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.quiet.get() < QUIET
    }

    /// The number of requests to take. A client that claims more than its ring holds is broken from
    /// then on, and has none.
    #[inline]
    pub(super) fn available(&self) -> u32 {
        let available = self.memory.submitted().wrapping_sub(self.taken.get());
        if available > self.memory.layout().depth() {
            self.is_broken.set(true);
        }
        if self.is_broken.get() { 0 } else { available }
    }

    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.get()
    }

    /// The oldest request, read once.
    #[inline]
    pub(super) fn next(&self) -> WireRequest {
        WireRequest::of(self.memory.read_submission(self.taken.get()))
    }

    /// Takes the oldest request out.
    #[inline]
    pub(super) fn advance(&self) {
        self.taken.set(self.taken.get().wrapping_add(1));
    }

    /// Answers a request: copies its answer, if any, to its place, and completes it.
    #[inline]
    pub(super) fn answer(&self, number: u64, status: u32, offset: u32, answer: &[u8]) {
        if status::changes(status) {
            // It is within the arena, as it was when the request was taken.
            let _ = self.memory.write(offset, answer);
        }
        self.complete(number, status);
    }

    /// Writes the completion of a request. A client that does not read completions loses the
    /// oldest.
    #[inline]
    pub(super) fn complete(&self, number: u64, status: u32) {
        let completed = self.completed.get();
        self.memory.write_completion(completed, completion(number, status));
        self.completed.set(completed.wrapping_add(1));
    }

    /// Publishes the completions so far, without a wake-up: [`publish`](Self::publish) must follow.
    #[inline]
    pub(super) fn publish_part(&self) {
        self.memory.complete(self.completed.get());
    }

    /// Publishes all completions. Whether there were any since it was last called, so that a client
    /// that sleeps is to be woken.
    #[inline]
    pub(super) fn publish(&self) -> bool {
        let completed = self.completed.get();
        if self.published.replace(completed) == completed {
            return false;
        }
        self.memory.complete(completed);
        true
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{EventfdFlags, eventfd};

    use super::*;

    #[test]
    fn who_has_no_requests_for_long_is_idle() {
        let layout = Layout::new(2, 1 << 12).expect("it is within bounds");
        let (memory, _) = Mapping::make(layout).expect("there is memory");
        let doorbell = eventfd(0, EventfdFlags::CLOEXEC).expect("there are descriptors");
        let link = Link::new(memory, doorbell);
        let waits = |link: &Link| {
            (1..1000).find(|_| {
                link.waits();
                !link.is_busy()
            })
        };
        assert_eq!(waits(&link), Some(1), "it has never had any");
        for _ in 0..3 {
            link.advance();
            link.waits();
            assert!(link.is_busy());
            assert_eq!(waits(&link), Some(u32::from(QUIET)));
        }
    }

    #[test]
    fn a_client_that_claims_too_much_has_nothing() {
        let layout = Layout::new(2, 1 << 12).expect("it is within bounds");
        let (memory, _) = Mapping::make(layout).expect("there is memory");
        let doorbell = eventfd(0, EventfdFlags::CLOEXEC).expect("there are descriptors");
        let link = Link::new(memory, doorbell);
        link.memory.submit(2);
        assert_eq!((link.available(), link.is_broken()), (2, false));
        link.memory.submit(3);
        assert_eq!((link.available(), link.is_broken()), (0, true));
        // Permanently.
        link.memory.submit(2);
        assert_eq!((link.available(), link.is_broken()), (0, true));
    }
}
