//! A turn: what all clients have submitted, served as one batch.

use core::mem;
use std::time::Instant;

use lanecrypt_engine::{Batch, Engine, Operation, Room};
use rustix::thread::futex;

use super::peer::{Link, Peer};
use crate::Statistics;
use crate::protocol::request::{Code, Found};
use crate::protocol::status;
use crate::shared::Side;
use crate::shared::bell::settle;

/// The most requests of a turn: as many as the widest lanes take.
const MOST: usize = 256;
/// The shortest private memory in bytes, so that turns of short messages are not cut.
const LEAST: usize = 1 << 18;

/// The memory of a turn, reused in the next.
#[derive(Debug)]
pub(super) struct Turn {
    room: Room,
    /// Messages while they are served. No client can reach it.
    private: Box<[u8]>,
    /// How much of it has held messages since it was last wiped.
    used: usize,
    jobs: Vec<Job>,
    /// The client that comes first in the next turn.
    first: usize,
}

/// A request that has been taken.
#[derive(Debug)]
struct Job {
    /// The index of its client.
    peer: usize,
    /// The client's number of it.
    number: u64,
    /// `None` if the batch knows.
    status: Option<u32>,
    /// Whether the answer is random bytes.
    fills: bool,
    /// The answer in private memory, and where it goes in the arena.
    at: usize,
    length: usize,
    offset: u32,
}

/// What there is to write when a request has been taken.
enum Taken {
    /// It has been settled, or waits in the batch.
    Job(Job),
    /// There is no room for it in this turn.
    Later,
}

impl Turn {
    pub(super) fn new(engine: &Engine) -> Self {
        let private = vec![0; LEAST].into_boxed_slice();
        let (room, jobs) = (engine.room(MOST), Vec::with_capacity(MOST));
        Self { room, private, used: 0, jobs, first: 0 }
    }

    /// Makes room for messages as long as an arena.
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

    /// Serves what is there, publishes it, and wakes who sleeps. Returns how many requests that were.
    pub(super) fn serve(&mut self, peers: &[Peer], statistics: &mut Statistics) -> usize {
        let waiting = links(peers).filter(|(_, link)| link.available() > 0).count();
        if waiting == 0 {
            return 0;
        }
        let begun = Instant::now();
        // Each client has its share, so that none is kept waiting by another.
        let share = MOST.div_ceil(waiting);
        self.take(peers, share);
        statistics.failed += self.answer(peers);
        publish(peers);
        let served = self.jobs.len();
        statistics.count(served, begun.elapsed());
        served
    }

    /// Takes requests and serves them.
    fn take(&mut self, peers: &[Peer], share: usize) {
        self.jobs.clear();
        let length = self.private.len();
        let mut rest = &mut *self.private;
        let mut batch = self.room.batch();
        self.first = if self.first < peers.len() { self.first } else { 0 };
        let order = (self.first..peers.len()).chain(0..self.first);
        self.first += 1;
        'turn: for (at, peer) in order.filter_map(|at| Some((at, peers.get(at)?))) {
            let Some(link) = &peer.link else { continue };
            let available = usize::try_from(link.available()).unwrap_or(0);
            for _ in 0..available.min(share) {
                if self.jobs.len() == MOST {
                    break 'turn;
                }
                let begin = length - rest.len();
                match take_one(peer, link, &mut rest, &mut batch) {
                    Taken::Job(job) => self.jobs.push(Job { peer: at, at: begin + job.at, ..job }),
                    Taken::Later => break 'turn,
                }
                link.advance();
            }
        }
        self.used = self.used.max(length - rest.len());
        // Each outcome is asked for below.
        let _ = batch.finish();
    }

    /// Copies what was served to where it belongs, and writes the completions. Returns how many
    /// requests have failed.
    fn answer(&mut self, peers: &[Peer]) -> u64 {
        let mut failed = 0;
        let mut outcomes = self.room.outcomes();
        for job in &self.jobs {
            let status = job.status.unwrap_or_else(|| {
                let outcome = outcomes.next().flatten();
                status::of(outcome.unwrap_or(Err(lanecrypt_engine::Error::Unsupported)))
            });
            failed += u64::from(status != status::SERVED);
            let Some(Some(link)) = peers.get(job.peer).map(|peer| &peer.link) else { continue };
            let Some(answer) =
                self.private.get_mut(job.at..).and_then(|from| from.get_mut(..job.length))
            else {
                continue;
            };
            if status::changes(status) {
                // It is within the arena, as it was when it was taken.
                let _ = link.memory.write(job.offset, answer);
            }
            if job.fills {
                answer.fill(0);
            }
            link.complete(job.number, status);
        }
        failed
    }
}

/// Takes the oldest request of a client: copies its bytes to the front of `rest`, and adds it to the
/// batch.
#[inline]
fn take_one<'t>(
    peer: &'t Peer,
    link: &Link,
    rest: &mut &'t mut [u8],
    batch: &mut Batch<'_, 't>,
) -> Taken {
    let found = link.next();
    let Some(code) = found.code() else {
        return settled(&found, status::of(Err(lanecrypt_engine::Error::Unsupported)));
    };
    let Some(places) = found.places(link.memory.layout().arena()) else {
        return settled(&found, status::MALFORMED);
    };
    let operation = match code {
        Code::Cipher(operation) => operation,
        Code::Fill => return fill(&found, places.span, rest),
    };
    let Some(opened) = peer.sessions.find(found.session) else {
        return settled(&found, status::UNKNOWN_SESSION);
    };
    if !opened.uses.allow(operation) {
        return settled(&found, status::NOT_ALLOWED);
    }
    let Some((piece, others)) = mem::take(rest).split_at_mut_checked(places.span) else {
        return Taken::Later;
    };
    *rest = others;
    // From here on the client can change nothing any more.
    if !link.memory.read(found.offset, piece) {
        return settled(&found, status::MALFORMED);
    }
    let (long, piece) = piece.split_at_mut(places.nonce);
    let nonce = if places.nonce > 0 { &*long } else { found.nonce() };
    let (header, data) = piece.split_at_mut(places.header);
    let begin = places.nonce + places.header;
    let offset = found.offset.saturating_add(u32::try_from(begin).unwrap_or(u32::MAX));
    let length = data.len();
    let session = opened.session();
    let _outcome = match operation {
        Operation::Seal => batch.seal(session, nonce, header, data),
        Operation::Open => batch.open(session, nonce, header, data),
        Operation::Encrypt => batch.encrypt(session, nonce, data),
        _ => batch.decrypt(session, nonce, data),
    };
    let number = found.number;
    Taken::Job(Job { peer: 0, number, status: None, fills: false, at: begin, length, offset })
}

/// Makes random bytes.
fn fill(found: &Found, span: usize, rest: &mut &mut [u8]) -> Taken {
    let Some((piece, others)) = mem::take(rest).split_at_mut_checked(span) else {
        return Taken::Later;
    };
    *rest = others;
    let filled = lanecrypt_random::try_fill(piece);
    let status = if filled.is_ok() { status::SERVED } else { status::NO_ENTROPY };
    let (number, offset) = (found.number, found.offset);
    let status = Some(status);
    Taken::Job(Job { peer: 0, number, status, fills: true, at: 0, length: span, offset })
}

/// A request that is refused before it is looked at.
#[cold]
fn settled(found: &Found, status: u32) -> Taken {
    let (number, status) = (found.number, Some(status));
    Taken::Job(Job { peer: 0, number, status, fills: false, at: 0, length: 0, offset: 0 })
}

/// Publishes the completions of all clients, and wakes those that sleep.
fn publish(peers: &[Peer]) {
    let mut told = 0_u64;
    for (at, link) in links(peers) {
        if link.publish() {
            // The last bit stands for all clients from there on.
            told |= 1 << at.min(63);
        }
    }
    settle();
    for (at, link) in links(peers) {
        if told >> at.min(63) & 1 == 0 {
            continue;
        }
        let bell = link.memory.bell(Side::Client);
        if bell.is_to_ring() {
            // Without the flag for private memory: the client has a mapping of its own. It can only
            // fail for other arguments.
            let _ = futex::wake(bell.word(), futex::Flags::empty(), 1);
        }
    }
}

/// The clients that have shared memory, by index.
pub(super) fn links(peers: &[Peer]) -> impl Iterator<Item = (usize, &Link)> {
    peers.iter().enumerate().filter_map(|(at, peer)| Some((at, peer.link.as_ref()?)))
}
