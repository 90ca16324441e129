//! A batch pass: the requests that all clients have submitted, processed as one batch.
//!
//! The clients share 256 requests equally; the client that comes first changes with every pass.
//! Requests that do not benefit from lanes are processed immediately, and their completions are
//! published in groups of eight. The others are one [`Batch`] of the engine. At the end, each
//! client that sleeps is woken once.

use core::mem;
use std::time::Instant;

use lanecrypt_engine::{Batch, BatchBuffer, Engine, Error, Operation};
use rustix::thread::futex;

use super::peer::{Link, Peer};
use super::signatures::Signatures;
use crate::Statistics;
use crate::protocol::request::WireRequest;
use crate::protocol::status;
use crate::shared::Side;
use crate::shared::wakeup::settle;

/// The most requests of a pass: the number of the widest lanes.
const MOST: usize = 256;
/// The shortest private memory in bytes, so that it does not limit passes of short messages.
const LEAST: usize = 1 << 18;

/// The memory of a pass, reused in the next.
#[derive(Debug)]
pub(super) struct BatchPass {
    buffer: BatchBuffer,
    /// Messages while they are served. No client can reach it.
    private: Box<[u8]>,
    /// The length of the part that has held messages since the last wipe.
    used: usize,
    jobs: Vec<Job>,
    /// The first client of the next pass.
    first: usize,
    /// The number of the daemon's sleeps before the last pass.
    sleeps: u64,
}

/// A request that waits in the batch for others.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// The index of its client.
    peer: usize,
    /// The client's number of it.
    number: u64,
    /// Its index in the batch.
    index: usize,
    /// The answer in private memory, and where it goes in the arena.
    at: usize,
    length: usize,
    offset: u32,
}

/// The state of a request that was taken.
enum Taken {
    /// It has been answered.
    Answered,
    /// It was answered with an error.
    Failed,
    /// It waits in the batch.
    Waits(Job),
    /// Another thread will serve it.
    HandedOver,
    /// There is no room for it in this pass.
    Later,
}

/// The numbers of requests that were taken, that failed immediately, and that were handed over to
/// another thread.
#[derive(Clone, Copy, Debug, Default)]
struct Took {
    all: usize,
    failed: usize,
    handed_over: usize,
}

/// Without sleeps, one in this number of passes is timed: reading the clock twice takes as long as
/// serving a message.
const TIMED: u64 = 8;

/// The number of completions that are published together while others are being served.
const PART: usize = 8;

impl BatchPass {
    pub(super) fn new(engine: &Engine) -> Self {
        let private = vec![0; LEAST].into_boxed_slice();
        let (buffer, jobs) = (engine.batch_buffer(MOST), Vec::with_capacity(MOST));
        Self { buffer, private, used: 0, jobs, first: 0, sleeps: 0 }
    }

    /// Ensures room for messages as long as an arena.
    pub(super) fn fits(&mut self, arena: u32) {
        if self.private.len() < arena as usize {
            self.wipe();
            self.private = vec![0; arena as usize].into_boxed_slice();
        }
    }

    /// Overwrites the messages that have been served.
    pub(super) fn wipe(&mut self) {
        if let Some(used) = self.private.get_mut(..self.used) {
            used.fill(0);
        }
        self.used = 0;
    }

    /// Serves the submitted requests, publishes completions, and wakes sleeping clients. Returns
    /// the number of requests.
    pub(super) fn serve(
        &mut self,
        peers: &[Peer],
        signatures: &mut Signatures,
        statistics: &mut Statistics,
    ) -> usize {
        let waiting = links(peers).filter(|(_, link)| link.available() > 0).count();
        if waiting == 0 {
            return 0;
        }
        let slept = mem::replace(&mut self.sleeps, statistics.sleeps) != statistics.sleeps;
        let is_timed = slept || statistics.batches.is_multiple_of(TIMED);
        let begun = is_timed.then(Instant::now);
        // Each client has its share, so that no client delays another.
        let took = self.take(peers, signatures, MOST.div_ceil(waiting), waiting > 1);
        let failed = took.failed + self.answer(peers);
        publish(peers);
        if took.all > took.handed_over {
            let served = took.all - took.handed_over;
            statistics.count(served, failed, begun.map(|begun| begun.elapsed()));
        }
        took.all
    }

    /// Takes requests. Those that do not benefit from lanes are served and answered immediately;
    /// the others are served together at the end.
    fn take(
        &mut self,
        peers: &[Peer],
        signatures: &mut Signatures,
        share: usize,
        batched: bool,
    ) -> Took {
        self.jobs.clear();
        let length = self.private.len();
        let mut rest = &mut *self.private;
        let mut batch = self.buffer.batch();
        let mut took = Took::default();
        self.first = if self.first < peers.len() { self.first } else { 0 };
        let order = (self.first..peers.len()).chain(0..self.first);
        self.first += 1;
        'turn: for (at, peer) in order.filter_map(|at| Some((at, peers.get(at)?))) {
            let Some(link) = &peer.link else { continue };
            let available = usize::try_from(link.available()).unwrap_or(0);
            let batched = batched || available > 1;
            for taken in 1..=available.min(share) {
                if took.all == MOST {
                    break 'turn;
                }
                let begin = length - rest.len();
                match take_one(peer, link, &mut rest, &mut batch, batched, signatures) {
                    Taken::Answered => {}
                    Taken::Failed => took.failed += 1,
                    Taken::HandedOver => took.handed_over += 1,
                    Taken::Waits(job) => {
                        self.jobs.push(Job { peer: at, at: begin + job.at, ..job });
                    }
                    Taken::Later => break 'turn,
                }
                link.advance();
                took.all += 1;
                if taken % PART == 0 {
                    // It is awake if it spins; otherwise it is woken at the end.
                    link.publish_part();
                }
            }
        }
        self.used = self.used.max(length - rest.len());
        // Each outcome is checked below.
        let _ = batch.finish();
        took
    }

    /// Answers the requests that were served at the end. Returns the number of failed ones.
    fn answer(&mut self, peers: &[Peer]) -> usize {
        let mut failed = 0;
        for job in &self.jobs {
            let outcome = self.buffer.outcome(job.index);
            let status = status::of(outcome.unwrap_or(Err(Error::Unsupported)));
            failed += usize::from(status != status::SERVED);
            let Some(link) = peers.get(job.peer).and_then(|peer| peer.link.as_ref()) else {
                continue;
            };
            let answer = self.private.get(job.at..).and_then(|from| from.get(..job.length));
            link.answer(job.number, status, job.offset, answer.unwrap_or_default());
        }
        failed
    }
}

/// Takes the oldest request of a client: copies its bytes to the front of `rest`, and adds it to
/// the batch.
#[inline]
fn take_one<'t>(
    peer: &'t Peer,
    link: &Link,
    rest: &mut &'t mut [u8],
    batch: &mut Batch<'_, 't>,
    batched: bool,
    signatures: &mut Signatures,
) -> Taken {
    let found = link.next();
    let Some(code) = found.code() else {
        return refused(link, &found, status::of(Err(Error::Unsupported)));
    };
    let Some(places) = found.places(link.memory.layout().arena()) else {
        return refused(link, &found, status::MALFORMED);
    };
    let Some(operation) = code.operation() else {
        return fill(link, &found, places.span, rest);
    };
    let Some(opened) = peer.sessions.find(found.session) else {
        return refused(link, &found, status::UNKNOWN_SESSION);
    };
    if !opened.uses.allow(operation) {
        return refused(link, &found, status::NOT_ALLOWED);
    }
    if code.is_long() {
        let taken = signatures.take((peer, link), opened, code, &found, places);
        return match taken {
            Ok(()) => Taken::HandedOver,
            Err(status) => refused(link, &found, status),
        };
    }
    if rest.len() < places.span {
        return Taken::Later;
    }
    let (whole, others) = mem::take(rest).split_at_mut(places.span);
    *rest = others;
    // From here on the client cannot change the request.
    if !link.memory.read(found.offset, whole) {
        return refused(link, &found, status::MALFORMED);
    }
    let (long, piece) = whole.split_at_mut(places.nonce);
    let nonce = if places.nonce > 0 { &*long } else { found.nonce() };
    let (header, data) = piece.split_at_mut(places.header);
    let at = places.nonce + places.header;
    // It is within the arena, as all of the request is.
    let offset = found.offset.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
    let session = opened.session();
    if !batched || !opened.gains(operation, data.len()) {
        let outcome = match operation {
            Operation::Seal => session.seal(nonce, header, data),
            Operation::Open => session.open(nonce, header, data).map(drop),
            Operation::Encrypt => session.encrypt(nonce, &mut *data),
            _ => session.decrypt(nonce, &mut *data),
        };
        let status = status::of(outcome);
        link.answer(found.number, status, offset, data);
        return if outcome.is_ok() { Taken::Answered } else { Taken::Failed };
    }
    let (number, length, index) = (found.number, data.len(), batch.len());
    // If it is served immediately, its outcome is stored as well.
    let _outcome = match operation {
        Operation::Seal => batch.seal(session, nonce, header, data),
        Operation::Open => batch.open(session, nonce, header, data),
        Operation::Encrypt => batch.encrypt(session, nonce, data),
        _ => batch.decrypt(session, nonce, data),
    };
    Taken::Waits(Job { peer: 0, number, index, at, length, offset })
}

/// Generates random bytes.
fn fill(link: &Link, found: &WireRequest, span: usize, rest: &mut [u8]) -> Taken {
    let Some(buffer) = rest.get_mut(..span) else { return Taken::Later };
    let filled = lanecrypt_random::try_fill(buffer);
    let status = if filled.is_ok() { status::SERVED } else { status::NO_ENTROPY };
    link.answer(found.number, status, found.offset, buffer);
    // No other client may receive them.
    buffer.fill(0);
    if filled.is_ok() { Taken::Answered } else { Taken::Failed }
}

/// Answers a request without reading its bytes.
#[cold]
fn refused(link: &Link, found: &WireRequest, status: u32) -> Taken {
    link.answer(found.number, status, found.offset, &[]);
    Taken::Failed
}

/// Publishes the completions of all clients, and wakes those that sleep.
pub(super) fn publish(peers: &[Peer]) {
    let mut published = 0_u64;
    for (at, link) in links(peers) {
        if link.publish() {
            // The last bit represents all further clients.
            published |= 1 << at.min(63);
        }
    }
    settle();
    for (at, link) in links(peers) {
        if published >> at.min(63) & 1 == 0 {
            continue;
        }
        let wakeup = link.memory.wakeup(Side::Client);
        if wakeup.is_due() {
            // Without the flag for private memory: the client has its own mapping. It fails only
            // for other arguments.
            let _ = futex::wake(wakeup.word(), futex::Flags::empty(), 1);
        }
    }
}

/// The clients that have shared memory, by index.
pub(super) fn links(peers: &[Peer]) -> impl Iterator<Item = (usize, &Link)> {
    peers.iter().enumerate().filter_map(|(at, peer)| Some((at, peer.link.as_ref()?)))
}
