//! The engine as programs call it: sessions message by message, slices of requests, and batches that
//! serve while they are filled.

use core::hint::black_box;

use arrayvec::ArrayVec;
use lanecrypt_ciphers::{Algorithm, Error, Isa};
use lanecrypt_engine::{Batch, Engine, Request, Room, Session};
use lanecrypt_peers::{Direction, Failed, Message, Packet, rounds};

mod messages;
mod packets;

/// The most requests of a batch.
const MOST: usize = 512;

/// How messages are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To their sessions, one by one.
    Alone,
    /// To `process`, as a slice of requests.
    Process,
    /// To a batch, which serves while it is filled.
    Filled,
}

/// Sessions of one algorithm in one direction.
pub(crate) struct Served {
    engine: Engine,
    /// For batches that are filled, of `room_for` messages; kept from one to the next.
    room: Room,
    room_for: usize,
    sessions: Vec<Session>,
    /// Those of a batch whose messages bring their keys.
    fresh: Vec<Session>,
    algorithm: Algorithm,
    direction: Direction,
    way: Way,
}

impl Served {
    /// A session for each key; one at least.
    pub(crate) fn new(
        algorithm: Algorithm,
        isa: Isa,
        direction: Direction,
        keys: &[&[u8]],
        way: Way,
    ) -> Option<Self> {
        let engine = Engine::with_isa(isa);
        let keyed = |key: &&[u8]| opened(&engine, algorithm, key).ok();
        let sessions: Vec<Session> = keys.iter().map(keyed).collect::<Option<_>>()?;
        if sessions.is_empty() {
            return None;
        }
        let (fresh, room) = (Vec::with_capacity(MOST), engine.room(1));
        Some(Self { engine, room, room_for: 1, sessions, fresh, algorithm, direction, way })
    }

    /// One call for each message, from the first again as often as needed.
    #[inline]
    fn each<M: Addressed>(
        &self,
        messages: &mut [M],
        requests: usize,
        mut call: impl FnMut(&Session, &mut M) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let sessions = self.sessions.as_slice();
        rounds(messages.len(), requests, |count| {
            for message in &mut messages[..count] {
                call(sessions.get(message.session()).ok_or(Failed)?, message)?;
            }
            Ok(())
        })
    }

    /// The same with a session opened for each message.
    #[inline]
    fn each_rekeyed<M>(
        &self,
        messages: &mut [M],
        keys: &[&[u8]],
        requests: usize,
        mut call: impl FnMut(&Session, &mut M) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let mut keys = keys.iter().cycle();
        rounds(messages.len(), requests, |count| {
            for message in &mut messages[..count] {
                let key = keys.next().ok_or(Failed)?;
                call(&opened(&self.engine, self.algorithm, key)?, message)?;
            }
            Ok(())
        })
    }

    /// A request for each message, handed over `batch` at a time. Making them is a part of it: so
    /// do programs.
    #[inline]
    fn processed<M: Addressed>(
        &self,
        messages: &mut [M],
        batch: usize,
        requests: usize,
        request: impl for<'a> Fn(&'a Session, &'a mut M) -> Result<Request<'a>, Failed>,
    ) -> Result<(), Failed> {
        let batch = good(batch)?;
        let sessions = self.sessions.as_slice();
        rounds(messages.len(), requests, |count| {
            for part in messages[..count].chunks_mut(batch) {
                let mut together = ArrayVec::<Request<'_>, MOST>::new();
                for message in part {
                    let session = sessions.get(message.session()).ok_or(Failed)?;
                    together.push(request(session, message)?);
                }
                self.engine.process(&mut together).or(Err(Failed))?;
            }
            Ok(())
        })
    }

    /// The same with a session opened for each message.
    #[inline]
    fn processed_rekeyed<M>(
        &mut self,
        messages: &mut [M],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
        request: impl for<'a> Fn(&'a Session, &'a mut M) -> Result<Request<'a>, Failed>,
    ) -> Result<(), Failed> {
        let batch = good(batch)?;
        let mut keys = keys.iter().cycle();
        rounds(messages.len(), requests, |count| {
            for part in messages[..count].chunks_mut(batch) {
                self.fresh.clear();
                for _ in 0..part.len() {
                    let key = keys.next().ok_or(Failed)?;
                    self.fresh.push(opened(&self.engine, self.algorithm, key)?);
                }
                let mut together = ArrayVec::<Request<'_>, MOST>::new();
                for (session, message) in self.fresh.iter().zip(part) {
                    together.push(request(session, message)?);
                }
                self.engine.process(&mut together).or(Err(Failed))?;
            }
            Ok(())
        })
    }

    /// Batches of `batch` messages, which are filled and finished.
    #[inline]
    fn filled<M: Addressed>(
        &mut self,
        messages: &mut [M],
        batch: usize,
        requests: usize,
        give: impl for<'a> Fn(&mut Batch<'_, 'a>, &'a Session, &'a mut M) -> Option<Result<(), Error>>,
    ) -> Result<(), Failed> {
        self.make_room(batch)?;
        let Self { room, sessions, .. } = self;
        rounds(messages.len(), requests, |count| {
            for part in messages[..count].chunks_mut(batch) {
                let mut together = room.batch();
                for message in part {
                    let session = sessions.get(message.session()).ok_or(Failed)?;
                    give(&mut together, session, message);
                }
                together.finish().or(Err(Failed))?;
            }
            Ok(())
        })
    }

    /// The same with a session opened for each message.
    #[inline]
    fn filled_rekeyed<M>(
        &mut self,
        messages: &mut [M],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
        give: impl for<'a> Fn(&mut Batch<'_, 'a>, &'a Session, &'a mut M) -> Option<Result<(), Error>>,
    ) -> Result<(), Failed> {
        self.make_room(batch)?;
        let Self { engine, room, fresh, algorithm, .. } = self;
        let mut keys = keys.iter().cycle();
        rounds(messages.len(), requests, |count| {
            for part in messages[..count].chunks_mut(batch) {
                fresh.clear();
                for _ in 0..part.len() {
                    fresh.push(opened(engine, *algorithm, keys.next().ok_or(Failed)?)?);
                }
                let mut together = room.batch();
                for (session, message) in fresh.iter().zip(part) {
                    give(&mut together, session, message);
                }
                together.finish().or(Err(Failed))?;
            }
            Ok(())
        })
    }

    /// Room for batches of so many messages, made anew only if it was for others.
    #[inline]
    fn make_room(&mut self, batch: usize) -> Result<(), Failed> {
        if good(batch)? != self.room_for {
            self.room = self.engine.room(batch);
            self.room_for = batch;
        }
        Ok(())
    }
}

/// A batch that there is room for.
fn good(batch: usize) -> Result<usize, Failed> {
    if (1..=MOST).contains(&batch) { Ok(batch) } else { Err(Failed) }
}

#[inline]
fn opened(engine: &Engine, algorithm: Algorithm, key: &[u8]) -> Result<Session, Failed> {
    let key = black_box(key);
    answered(match algorithm.is_aead() {
        true => engine.open(algorithm, key),
        false => engine.open_hazmat(algorithm, key),
    })
}

#[inline]
fn answered<T>(result: Result<T, Error>) -> Result<T, Failed> {
    result.or(Err(Failed))
}

/// What belongs to a session, counted from zero.
trait Addressed {
    fn session(&self) -> usize;
}

impl Addressed for Message<'_> {
    #[inline]
    fn session(&self) -> usize {
        self.session
    }
}

impl Addressed for Packet<'_> {
    #[inline]
    fn session(&self) -> usize {
        self.session
    }
}
