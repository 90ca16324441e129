//! Requests through the engine's queues, as a row repeats them.
//!
//! Messages own their buffers, so that these are not in the memory that other rows share. Answers
//! are checked like those of other messages: known questions are compared with the portable
//! kernel before and after the row is timed, and each batch has other nonces and another order.

use lanecrypt_ciphers::{Algorithm, Isa};
use lanecrypt_engine::{Engine, Session};
use lanecrypt_peers::{Direction, Failed};

use self::carrier::{Carried, Carrier, Turn};
pub(crate) use self::carrier::{Watch, Watching};
use super::aeads::op;
use super::known::{self, AAD, Question};
use super::sessions::{self, SESSIONS, Turns, shuffle};
use super::{Shape, Sizes};
use crate::processors::{self, Pinned};
use crate::results::Point;
use crate::row::{Arena, Batches, Row, Workload};
use crate::verify::Defect;

mod carrier;

/// A queue of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// On the caller's thread.
    Local,
    /// With a worker, on a processor of its own.
    Worker,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Local, Self::Worker];

    /// Its name in the results.
    pub(crate) const fn api(self) -> &'static str {
        match self {
            Self::Local => "local-queue",
            Self::Worker => "worker-queue",
        }
    }

    /// The threads that it has beside the caller's.
    const fn helpers(self) -> usize {
        match self {
            Self::Local => 0,
            Self::Worker => 1,
        }
    }
}

/// Messages of one length, each with its own session, of which `depth` are in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) kind: Kind,
    pub(crate) algorithm: Algorithm,
    /// [`Direction::Encrypt`] if the algorithm authenticates: what was opened cannot be opened
    /// again.
    pub(crate) direction: Direction,
    /// Bytes of a message; a multiple of the algorithm's block.
    pub(crate) size: usize,
    /// At most [`SESSIONS`].
    pub(crate) depth: usize,
}

impl Plan {
    /// The row of `threads` clients, each with its own queue and sessions. The caller sets the
    /// point's id.
    pub(crate) fn row(self, table: &str, threads: u32) -> Row {
        let shape = Shape { batch: self.depth, ..Shape::single(self.size) };
        let point = Point {
            api: self.kind.api().into(),
            subject: self.algorithm.to_string(),
            batch: None,
            threads: Some(threads),
            ..shape.described(table, self.op()).of_ours(Isa::detect())
        };
        let (processors, clients) = (processors::allowed(), threads as usize);
        let batches = Batches { multiple: self.depth, ..Batches::default() };
        let row = Row::new(point, batches, move || Queued::new(self, &processors, clients));
        Row { helpers: self.kind.helpers(), ..row }
    }

    const fn op(self) -> &'static str {
        if self.algorithm.is_aead() { op(self.direction) } else { self.direction.name() }
    }

    /// Bytes of associated data before each message.
    const fn header(self) -> usize {
        if self.algorithm.is_aead() { AAD } else { 0 }
    }

    /// The buffer of a session: header, message, room for the tag.
    fn buffer(self, session: usize, header: &[u8]) -> Box<[u8]> {
        let mut buffer = header[..self.header()].to_vec();
        buffer.append(&mut sessions::data(session, self.size));
        buffer.resize(buffer.len() + self.algorithm.tag_length(), 0);
        buffer.into()
    }
}

/// A session of the engine for any algorithm.
pub(crate) fn session(engine: &Engine, algorithm: Algorithm, key: &[u8]) -> Option<Session> {
    let session = match algorithm.is_aead() {
        true => engine.session(algorithm, key),
        false => engine.raw_session(algorithm, key),
    };
    session.ok()
}

/// A queue with its sessions and their messages.
pub(crate) struct Queued {
    carrier: Box<dyn Carrier>,
    plan: Plan,
    turns: Turns,
    /// The buffer of each session, unless its message is in flight.
    buffers: Vec<Option<Box<[u8]>>>,
}

impl Queued {
    /// A queue for the calling thread, which is one of this many `clients` that are pinned to the
    /// first of `processors`. Workers go to those that follow.
    pub(crate) fn new(plan: Plan, processors: &[usize], clients: usize) -> Option<Self> {
        let turns = Turns::new(plan.algorithm, SESSIONS)?;
        let engine = Engine::new();
        let keys = turns.keys.iter();
        let sessions = keys.map(|key| session(&engine, plan.algorithm, key));
        let sessions: Vec<_> = sessions.collect::<Option<_>>()?;
        let carrier: Box<dyn Carrier> = match plan.kind {
            Kind::Local => Box::new(Carried::local(&engine, sessions, plan)?),
            Kind::Worker => {
                // The worker stays on the processor where it is made.
                let _there = Pinned::to(workers_processor(processors, clients)?);
                Box::new(Carried::worker(&engine, sessions, plan)?)
            }
        };
        Some(Self { carrier, plan, turns, buffers: buffers(plan) })
    }

    /// Makes this many requests.
    fn requests(&mut self, requests: usize) -> Result<(), Failed> {
        self.with_turns(|carrier, turns, depth| carrier.carry(turns, requests, depth))
    }

    /// The same; adds the cycles that each took, from handing it over to taking its completion.
    pub(crate) fn timed(&mut self, requests: usize, taken: &mut Vec<u64>) -> Result<(), Failed> {
        let mut watch = Watch::new(SESSIONS, taken);
        self.with_turns(|carrier, turns, depth| {
            carrier.carry_watched(turns, requests, depth, &mut watch)
        })
    }

    fn with_turns(
        &mut self,
        work: impl FnOnce(&mut dyn Carrier, &mut [Turn<'_>], usize) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let Self { carrier, plan, turns, buffers } = self;
        let in_order = turns.order.iter().map(|&session| {
            let (nonce, buffer) = (turns.nonces.get(session)?, buffers.get_mut(session)?.take());
            Some(Turn { session: carrier.session(session)?, nonce, buffer })
        });
        let mut in_order: Vec<Turn<'_>> = in_order.collect::<Option<_>>().ok_or(Failed)?;
        let done = work(carrier.as_mut(), &mut in_order, plan.depth);
        for (turn, &session) in in_order.into_iter().zip(&turns.order) {
            if let Some(place) = buffers.get_mut(session) {
                *place = turn.buffer;
            }
        }
        done
    }

    fn each_buffer(&self) -> impl Iterator<Item = &[u8]> {
        self.buffers.iter().map(|buffer| buffer.as_deref().unwrap_or_default())
    }

    /// Whether known questions get the portable kernel's answers.
    fn compare(&mut self) -> Result<bool, Failed> {
        self.turns.ask();
        shuffle(&mut self.turns.order, 1);
        self.buffers = buffers(self.plan);
        let Plan { algorithm, direction, size, .. } = self.plan;
        let question = Question::Messages(Sizes::one(size), SESSIONS);
        let answer = known::answer(algorithm, direction, question)?;
        self.requests(SESSIONS)?;
        let aads = known::aads(SESSIONS);
        let mut messages = answer.messages.chunks(size);
        let mut tags = answer.tags.iter();
        Ok(self.each_buffer().zip(&aads).all(|(buffer, aad)| {
            let (header, message) = (&aad[..self.plan.header()], messages.next());
            let tag = tags.next().map_or(&[][..], |tag| &tag[..]);
            buffer == [header, message.unwrap_or_default(), tag].concat()
        }))
    }

    pub(crate) fn checked(&mut self) -> Result<(), Defect> {
        match self.compare() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Defect::Answer),
            Err(Failed) => Err(Defect::Failed),
        }
    }
}

impl Workload for Queued {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        if let (Algorithm::NULL, Some(Some(first))) =
            (self.plan.algorithm, self.buffers.first_mut())
        {
            // The digest must change even if nothing is written.
            sessions::fill(self.turns.round, first);
        }
        // Every session once, so that the batch does not measure the cache contents of other rows.
        // It has other nonces than the batch: a keystream that comes an even number of times leaves
        // the data, and the digest, as they were.
        self.requests(SESSIONS)?;
        self.turns.next();
        Ok(())
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        if self.requests(requests).is_err() {
            panic!("{} failed in the middle of a measurement", self.plan.algorithm);
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        let each = self.each_buffer().map(sessions::digest);
        each.fold(0, |folded, digest| folded.rotate_left(7) ^ digest)
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.checked()
    }
}

/// The buffers of all sessions, as a known question has them.
fn buffers(plan: Plan) -> Vec<Option<Box<[u8]>>> {
    let aads = known::aads(SESSIONS);
    aads.iter().enumerate().map(|(session, aad)| Some(plan.buffer(session, aad))).collect()
}

/// The processor for the worker of the calling thread.
fn workers_processor(processors: &[usize], clients: usize) -> Option<usize> {
    let here = processors::allowed();
    let at = processors.iter().position(|cpu| here.first() == Some(cpu))?;
    processors.get(at + clients).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the processor that the thread may use first, as in a row.
    fn queued(plan: Plan) -> Option<Queued> {
        let processors = processors::allowed();
        let _pinned = Pinned::to(processors[0]);
        Queued::new(plan, &processors, 1)
    }

    #[test]
    fn answers_are_compared_and_every_request_is_timed() {
        for kind in Kind::ALL {
            let (algorithm, direction) = (Algorithm::AES_128_CBC, Direction::Encrypt);
            let plan = Plan { kind, algorithm, direction, size: 64, depth: 8 };
            let Some(mut queued) = queued(plan) else {
                eprintln!("SKIPPED {}: it needs two processors", kind.api());
                continue;
            };
            assert_eq!(queued.checked(), Ok(()));
            let mut taken = Vec::new();
            queued.timed(3 * SESSIONS + 5, &mut taken).expect("nothing fails");
            assert_eq!(taken.len(), 3 * SESSIONS + 5);
            assert!(queued.buffers.iter().all(Option::is_some), "nothing is in flight");
            // The queue encrypts; the answers of decryption are others.
            queued.plan.direction = Direction::Decrypt;
            assert_eq!(queued.checked(), Err(Defect::Answer));
            // No whole block.
            queued.plan.size = 63;
            assert_eq!(queued.checked(), Err(Defect::Failed));
        }
    }

    #[test]
    fn every_batch_changes_the_digest() {
        let (algorithm, direction) = (Algorithm::CHACHA20_IETF, Direction::Encrypt);
        let plan = Plan { kind: Kind::Local, algorithm, direction, size: 64, depth: SESSIONS };
        let (mut queued, mut arena) = (queued(plan).expect("it needs one processor"), Arena::new());
        let mut digests = vec![queued.digest(&mut arena)];
        for laps in [1, 2, 2, 4, 3, 1, 1] {
            queued.begin(&mut arena).expect("it begins");
            queued.run(&mut arena, SESSIONS);
            queued.run(&mut arena, laps * SESSIONS);
            let digest = queued.digest(&mut arena);
            assert!(!digests.contains(&digest), "{laps} laps");
            digests.push(digest);
        }
    }
}
