//! Messages that take so long that a thread of their own serves them, one at a time, in turn for
//! all clients: they delay nobody else's.

use std::sync::Arc;
use std::time::Instant;

use lanecrypt_engine::{Error, Nonce, Operation};
use zeroize::Zeroize as _;

use super::parts::Parts;
use super::peer::{Link, Peer};
use super::sessions::Opened;
use super::worker::{CompletionNotifier, Work, Worker};
use crate::protocol::request::{ArenaRanges, WireRequest};
use crate::protocol::status;
use crate::shared::Mapping;

/// The longest piece of random bytes that is made at a time.
const PIECE: usize = 1 << 16;

/// The long messages of all clients.
#[derive(Debug)]
pub(super) struct LongMessages(Worker<Job, Done>);

/// A request for a long message. Its bytes are in the arena until it is served.
#[derive(Debug)]
struct Job {
    memory: Mapping,
    /// The operation with its session; random bytes without.
    keyed: Option<(Operation, Opened)>,
    found: WireRequest,
    places: ArenaRanges,
    /// The nonce that the daemon has made.
    nonce: Option<Nonce>,
}

/// A finished job.
#[derive(Debug)]
struct Done {
    number: u64,
    status: u32,
    span: usize,
}

impl LongMessages {
    pub(super) fn new(notifier: &Arc<CompletionNotifier>) -> Self {
        Self(Worker::new("lanecrypt-long", notifier))
    }

    /// Takes a request, which costs about this many nanoseconds.
    ///
    /// # Errors
    ///
    /// The status of the refusal.
    pub(super) fn take(
        &mut self,
        (peer, link): (&Peer, &Link),
        keyed: Option<(Operation, &Opened)>,
        (found, places): (&WireRequest, ArenaRanges),
        nonce: Option<Nonce>,
        cost: u64,
    ) -> Result<(), u32> {
        let layout = link.memory.layout();
        // A client that respects its window never has more.
        if !link.messages.admits(layout.depth(), layout.arena(), places.span) {
            return Err(status::FULL);
        }
        if self.0.begin(|| Server { private: Vec::new() }).is_err() {
            return Err(status::of(Err(Error::DriverFailed)));
        }
        link.messages.begins(places.span);
        let keyed = keyed.map(|(operation, opened)| (operation, opened.clone()));
        let memory = link.memory.clone();
        self.0.give(peer.number, cost, Job { memory, keyed, found: *found, places, nonce });
        Ok(())
    }

    /// The finished requests: the client, the number, the status, and the length.
    pub(super) fn done(&self) -> impl Iterator<Item = (u64, u64, u32, usize)> {
        self.0
            .done()
            .into_iter()
            .map(|(client, done)| (client, done.number, done.status, done.span))
    }

    /// Drops jobs of a disconnected client that are not begun.
    pub(super) fn forget(&self, client: u64) {
        self.0.forget(client);
    }

    /// Takes back the requests that are not begun: the client, the number, and the length.
    pub(super) fn cancel(&self) -> impl Iterator<Item = (u64, u64, usize)> {
        self.0.cancel().map(|(client, job)| (client, job.found.number, job.places.span))
    }

    /// Waits until the one that is being served is finished, but not longer than until this time.
    pub(super) fn wait_for_begun(&self, until: Instant) {
        self.0.wait_for_begun(until);
    }
}

/// The work of the thread, with the memory for messages while they are served, which no client can
/// access.
struct Server {
    private: Vec<u8>,
}

impl Server {
    fn serve(&mut self, job: &Job) -> u32 {
        match &job.keyed {
            Some((operation, opened)) => self.process(job, *operation, opened),
            None => self.fill(job),
        }
    }

    fn process(&mut self, job: &Job, operation: Operation, opened: &Opened) -> u32 {
        let Job { memory, found, places, nonce, .. } = job;
        let Some(whole) = room(&mut self.private, places.span) else {
            return status::of(Err(Error::DriverFailed));
        };
        let parts = Parts::new(found, *places, nonce.as_ref());
        let status =
            parts.process(opened, operation, whole, |whole| memory.read(found.offset, whole));
        if status::changes(status) {
            let answer = whole.get(parts.answer()..).unwrap_or_default();
            // It is within the arena, as it was when the request was taken.
            let _ = memory.write(parts.offset(), answer);
        }
        status
    }

    fn fill(&mut self, job: &Job) -> u32 {
        let Some(piece) = room(&mut self.private, PIECE.min(job.places.span)) else {
            return status::of(Err(Error::DriverFailed));
        };
        let mut at = 0;
        while at < job.places.span {
            let length = piece.len().min(job.places.span - at);
            let Some(piece) = piece.get_mut(..length) else { break };
            if lanecrypt_random::try_fill(piece).is_err() {
                return status::NO_ENTROPY;
            }
            let offset = job.found.offset.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
            let _ = job.memory.write(offset, piece);
            at += length;
        }
        status::SERVED
    }
}

/// The first `length` bytes of private memory, which grows if it has to; `None` if there is none.
fn room(private: &mut Vec<u8>, length: usize) -> Option<&mut [u8]> {
    if private.len() < length {
        private.zeroize();
        private.try_reserve_exact(length).ok()?;
        private.resize(length, 0);
    }
    private.get_mut(..length)
}

impl Work<Job, Done> for Server {
    // So that the memory of one message is enough.
    const TOGETHER: usize = 1;

    fn work(&mut self, jobs: &mut Vec<(u64, Job)>, done: &mut Vec<(u64, Done)>) {
        for (client, job) in jobs.iter() {
            let status = self.serve(job);
            let (number, span) = (job.found.number, job.places.span);
            done.push((*client, Done { number, status, span }));
        }
    }

    fn failed(job: Job) -> Done {
        let status = status::of(Err(Error::DriverFailed));
        Done { number: job.found.number, status, span: job.places.span }
    }

    fn rest(&mut self) {
        self.private.zeroize();
        self.private = Vec::new();
    }
}
