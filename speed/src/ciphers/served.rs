//! The engine as programs call it: sessions message by message, slices of requests, and batches
//! that are served while they are filled.

use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};

use arrayvec::ArrayVec;
use lanecrypt_ciphers::{Algorithm, Error, Isa};
use lanecrypt_engine::{Batch, BatchBuffer, Engine, Request, Session};
use lanecrypt_peers::{Addressed, Direction, Failed, Run, rounds};

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
    /// To a batch, which is served while it is filled.
    Filled,
}

/// Sessions of one algorithm in one direction.
pub(crate) struct Served {
    engine: Engine,
    /// For batches that are filled, of `room_for` messages; reused from one to the next.
    buffer: BatchBuffer,
    room_for: usize,
    sessions: Vec<Session>,
    /// The sessions of a batch whose messages bring their keys.
    fresh: Vec<Session>,
    algorithm: Algorithm,
    direction: Direction,
    way: Way,
}

static KEEPS_BUILT_IN_LANES: AtomicBool = AtomicBool::new(false);

/// From now on no engine measures its lanes, so that each run has the same ones.
pub(crate) fn keep_built_in_lanes() {
    KEEPS_BUILT_IN_LANES.store(true, Ordering::Relaxed);
}

impl Served {
    /// A session for each key; at least one.
    pub(crate) fn new(
        algorithm: Algorithm,
        isa: Isa,
        direction: Direction,
        keys: &[&[u8]],
        way: Way,
    ) -> Option<Self> {
        let engine = Engine::with_isa(isa);
        let engine = match KEEPS_BUILT_IN_LANES.load(Ordering::Relaxed) {
            true => engine.with_built_in_lanes(),
            false => engine,
        };
        let keyed = |key: &&[u8]| opened(&engine, algorithm, key).ok();
        let sessions: Vec<Session> = keys.iter().map(keyed).collect::<Option<_>>()?;
        if sessions.is_empty() {
            return None;
        }
        let (fresh, buffer) = (Vec::with_capacity(MOST), engine.batch_buffer(1));
        Some(Self { engine, buffer, room_for: 1, sessions, fresh, algorithm, direction, way })
    }

    /// Runs messages by one of three calls: serve one, make a request of one, or add one to a
    /// batch.
    #[inline]
    fn run<M: Addressed>(
        &mut self,
        messages: &mut [M],
        run: Run<'_>,
        serve: impl Fn(&Session, &mut M) -> Result<(), Failed>,
        request: impl for<'a> Fn(&'a Session, &'a mut M) -> Result<Request<'a>, Failed>,
        give: impl for<'a> Fn(&mut Batch<'_, 'a>, &'a Session, &'a mut M) -> Option<Result<(), Error>>,
    ) -> Result<(), Failed> {
        match self.way {
            Way::Alone => self.alone(messages, run, serve),
            Way::Process => self.processed(messages, run, request),
            Way::Filled => self.filled(messages, run, give),
        }
    }

    /// One call for each message; a message that brings its key gets a new session.
    #[inline]
    fn alone<M: Addressed>(
        &self,
        messages: &mut [M],
        run: Run<'_>,
        serve: impl Fn(&Session, &mut M) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let sessions = self.sessions.as_slice();
        let Some(keys) = run.keys else {
            return rounds(messages.len(), run.requests, |count| {
                for message in &mut messages[..count] {
                    serve(sessions.get(message.session()).ok_or(Failed)?, message)?;
                }
                Ok(())
            });
        };
        let mut keys = keys.iter().cycle();
        rounds(messages.len(), run.requests, |count| {
            for message in &mut messages[..count] {
                let key = keys.next().ok_or(Failed)?;
                serve(&opened(&self.engine, self.algorithm, key)?, message)?;
            }
            Ok(())
        })
    }

    /// A request for each message, handed over a batch at a time. The time includes making the
    /// requests, as in a program.
    #[inline]
    fn processed<M: Addressed>(
        &mut self,
        messages: &mut [M],
        run: Run<'_>,
        request: impl for<'a> Fn(&'a Session, &'a mut M) -> Result<Request<'a>, Failed>,
    ) -> Result<(), Failed> {
        let batch = good(run.batch)?;
        let Self { engine, sessions, fresh, algorithm, .. } = self;
        let mut keys = run.keys.map(|keys| keys.iter().cycle());
        rounds(messages.len(), run.requests, |count| {
            messages[..count].chunks_mut(batch).try_for_each(|part| {
                let Some(keys) = &mut keys else {
                    let sessions = sessions.as_slice();
                    let session = |_, message: &M| sessions.get(message.session());
                    return process(engine, part, session, &request);
                };
                renew(fresh, engine, *algorithm, keys, part.len())?;
                process(engine, part, |place, _: &M| fresh.get(place), &request)
            })
        })
    }

    /// Batches that are filled and finished.
    #[inline]
    fn filled<M: Addressed>(
        &mut self,
        messages: &mut [M],
        run: Run<'_>,
        give: impl for<'a> Fn(&mut Batch<'_, 'a>, &'a Session, &'a mut M) -> Option<Result<(), Error>>,
    ) -> Result<(), Failed> {
        let batch = good(run.batch)?;
        self.make_room(batch);
        let Self { engine, buffer, sessions, fresh, algorithm, .. } = self;
        let mut keys = run.keys.map(|keys| keys.iter().cycle());
        rounds(messages.len(), run.requests, |count| {
            messages[..count].chunks_mut(batch).try_for_each(|part| {
                let Some(keys) = &mut keys else {
                    let sessions = sessions.as_slice();
                    let session = |_, message: &M| sessions.get(message.session());
                    return fill(buffer, part, session, &give);
                };
                renew(fresh, engine, *algorithm, keys, part.len())?;
                fill(buffer, part, |place, _: &M| fresh.get(place), &give)
            })
        })
    }

    /// A room for batches of this many messages, made anew only if the number has changed.
    #[inline]
    fn make_room(&mut self, batch: usize) {
        if batch != self.room_for {
            self.buffer = self.engine.batch_buffer(batch);
            self.room_for = batch;
        }
    }
}

/// Makes requests of messages in the sessions that `session` finds by their positions, and hands
/// them over.
#[inline]
fn process<'s, M>(
    engine: &Engine,
    messages: &mut [M],
    session: impl Fn(usize, &M) -> Option<&'s Session>,
    request: impl for<'a> Fn(&'a Session, &'a mut M) -> Result<Request<'a>, Failed>,
) -> Result<(), Failed> {
    let mut together = ArrayVec::<Request<'_>, MOST>::new();
    for (place, message) in messages.iter_mut().enumerate() {
        together.push(request(session(place, message).ok_or(Failed)?, message)?);
    }
    engine.process(&mut together).or(Err(Failed))
}

/// Adds messages to a batch, and finishes it.
#[inline]
fn fill<'s, M>(
    buffer: &mut BatchBuffer,
    messages: &mut [M],
    session: impl Fn(usize, &M) -> Option<&'s Session>,
    give: impl for<'a> Fn(&mut Batch<'_, 'a>, &'a Session, &'a mut M) -> Option<Result<(), Error>>,
) -> Result<(), Failed> {
    let mut together = buffer.batch();
    for (place, message) in messages.iter_mut().enumerate() {
        give(&mut together, session(place, message).ok_or(Failed)?, message);
    }
    together.finish().or(Err(Failed))
}

/// The size of a batch, if it is supported; 1 if none is given.
fn good(batch: Option<usize>) -> Result<usize, Failed> {
    batch.map_or(Some(1), |batch| (1..=MOST).contains(&batch).then_some(batch)).ok_or(Failed)
}

/// Opens the sessions of a batch whose messages bring their keys.
#[inline]
fn renew<'k>(
    fresh: &mut Vec<Session>,
    engine: &Engine,
    algorithm: Algorithm,
    keys: &mut impl Iterator<Item = &'k &'k [u8]>,
    count: usize,
) -> Result<(), Failed> {
    fresh.clear();
    for _ in 0..count {
        fresh.push(opened(engine, algorithm, keys.next().ok_or(Failed)?)?);
    }
    Ok(())
}

#[inline]
fn opened(engine: &Engine, algorithm: Algorithm, key: &[u8]) -> Result<Session, Failed> {
    let key = black_box(key);
    answered(match algorithm.is_aead() {
        true => engine.session(algorithm, key),
        false => engine.raw_session(algorithm, key),
    })
}

#[inline]
fn answered<T>(result: Result<T, Error>) -> Result<T, Failed> {
    result.or(Err(Failed))
}
