//! Messages that a daemon serves, as a row repeats them: one blocked call after another, or many in
//! flight.
//!
//! Known questions are compared with the portable kernel before and after a row is timed; packets
//! with a changed bit must be refused. Each batch has other nonces and another order.

use std::sync::{Arc, Mutex, PoisonError};

use lanecrypt_ciphers::{Algorithm, Isa};
use lanecrypt_device::{Completion, Error, Message, Rejected, Session};
use lanecrypt_engine::Operation;
use lanecrypt_peers::{Direction, Failed};

use super::link::Link;
use crate::ciphers::known::{self, AAD, Question};
use crate::ciphers::sessions::{self, SESSIONS, Turns, shuffle};
use crate::ciphers::{Sizes, Watch, Watching};
use crate::row::{Arena, Workload};
use crate::verify::Defect;

/// Messages of one length, of which `depth` are in flight; one is a blocked call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) algorithm: Algorithm,
    pub(super) direction: Direction,
    /// Bytes of a message; a multiple of the algorithm's block.
    pub(super) size: usize,
    pub(super) depth: usize,
}

impl Plan {
    /// Each message in flight has its own session.
    fn sessions(self) -> usize {
        self.depth.max(SESSIONS)
    }

    fn operation(self) -> Operation {
        match (self.direction, self.algorithm.is_aead()) {
            (Direction::Encrypt, false) => Operation::Encrypt,
            (Direction::Decrypt, false) => Operation::Decrypt,
            (Direction::Encrypt, true) => Operation::Seal,
            (Direction::Decrypt, true) => Operation::Open,
        }
    }

    /// Bytes of associated data before each message.
    fn header(self) -> usize {
        if self.algorithm.is_aead() { AAD } else { 0 }
    }
}

/// Messages to a daemon.
pub(super) struct Messages {
    link: Arc<Mutex<Link>>,
    plan: Plan,
    sessions: Vec<Session>,
    turns: Turns,
    aads: Vec<Vec<u8>>,
    /// The buffer of each session, unless its message is in flight: header, message, tag.
    buffers: Vec<Option<Box<[u8]>>>,
    /// The packets to open, as they were sealed; none if nothing is opened.
    sealed: Vec<Vec<u8>>,
    /// Whose turn is next.
    next: usize,
}

impl Messages {
    pub(super) fn new(link: &Arc<Mutex<Link>>, plan: Plan) -> Option<Self> {
        let count = plan.sessions();
        let turns = Turns::new(plan.algorithm, count)?;
        let sessions = {
            let mut link = link.lock().unwrap_or_else(PoisonError::into_inner);
            link.sessions(plan.algorithm, &turns.keys)?
        };
        let (link, aads) = (link.clone(), known::aads(count));
        let (buffers, sealed) = (Vec::new(), Vec::new());
        Some(Self { link, plan, sessions, turns, aads, buffers, sealed, next: 0 })
    }

    /// Makes this many requests; none is in flight afterwards.
    fn requests(&mut self, requests: usize, watch: &mut impl Watching) -> Result<(), Failed> {
        let link = self.link.clone();
        let mut link = link.lock().unwrap_or_else(PoisonError::into_inner);
        match self.plan.depth {
            1 => self.blocked(&mut link, requests, watch),
            _ => self.flow(&mut link, requests, watch),
        }
    }

    /// The same; adds the cycles that each took, from handing it over to taking its answer.
    pub(super) fn timed(&mut self, requests: usize, taken: &mut Vec<u64>) -> Result<(), Failed> {
        let mut watch = Watch::new(self.plan.sessions(), taken);
        self.requests(requests, &mut watch)
    }

    fn blocked(
        &mut self,
        link: &mut Link,
        requests: usize,
        watch: &mut impl Watching,
    ) -> Result<(), Failed> {
        for _ in 0..requests {
            let at = self.turn().ok_or(Failed)?;
            watch.given(at);
            self.call(link, at).or(Err(Failed))?;
            watch.done(at);
        }
        Ok(())
    }

    /// One call for the message of a session.
    #[inline]
    fn call(&mut self, link: &mut Link, at: usize) -> Result<(), Error> {
        let Self { plan, sessions, turns, buffers, sealed, .. } = self;
        let (Some(&session), Some(nonce)) = (sessions.get(at), turns.nonces.get(at)) else {
            return Err(Error::UnknownSession);
        };
        let buffer = buffers.get_mut(at).and_then(Option::as_deref_mut);
        let buffer = buffer.ok_or(Error::UnknownSession)?;
        if let Some(sealed) = sealed.get(at) {
            buffer.copy_from_slice(sealed);
        }
        let (aad, packet) = buffer.split_at_mut(plan.header());
        match plan.operation() {
            Operation::Encrypt => link.client.encrypt(session, nonce, packet),
            Operation::Decrypt => link.client.decrypt(session, nonce, packet),
            Operation::Seal => link.client.seal(session, nonce, aad, packet),
            _ => link.client.open(session, nonce, aad, packet).map(|_| ()),
        }
    }

    #[inline]
    fn flow(
        &mut self,
        link: &mut Link,
        requests: usize,
        watch: &mut impl Watching,
    ) -> Result<(), Failed> {
        let Plan { depth, .. } = self.plan;
        let (operation, header) = (self.plan.operation(), self.plan.header());
        let (mut given, mut done) = (0, 0);
        while done < requests {
            while given < requests && given - done < depth {
                let Some(at) = self.turn() else { break };
                let Self { sessions, turns, buffers, sealed, .. } = &mut *self;
                let (Some(&session), Some(nonce)) = (sessions.get(at), turns.nonces.get(at)) else {
                    return Err(Failed);
                };
                let mut buffer = buffers.get_mut(at).and_then(Option::take).ok_or(Failed)?;
                if let Some(sealed) = sealed.get(at) {
                    buffer.copy_from_slice(sealed);
                }
                watch.given(at);
                let message = Message::new(session, operation, &nonce[..], buffer);
                let message = message.with_header(header).with_user(at as u64);
                match link.client.submit(message) {
                    Ok(_) => given += 1,
                    // There is room for all of them: a daemon that grants less is not measured.
                    Err(Rejected { .. }) => return Err(Failed),
                }
            }
            let mut completion = link.client.wait().or(Err(Failed))?;
            while let Some(Completion { buffer, user, outcome, .. }) = completion {
                let at = usize::try_from(user).or(Err(Failed))?;
                watch.done(at);
                outcome.or(Err(Failed))?;
                *self.buffers.get_mut(at).ok_or(Failed)? = Some(buffer);
                done += 1;
                completion = link.client.poll().or(Err(Failed))?;
            }
        }
        Ok(())
    }

    /// The next session whose message is not in flight.
    #[inline]
    fn turn(&mut self) -> Option<usize> {
        let at = *self.turns.order.get(self.next)?;
        if self.buffers.get(at)?.is_none() {
            return None;
        }
        self.next = if self.next + 1 < self.turns.order.len() { self.next + 1 } else { 0 };
        Some(at)
    }

    /// Sets the buffers of a known question, or of a new batch.
    fn fill_buffers(&mut self) {
        let Plan { algorithm, size, .. } = self.plan;
        let buffers = self.aads.iter().enumerate().map(|(session, aad)| {
            let mut buffer = aad[..self.plan.header()].to_vec();
            buffer.append(&mut sessions::data(session, size));
            buffer.resize(buffer.len() + algorithm.tag_length(), 0);
            Some(buffer.into_boxed_slice())
        });
        self.buffers = buffers.collect();
        self.next = 0;
    }

    /// Seals the packets to open, with content that depends on `round`.
    fn seal(&mut self, round: u64) -> Result<(), Failed> {
        let Plan { algorithm, size, .. } = self.plan;
        let Turns { keys, nonces, .. } = &self.turns;
        let packets = self.aads.iter().zip(keys.iter().zip(nonces)).enumerate();
        let sealed = packets.map(|(session, (aad, (key, nonce)))| {
            let mut data = sessions::data(session, size);
            if round > 0 {
                // The opened data are in the digest, so they must change.
                let end = data.len().min(8);
                sessions::fill((session as u64) << 40 | round, &mut data[..end]);
            }
            let tag = known::seal(algorithm, Isa::detect(), key, nonce, aad, &mut data)?;
            Ok([&aad[..], &data[..], &tag[..]].concat())
        });
        self.sealed = sealed.collect::<Result<_, Failed>>()?;
        Ok(())
    }

    /// Known questions get the portable kernel's answers, and forged packets are refused.
    pub(super) fn checked(&mut self) -> Result<(), Defect> {
        let Plan { algorithm, direction, size, .. } = self.plan;
        let (opens, count) = (self.plan.operation() == Operation::Open, self.plan.sessions());
        self.turns.ask();
        shuffle(&mut self.turns.order, 1);
        self.fill_buffers();
        let question = Question::Messages(Sizes::one(size), count);
        let asked = if opens { Direction::Encrypt } else { direction };
        let answer = known::answer(algorithm, asked, question)?;
        let packets = |at: usize| {
            let header = &self.aads[at][..self.plan.header()];
            let message = answer.messages.get(at * size..(at + 1) * size).unwrap_or_default();
            let tag = answer.tags.get(at).map_or(&[][..], |tag| &tag[..]);
            [header, message, tag].concat()
        };
        let packets: Vec<Vec<u8>> = (0..count).map(packets).collect();
        if opens {
            self.sealed.clone_from(&packets);
            self.refuses()?;
        }
        self.requests(count, &mut ())?;
        let header = self.plan.header();
        let is_right =
            self.buffers.iter().zip(&packets).enumerate().all(|(at, (buffer, packet))| {
                let buffer = buffer.as_deref().unwrap_or_default();
                match opens {
                    true => {
                        buffer.get(header..header + size) == Some(&sessions::data(at, size)[..])
                    }
                    false => buffer == &packet[..],
                }
            });
        if is_right { Ok(()) } else { Err(Defect::Answer) }
    }

    /// Whether packets are refused that have another bit in the header, the message or the tag.
    fn refuses(&mut self) -> Result<(), Defect> {
        let link = self.link.clone();
        let mut link = link.lock().unwrap_or_else(PoisonError::into_inner);
        let length = self.sealed.first().map_or(0, Vec::len);
        for (at, place) in [(0, 0), (1, AAD), (2, length / 2), (3, length - 16), (4, length - 1)] {
            self.sealed[at][place] ^= 1 << at;
            let forged = self.call(&mut link, at);
            self.sealed[at][place] ^= 1 << at;
            match forged {
                Err(Error::Refused(_)) => {}
                Ok(()) => return Err(Defect::Forgery),
                Err(_) => return Err(Defect::Failed),
            }
        }
        Ok(())
    }

    /// Gets ready for a batch, and makes some requests.
    pub(super) fn ready(&mut self) -> Result<(), Defect> {
        self.turns.next();
        let round = self.turns.round;
        if self.plan.operation() == Operation::Open {
            self.seal(round)?;
        }
        if let Some(Some(first)) = self.buffers.first_mut() {
            // The digest must change even if nothing is written, or if what one request has written
            // the next undoes, as with a keystream.
            sessions::fill(round, first);
        }
        self.link.lock().unwrap_or_else(PoisonError::into_inner).wake()?;
        Ok(self.requests(self.plan.depth.max(8), &mut ())?)
    }
}

impl Workload for Messages {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.ready()
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        if self.requests(requests, &mut ()).is_err() {
            panic!("{} failed in the middle of a measurement", self.plan.algorithm);
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        let each = self.buffers.iter().map(|buffer| buffer.as_deref().unwrap_or_default());
        each.map(sessions::digest).fold(0, |folded, digest| folded.rotate_left(7) ^ digest)
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.checked()
    }
}
