//! A client, as the daemon sees it.

use core::cell::Cell;
use std::os::fd::OwnedFd;

use super::sessions::Sessions;
use crate::protocol::request::{WireRequest, completion};
use crate::protocol::status;
use crate::shared::Mapping;

/// A process that has connected.
#[derive(Debug)]
pub(super) struct Peer {
    /// Its number: never that of another.
    pub(super) number: u64,
    pub(super) socket: OwnedFd,
    pub(super) user: u32,
    pub(super) sessions: Sessions,
    /// Whether it waits for a key that takes long.
    pub(super) awaits_key: bool,
    /// What it shares with the daemon, once it has asked for that.
    pub(super) link: Option<Link>,
}

/// What a client and the daemon share. The cells are the daemon's own: nothing that it has written
/// is ever read back.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) memory: Mapping,
    /// Written by the client to wake the daemon, which never reads it: the descriptor's flags are
    /// the client's, too, so that a read could wait.
    pub(super) doorbell: OwnedFd,
    /// How many requests have been taken, and how many completions written, modulo 2^32.
    taken: Cell<u32>,
    completed: Cell<u32>,
    /// How many of them are published to the client.
    published: Cell<u32>,
    /// How many signatures are being served, and how many bytes they hold.
    signatures: Cell<u32>,
    held: Cell<usize>,
    /// How many had been taken when the daemon last waited, and for how many waits there were none.
    seen: Cell<u32>,
    quiet: Cell<u8>,
    /// Whether it has written what no client writes.
    is_broken: Cell<bool>,
}

/// After how many waits of the daemon a client without requests counts as idle: what it says about
/// its processor is of the past.
const QUIET: u8 = 64;

impl Link {
    pub(super) fn new(memory: Mapping, doorbell: OwnedFd) -> Self {
        let [taken, completed, published, seen, signatures] = [(); 5].map(|()| Cell::new(0));
        let (held, quiet, is_broken) = (Cell::new(0), Cell::new(QUIET), Cell::new(false));
        Self {
            memory,
            doorbell,
            taken,
            completed,
            published,
            signatures,
            held,
            seen,
            quiet,
            is_broken,
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

    /// How many requests there are to take. A client that claims more than its ring holds is broken
    /// from then on, and has none.
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

    /// Whether it may have one more signature, of so many bytes, if `most` are allowed. Those of a
    /// client that keeps to its window are all in the arena at once.
    pub(super) fn may_begin(&self, most: u32, span: usize) -> bool {
        let room = self.memory.layout().arena() as usize;
        self.signatures.get() < most && self.held.get().saturating_add(span) <= room
    }

    /// A signature of so many bytes is being served.
    pub(super) fn begins(&self, span: usize) {
        self.signatures.set(self.signatures.get() + 1);
        self.held.set(self.held.get() + span);
    }

    /// A signature of so many bytes is served.
    pub(super) fn ends(&self, span: usize) {
        self.signatures.set(self.signatures.get().saturating_sub(1));
        self.held.set(self.held.get().saturating_sub(span));
    }

    /// Answers a request: copies its answer to where it belongs, if there is one, and writes the
    /// completion. A client that does not read them loses the oldest.
    #[inline]
    pub(super) fn answer(&self, number: u64, status: u32, offset: u32, answer: &[u8]) {
        if status::changes(status) {
            // It is within the arena, as it was when the request was taken.
            let _ = self.memory.write(offset, answer);
        }
        let completed = self.completed.get();
        self.memory.write_completion(completed, completion(number, status));
        self.completed.set(completed.wrapping_add(1));
    }

    /// Publishes the completions that there are so far. It wakes nobody: [`publish`](Self::publish)
    /// must follow.
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
    use crate::shared::Layout;

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
        // For good.
        link.memory.submit(2);
        assert_eq!((link.available(), link.is_broken()), (0, true));
    }
}
