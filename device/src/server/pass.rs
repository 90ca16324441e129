//! A batch pass: requests that clients have submitted, processed as one batch.
//!
//! Clients take turns. In each turn a client may take a fixed time, as estimated ([`super::cost`]);
//! what its last request takes beyond that is taken off its next turns (deficit round robin,
//! Shreedhar and Varghese, 1995). Rings are looked at again in every round, so that a client with
//! one request at a time waits for one turn of each other client, not for their whole rings.
//! Requests that take long go to a thread of their own ([`super::long`], [`super::asymmetric`]).
//!
//! Requests that do not benefit from lanes are processed immediately, and their completions are
//! published at the end of a turn. The others are one [`Batch`] of the engine. At the end, each
//! client that sleeps is woken once.

use core::mem;
use std::time::Instant;

use lanecrypt_engine::{Batch, BatchBuffer, Engine, Error, Nonce, Operation};
use rustix::thread::futex;

use super::asymmetric::AsymmetricRequests;
use super::cost::time;
use super::long::LongMessages;
use super::parts::Parts;
use super::peer::{Link, Peer};
use super::sessions::Opened;
use super::uses::place;
use crate::Statistics;
use crate::protocol::request::{ArenaRanges, Code, WireRequest};
use crate::protocol::status;
use crate::shared::Side;
use crate::shared::wakeup::settle;

/// The most requests of a pass: the number of the widest lanes.
const MOST: usize = 256;
/// The private memory in bytes. Longer requests are long.
const PRIVATE: usize = 1 << 20;

/// The time of a client in a turn, in nanoseconds: about 30 short messages.
const TURN: i64 = 2_000;
/// The time of a pass, in nanoseconds.
const PASS: u64 = 100_000;
/// The longest time of a request, in nanoseconds, that is served between those of other clients.
const SHARED: u64 = 8_000;
/// The same if no other client has had requests lately.
const ALONE: u64 = 250_000;

/// Bytes of a request that are copied before it is checked: less than what the check costs.
const SHORT: usize = 4096;

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
    /// The time of 1 KiB of random bytes, in nanoseconds.
    random: u32,
}

/// The threads that requests are handed over to.
#[derive(Debug)]
pub(super) struct Workers {
    pub(super) asymmetric: AsymmetricRequests,
    pub(super) long: LongMessages,
    /// Whether the daemon shuts down, and takes no more of them.
    pub(super) is_closed: bool,
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
    /// It has been answered, with this status.
    Answered(u32),
    /// It waits in the batch.
    Waits(Job),
    /// Another thread will serve it.
    HandedOver,
    /// There is no room for it in this pass.
    Later,
}

/// The requests of a pass: all, those that failed immediately, and those that were handed over to
/// another thread; and their time, as estimated, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PassCounts {
    pub(super) all: usize,
    failed: usize,
    handed_over: usize,
    pub(super) time: u64,
}

/// Without sleeps, one in this number of passes is timed: reading the clock twice takes as long as
/// serving a message.
const TIMED: u64 = 8;

/// The number of completions that are published together while others are being served.
const PART: usize = 8;

impl BatchPass {
    pub(super) fn new(engine: &Engine, random: u32) -> Self {
        let private = vec![0; PRIVATE].into_boxed_slice();
        let (buffer, jobs) = (engine.batch_buffer(MOST), Vec::with_capacity(MOST));
        Self { buffer, private, used: 0, jobs, first: 0, sleeps: 0, random }
    }

    /// Overwrites the messages that have been served.
    pub(super) fn wipe(&mut self) {
        if let Some(used) = self.private.get_mut(..self.used) {
            used.fill(0);
        }
        self.used = 0;
    }

    /// Serves submitted requests, publishes completions, and wakes sleeping clients.
    pub(super) fn serve(
        &mut self,
        peers: &[Peer],
        workers: &mut Workers,
        statistics: &mut Statistics,
    ) -> PassCounts {
        let (mut waiting, mut busy) = (0, 0);
        for (_, link) in links(peers) {
            let waits = link.available() > 0;
            waiting += usize::from(waits);
            busy += usize::from(waits || link.is_busy());
        }
        if waiting == 0 {
            return PassCounts::default();
        }
        let slept = mem::replace(&mut self.sleeps, statistics.sleeps) != statistics.sleeps;
        let is_timed = slept || statistics.batches.is_multiple_of(TIMED);
        let begun = is_timed.then(Instant::now);
        let took = self.take(peers, workers, waiting > 1, busy == 1);
        let failed = took.failed + self.answer(peers);
        publish(peers);
        if took.all > took.handed_over {
            let served = took.all - took.handed_over;
            statistics.count(served, failed, begun.map(|begun| begun.elapsed()));
        }
        took
    }

    /// Takes requests. Those that do not benefit from lanes are served and answered immediately;
    /// the others are served together at the end.
    fn take(
        &mut self,
        peers: &[Peer],
        workers: &mut Workers,
        several: bool,
        is_alone: bool,
    ) -> PassCounts {
        self.jobs.clear();
        // Nobody else waits for the end of a turn.
        let (turn, pass) = if is_alone { (ALONE.cast_signed(), ALONE) } else { (TURN, PASS) };
        let length = self.private.len();
        let mut taker = Taker {
            rest: &mut self.private,
            batch: self.buffer.batch(),
            workers,
            longest: if is_alone { ALONE } else { SHARED },
            random: self.random,
        };
        let mut took = PassCounts::default();
        self.first = if self.first < peers.len() { self.first } else { 0 };
        let first = self.first;
        self.first += 1;
        'pass: loop {
            let mut is_more = false;
            let order = (first..peers.len()).chain(0..first);
            for (at, peer) in order.filter_map(|at| Some((at, peers.get(at)?))) {
                let Some(link) = peer.link() else { continue };
                let available = usize::try_from(link.available()).unwrap_or(0);
                if available == 0 {
                    link.credit.set(link.credit.get().min(0));
                    continue;
                }
                let batched = several || available > 1;
                let mut credit = link.credit.get().saturating_add(turn).min(turn);
                let mut taken = 0;
                while taken < available && credit > 0 && took.all < MOST && took.time < pass {
                    let begin = length - taker.rest.len();
                    let (done, time) = taker.take_one(peer, link, batched);
                    match done {
                        Taken::Answered(status) => {
                            took.failed += usize::from(status != status::SERVED);
                        }
                        Taken::HandedOver => took.handed_over += 1,
                        Taken::Waits(job) => {
                            self.jobs.push(Job { peer: at, at: begin + job.at, ..job });
                        }
                        Taken::Later => break 'pass,
                    }
                    link.advance();
                    took.all += 1;
                    took.time += time;
                    credit = credit.saturating_sub_unsigned(time);
                    taken += 1;
                    if taken % PART == 0 {
                        // It is awake if it spins; otherwise it is woken at the end.
                        link.publish_part();
                    }
                }
                link.credit.set(credit);
                if !is_alone && taken > 0 {
                    link.publish_part();
                }
                if took.all >= MOST || took.time >= pass {
                    // The next pass goes on behind it.
                    self.first = at + 1;
                    break 'pass;
                }
                is_more |= taken < available;
            }
            if !is_more {
                break;
            }
        }
        let Taker { rest, batch, .. } = taker;
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
            let Some(link) = peers.get(job.peer).and_then(Peer::link) else { continue };
            let answer = self.private.get(job.at..).and_then(|from| from.get(..job.length));
            link.answer(job.number, status, job.offset, answer.unwrap_or_default());
        }
        failed
    }
}

/// Takes requests, one after another.
struct Taker<'t, 'b> {
    /// Private memory that is free.
    rest: &'t mut [u8],
    batch: Batch<'b, 't>,
    workers: &'t mut Workers,
    /// The longest time of a request that is served here, in nanoseconds.
    longest: u64,
    random: u32,
}

impl<'t> Taker<'t, '_> {
    /// Takes the oldest request of a client, and returns what became of it and its time, as
    /// estimated.
    #[inline(always)]
    fn take_one(&mut self, peer: &'t Peer, link: &Link, batched: bool) -> (Taken, u64) {
        let found = link.next();
        let Some(places) = found.places(link.memory.layout().arena()) else {
            return (refused(link, &found, malformed(&found)), time(0, 0));
        };
        if let Some((operation, at)) = found.of_cipher()
            && let Some(place) = peer.sessions.find(found.session)
            && let Some(opened) = place.opened()
            && opened.uses.has(at)
            && opened.named.is_none()
            && places.span <= SHORT.min(self.rest.len())
        {
            let cost = opened.cost(at, places.span);
            if cost <= self.longest {
                place.count(at);
                let taken =
                    self.serve(link, opened, (operation, at), (&found, places), None, batched);
                return (taken, cost);
            }
        }
        self.take_other((peer, link), (&found, places), batched)
    }

    /// Takes a request that is not as usual: long, of a named key, without a session, or refused.
    #[inline(never)]
    fn take_other(
        &mut self,
        (peer, link): (&'t Peer, &Link),
        (found, places): (&WireRequest, ArenaRanges),
        batched: bool,
    ) -> (Taken, u64) {
        let refused = |status| (refused(link, found, status), time(0, 0));
        let Some(code) = found.code() else {
            return refused(status::of(Err(Error::Unsupported)));
        };
        let Some(operation) = code.operation() else {
            return self.fill((peer, link), found, places);
        };
        let Some(session) = peer.sessions.find(found.session) else {
            return refused(status::UNKNOWN_SESSION);
        };
        let Some(opened) = session.opened() else {
            return refused(status::KEY_REMOVED);
        };
        let Some(at) = place(operation).filter(|&at| opened.uses.has(at)) else {
            return refused(status::NOT_ALLOWED);
        };
        if code.is_asymmetric() {
            session.count(at);
            let taken = match self.workers.is_closed {
                true => Err(status::SHUTTING_DOWN),
                false => self.workers.asymmetric.take((peer, link), opened, code, found, places),
            };
            return match taken {
                Ok(()) => (Taken::HandedOver, time(0, 0)),
                Err(status) => refused(status),
            };
        }
        let cost = opened.cost(at, places.span);
        let is_long = cost > self.longest || places.span > PRIVATE;
        if !is_long && self.rest.len() < places.span {
            return (Taken::Later, 0);
        }
        session.count(at);
        if let Some(error) = opened.refuses(operation, found.nonce_length(), data_length(found)) {
            return refused(status::of(Err(error)));
        }
        let nonce = match make_nonce(opened, code, found) {
            Ok(nonce) => nonce,
            Err(status) => return refused(status),
        };
        if is_long {
            let keyed = Some((operation, opened));
            let taken = self.hand_over((peer, link), keyed, (found, places), nonce, cost);
            return (taken, time(0, 0));
        }
        let operation = (operation, at);
        let taken = self.serve(link, opened, operation, (found, places), nonce.as_ref(), batched);
        (taken, cost)
    }

    /// Serves a request, or adds it to the batch. There is room for it.
    #[inline(always)]
    fn serve(
        &mut self,
        link: &Link,
        opened: &'t Opened,
        (operation, at): (Operation, usize),
        (found, places): (&WireRequest, ArenaRanges),
        nonce: Option<&Nonce>,
        batched: bool,
    ) -> Taken {
        let (whole, others) = mem::take(&mut self.rest).split_at_mut(places.span);
        self.rest = others;
        let parts = Parts::new(found, places, nonce);
        let (begin, offset) = (parts.answer(), parts.offset());
        if !batched || !opened.gains(at, places.span - places.nonce - places.header) {
            let read = |whole: &mut [u8]| link.memory.read(found.offset, whole);
            let status = parts.process(opened, operation, whole, read);
            link.answer(found.number, status, offset, whole.get(begin..).unwrap_or_default());
            return Taken::Answered(status);
        }
        // From here on the client cannot change the request.
        if !link.memory.read(found.offset, whole) {
            return refused(link, found, status::MALFORMED);
        }
        let (number, length, index) = (found.number, whole.len() - begin, self.batch.len());
        parts.add(opened, operation, whole, &mut self.batch);
        Taken::Waits(Job { peer: 0, number, index, at: begin, length, offset })
    }

    /// Generates random bytes.
    fn fill(
        &mut self,
        (peer, link): (&Peer, &Link),
        found: &WireRequest,
        places: ArenaRanges,
    ) -> (Taken, u64) {
        let cost = time(self.random, places.span);
        if cost > self.longest || places.span > PRIVATE {
            let taken = self.hand_over((peer, link), None, (found, places), None, cost);
            return (taken, time(0, 0));
        }
        let Some(buffer) = self.rest.get_mut(..places.span) else { return (Taken::Later, 0) };
        let filled = lanecrypt_random::try_fill(buffer);
        let status = if filled.is_ok() { status::SERVED } else { status::NO_ENTROPY };
        link.answer(found.number, status, found.offset, buffer);
        // No other client may receive them.
        buffer.fill(0);
        (Taken::Answered(status), cost)
    }

    /// Hands a long request over to the thread for them.
    #[cold]
    fn hand_over(
        &mut self,
        client: (&Peer, &Link),
        keyed: Option<(Operation, &Opened)>,
        request: (&WireRequest, ArenaRanges),
        nonce: Option<Nonce>,
        time: u64,
    ) -> Taken {
        let taken = match self.workers.is_closed {
            true => Err(status::SHUTTING_DOWN),
            false => self.workers.long.take(client, keyed, request, nonce, time),
        };
        match taken {
            Ok(()) => Taken::HandedOver,
            Err(status) => refused(client.1, request.0, status),
        }
    }
}

/// The nonce of a request, if the daemon makes it.
///
/// # Errors
///
/// The status of the refusal: only sealing with a key whose nonces the daemon makes has none of the
/// client's.
fn make_nonce(opened: &Opened, code: Code, found: &WireRequest) -> Result<Option<Nonce>, u32> {
    let nonces = opened.named.as_ref().and_then(|key| key.nonces.as_ref());
    match (nonces, code) {
        (None, Code::SealNext) => Err(status::NOT_ALLOWED),
        (Some(_), Code::Keyed(Operation::Seal)) => Err(status::MAKES_NONCES),
        (Some(nonces), Code::SealNext) if found.nonce_length() != nonces.length() => {
            Err(status::of(Err(Error::NonceLength)))
        }
        (Some(nonces), Code::SealNext) => {
            nonces.fresh().map(Some).map_err(|error| status::of(Err(error)))
        }
        _ => Ok(None),
    }
}

/// The status of a request whose bytes are not in the arena.
#[cold]
fn malformed(found: &WireRequest) -> u32 {
    match found.code() {
        Some(_) => status::MALFORMED,
        None => status::of(Err(Error::Unsupported)),
    }
}

/// The length of the data of a request, with its tag.
fn data_length(found: &WireRequest) -> usize {
    usize::try_from(found.length).unwrap_or(usize::MAX)
}

/// Answers a request without reading its bytes.
#[cold]
fn refused(link: &Link, found: &WireRequest, status: u32) -> Taken {
    link.complete(found.number, status);
    Taken::Answered(status)
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
    peers.iter().enumerate().filter_map(|(at, peer)| Some((at, peer.link()?)))
}
