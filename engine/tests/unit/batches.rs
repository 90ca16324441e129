//! Batches of every kind give the same results as their requests one by one.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use lanecrypt_ciphers::lanes::Lengths;

use super::*;
use crate::class::Class;
use crate::drivers::serve_class;
use crate::session::job::AsJobs as _;
use crate::session::members::Members;

/// Lengths around where lanes begin and end.
const LENGTHS: [usize; 8] = [0, 16, 64, 80, 128, 256, 400, 1024];

/// A message, the operation on it, and its outcome.
#[derive(Clone, PartialEq, Debug)]
struct Message {
    session: usize,
    operation: Operation,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    data: Vec<u8>,
    tag: Vec<u8>,
}

impl Message {
    /// A message of a session, sealed beforehand if it is to be opened. Every seventh has some
    /// error.
    fn new(sessions: &[Session], session: usize, at: usize) -> Self {
        let algorithm = sessions[session].algorithm().expect("a cipher");
        let length = LENGTHS[at % LENGTHS.len()];
        let operation = match (algorithm.is_aead(), at / 3 % 2) {
            (false, 0) => Operation::Encrypt,
            (false, _) => Operation::Decrypt,
            (true, 0) => Operation::Seal,
            (true, _) => Operation::Open,
        };
        let fill = |length: usize, step: usize| -> Vec<u8> {
            (0..length).map(|byte| (at * 31 + byte * step).to_le_bytes()[0]).collect()
        };
        let mut message = Self {
            session,
            operation,
            nonce: fill(algorithm.nonce_length(), 3),
            aad: fill(at % 20, 5),
            data: fill(length, 7),
            tag: vec![0; sessions[session].tag_length()],
        };
        if operation == Operation::Open {
            let Self { nonce, aad, data, tag, .. } = &mut message;
            sessions[session].seal_detached(nonce, aad, &mut data[..], tag).expect("it is right");
        }
        if at % 7 == 3 {
            match at / 7 % 4 {
                0 => message.nonce.push(0),
                1 => message.data.push(0),
                2 => message.tag.push(0),
                _ => message.tag.iter_mut().for_each(|byte| *byte ^= 1),
            }
        }
        message
    }

    fn request<'a>(&'a mut self, sessions: &'a [Session]) -> Request<'a> {
        let Self { session, operation, nonce, aad, data, tag } = self;
        let session = &sessions[*session];
        match operation {
            Operation::Encrypt => Request::encrypt(session, nonce, &mut data[..]),
            Operation::Decrypt => Request::decrypt(session, nonce, &mut data[..]),
            Operation::Seal => Request::seal_detached(session, nonce, aad, &mut data[..], tag),
            _ => Request::open_detached(session, nonce, aad, &mut data[..], tag),
        }
    }

    fn give<'a>(
        &'a mut self,
        sessions: &'a [Session],
        batch: &mut Batch<'_, 'a>,
    ) -> Option<Result<(), Error>> {
        let Self { session, operation, nonce, aad, data, tag } = self;
        let session = &sessions[*session];
        match operation {
            Operation::Encrypt => batch.encrypt(session, nonce, &mut data[..]),
            Operation::Decrypt => batch.decrypt(session, nonce, &mut data[..]),
            Operation::Seal => batch.seal_detached(session, nonce, aad, &mut data[..], tag),
            _ => batch.open_detached(session, nonce, aad, &mut data[..], tag),
        }
    }

    fn alone(&mut self, sessions: &[Session]) -> Result<(), Error> {
        let Self { session, operation, nonce, aad, data, tag } = self;
        let session = &sessions[*session];
        match operation {
            Operation::Encrypt => session.encrypt(nonce, &mut data[..]),
            Operation::Decrypt => session.decrypt(nonce, &mut data[..]),
            Operation::Seal => session.seal_detached(nonce, aad, &mut data[..], tag),
            _ => session.open_detached(nonce, aad, &mut data[..], tag),
        }
    }
}

/// One session of each algorithm that has sessions, and more of those that have lanes.
fn sessions(engine: &Engine) -> Vec<Session> {
    let lanes = [Algorithm::AES_128_CBC, Algorithm::CHACHA20_IETF, Algorithm::CHACHA20_POLY1305];
    let algorithms = Algorithm::ALL.iter().chain(lanes.iter().cycle().take(60));
    let session = |(at, algorithm): (usize, &Algorithm)| {
        let longest = algorithm.key_lengths().longest();
        let key: Vec<u8> = (0..longest).map(|byte| (at + byte * 11).to_le_bytes()[0]).collect();
        engine.session_on("software", *algorithm, &key).ok()
    };
    algorithms.enumerate().filter_map(session).collect()
}

/// Serves messages as a batch, in both ways, and one by one, and compares the results.
#[track_caller]
fn compare(engine: &Engine, sessions: &[Session], messages: &[Message], buffer: &mut BatchBuffer) {
    let mut single = messages.to_vec();
    let expected: Vec<_> = single.iter_mut().map(|message| message.alone(sessions)).collect();
    let failed = expected.iter().filter(|outcome| outcome.is_err()).count();
    let answer = |served: Result<(), BatchError>| served.map_err(|error| error.failed);
    let right = if failed == 0 { Ok(()) } else { Err(failed) };

    let mut slice = messages.to_vec();
    let mut requests: Vec<_> = slice.iter_mut().map(|message| message.request(sessions)).collect();
    let processed = engine.process(&mut requests);
    for (at, (request, expected)) in requests.iter().zip(&expected).enumerate() {
        assert_eq!(request.outcome(), Some(*expected), "{at}: {request:?}");
    }
    assert_eq!(answer(processed), right);
    // A second call does nothing.
    assert_eq!(engine.process(&mut requests), processed);
    drop(requests);

    let mut filled = messages.to_vec();
    let mut batch = buffer.batch();
    for (at, (message, expected)) in filled.iter_mut().zip(&expected).enumerate() {
        let at_once = message.give(sessions, &mut batch);
        assert!(at_once.is_none_or(|outcome| outcome == *expected), "{at}");
    }
    assert_eq!(answer(batch.finish()), right);
    assert!(buffer.outcomes().eq(expected.iter().map(|outcome| Some(*outcome))));

    for batch in [slice, filled] {
        for (at, (batch, single)) in batch.iter().zip(&single).enumerate() {
            assert!(batch == single, "{at}: {:?} {:?}", sessions[single.session], single.operation);
        }
    }
}

/// Each batch after every other, and so with all expectations that a buffer can have.
#[test]
fn a_batch_is_what_its_requests_are_one_by_one() {
    let engine = Engine::new();
    let sessions = sessions(&engine);
    let mut buffer = engine.batch_buffer(64);
    for count in [0, 1, 2, 3, 4, 5, 16, 64, 1, 255, 2, 256, 257, 600, 1, 64] {
        // All mixed, and each session's algorithm by itself.
        let mixed = |at: usize| Message::new(&sessions, at * 13 % sessions.len(), at);
        compare(&engine, &sessions, &(0..count).map(mixed).collect::<Vec<_>>(), &mut buffer);
    }
    for session in 0..Algorithm::ALL.len().min(sessions.len()) {
        for count in [1, 70, 2, 260, 5] {
            let same = |at| Message::new(&sessions, session, at);
            compare(&engine, &sessions, &(0..count).map(same).collect::<Vec<_>>(), &mut buffer);
        }
    }
}

/// The results do not depend on the lanes. A buffer follows them when they change.
#[test]
fn a_calibrated_engine_answers_the_same() {
    let mut engine = Engine::new().with_built_in_lanes();
    let sessions = sessions(&engine);
    let source =
        |engine: &Engine| engine.lanes().source(Algorithm::CHACHA20_POLY1305, Operation::Seal);
    assert_eq!(source(&engine), Some(LaneSource::BuiltIn));
    let mut built_in = engine.batch_buffer(64);
    let mut measured = Engine::new().batch_buffer(64);
    engine.calibrate();
    let mixed = |at: usize| Message::new(&sessions, at * 13 % sessions.len(), at);
    for buffer in [&mut built_in, &mut measured, &mut engine.batch_buffer(64)] {
        compare(&engine, &sessions, &(0..300).map(mixed).collect::<Vec<_>>(), buffer);
    }
}

/// A request that has an outcome is not served, wherever it is in the batch, and counts if it has
/// failed.
#[test]
fn what_is_settled_stays_as_it_is() {
    let adding = Arc::new(Adding::default());
    let engine = Engine::new().with_driver(adding).expect("a free name");
    let mut all = sessions(&engine);
    let of_algorithm = |algorithm| {
        let of_it = |session: &Session| session.algorithm().expect("a cipher") == algorithm;
        all.iter().position(of_it).expect("every algorithm has a session")
    };
    let [gcm, cbc] = [Algorithm::AES_128_GCM, Algorithm::AES_128_CBC].map(of_algorithm);
    let elsewhere = all.len();
    all.push(engine.session_on("adding", Algorithm::NULL, &[]).expect("it serves it"));

    let kinds: [&dyn Fn(usize) -> usize; 5] =
        [&|_| gcm, &|_| cbc, &|_| elsewhere, &|at| [gcm, cbc, elsewhere][at % 3], &|at| {
            at * 13 % (elsewhere + 1)
        }];
    let settled: [&dyn Fn(usize, usize) -> bool; 6] = [
        &|at, _| at == 0,
        &|at, count| at + 1 == count,
        &|at, _| at % 2 == 0,
        &|at, _| at % 5 != 2,
        &|at, count| at < count / 2,
        &|_, _| true,
    ];
    for count in [1, 2, 3, 4, 5, 17, 255, 256, 257, 600] {
        for kind in kinds {
            for is_settled in settled {
                settle_some(&engine, &all, count, kind, is_settled);
            }
        }
    }
}

#[track_caller]
fn settle_some(
    engine: &Engine,
    sessions: &[Session],
    count: usize,
    kind: &dyn Fn(usize) -> usize,
    is_settled: &dyn Fn(usize, usize) -> bool,
) {
    let before: Vec<_> = (0..count).map(|at| Message::new(sessions, kind(at), at)).collect();
    let said = |at| if at % 3 == 0 { Err(Error::Finished) } else { Ok(()) };
    let (mut single, mut batch) = (before.clone(), before.clone());
    let expected: Vec<_> = (0..count)
        .map(|at| match is_settled(at, count) {
            true => said(at),
            false => single[at].alone(sessions),
        })
        .collect();
    let mut requests: Vec<_> = batch.iter_mut().map(|message| message.request(sessions)).collect();
    for (at, request) in requests.iter_mut().enumerate() {
        if is_settled(at, count) {
            request.work.state.outcome = Some(said(at));
        }
    }
    let failed = engine.process(&mut requests).map_or_else(|error| error.failed, |()| 0);
    assert_eq!(failed, expected.iter().filter(|outcome| outcome.is_err()).count());
    assert!(requests.iter().map(Request::outcome).eq(expected.into_iter().map(Some)));
    drop(requests);
    for (at, (batch, single)) in batch.iter().zip(&single).enumerate() {
        assert!(batch == single, "{at} of {count}");
    }
}

/// Lanes are used exactly if the lengths say so, and the results are the same either way.
#[test]
fn any_lengths_give_the_same() {
    let engine = Engine::new();
    let sessions = sessions(&engine);
    let odd = Lengths { shortest: 65, longest: 300 };
    for session in 0..sessions.len().min(Algorithm::ALL.len()) {
        let algorithm = sessions[session].algorithm().expect("a cipher");
        for operation in Operation::OF_CIPHERS {
            let class = Class::of(algorithm).with(operation);
            let messages: Vec<_> = (0..130)
                .map(|at| Message::new(&sessions, session, at))
                .filter(|message| message.operation == operation)
                .collect();
            let serve = |lengths| {
                let mut messages = messages.clone();
                let mut requests: Vec<_> =
                    messages.iter_mut().map(|message| message.request(&sessions)).collect();
                assert!(requests.iter().all(|request| request.class() == class));
                serve_class(class, lengths, Members::of(Request::jobs(&mut requests), None));
                let outcomes: Vec<_> = requests.iter().map(Request::outcome).collect();
                drop(requests);
                (outcomes, messages)
            };
            let alone = serve(Lengths::NONE);
            assert!(alone == serve(Lengths::ALL), "{algorithm} {operation:?}");
            assert!(alone == serve(odd), "{algorithm} {operation:?}");
        }
    }
}

/// The engine uses the lanes that it shows.
#[test]
fn lanes_can_be_read() {
    let engine = Engine::new();
    for row in engine.lanes().ranges() {
        assert!(row.shortest <= row.longest, "{row:?}");
        let class = Class::of(row.algorithm).with(row.operation);
        let lengths = engine.lanes().lengths(class, row.requests);
        assert!(lengths.contains(row.shortest) && !lengths.contains(row.shortest - 1), "{row:?}");
    }
}

/// Serves the null cipher by adding one to each byte, and records the batches that it gets.
#[derive(Debug, Default)]
struct Adding {
    /// The sizes of its batches.
    batches: Mutex<Vec<usize>>,
    open: AtomicUsize,
    closed: AtomicUsize,
    /// It leaves every n-th request as it is.
    leaves: Option<usize>,
}

impl Driver for Arc<Adding> {
    fn name(&self) -> &str {
        "adding"
    }

    fn open(&self, algorithm: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        match algorithm {
            Algorithm::NULL => Ok(SessionId(self.open.fetch_add(1, Ordering::Relaxed) as u64)),
            _ => Err(Error::Unsupported),
        }
    }

    fn close(&self, session: SessionId) {
        assert!(session.0 < self.open.load(Ordering::Relaxed) as u64);
        self.closed.fetch_add(1, Ordering::Relaxed);
    }

    fn process(&self, jobs: Jobs<'_, '_>) {
        self.batches.lock().expect("no test panics with it").push(jobs.len());
        for (at, mut job) in jobs.into_iter().enumerate() {
            assert_eq!(job.session().driver(), "adding");
            if self.leaves.is_none_or(|leaves| at % leaves != 0) {
                let outcome = add(&mut job);
                job.settle(outcome);
            }
        }
    }
}

fn add(job: &mut Job<'_, '_>) -> Result<(), Error> {
    if !job.nonce().is_empty() {
        return Err(Error::NonceLength);
    }
    job.data()?.get_out().iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
    Ok(())
}

#[test]
fn another_driver_gets_what_is_its_own() {
    let adding = Arc::new(Adding::default());
    let engine = Engine::new().with_driver(adding.clone()).expect("a free name");
    let here = engine.session_on("software", Algorithm::NULL, &[]).expect("it is built in");
    let there = engine.session_on("adding", Algorithm::NULL, &[]).expect("it serves it");
    assert!(engine.session_on("adding", Algorithm::AES_128_CBC, &[0; 16]).is_err());

    let mut data = [[0_u8; 3]; 9];
    let of = |at: usize| if (3..6).contains(&at) { &there } else { &here };
    let mut batch: Vec<_> = data
        .iter_mut()
        .enumerate()
        .map(|(at, data)| Request::encrypt(of(at), &[], &mut data[..]))
        .collect();
    assert_eq!(engine.process(&mut batch), Ok(()));
    assert!(batch.iter().all(|request| request.outcome() == Some(Ok(()))));
    drop(batch);
    for (at, data) in data.iter().enumerate() {
        assert_eq!(*data, [u8::from((3..6).contains(&at)); 3], "{at}");
    }
    assert_eq!(*adding.batches.lock().expect("nothing panicked"), [3]);
    // The same with a batch that is filled: messages for the driver go to it at the end.
    let mut buffer = engine.batch_buffer(9);
    let mut batch = buffer.batch();
    for (at, data) in data.iter_mut().enumerate() {
        let at_once = batch.encrypt(of(at), &[], &mut data[..]);
        assert_eq!(at_once.is_none(), (3..6).contains(&at), "{at}");
    }
    assert_eq!(batch.finish(), Ok(()));
    assert!(buffer.outcomes().eq([Some(Ok(())); 9]));
    for (at, data) in data.iter().enumerate() {
        assert_eq!(*data, [2 * u8::from((3..6).contains(&at)); 3], "{at}");
    }
    assert_eq!(*adding.batches.lock().expect("nothing panicked"), [3, 3]);
    // One request by itself, and one by the session.
    assert_eq!(engine.process(&mut [Request::encrypt(&there, &[], &mut data[0][..])]), Ok(()));
    assert_eq!(there.encrypt(&[], &mut data[0][..]), Ok(()));
    assert_eq!(data[0], [2; 3]);
    assert_eq!(adding.closed.load(Ordering::Relaxed), 0);
    drop(there);
    drop(engine);
    assert_eq!(adding.closed.load(Ordering::Relaxed), 1);
}

#[test]
fn what_a_driver_leaves_has_failed() {
    let adding = Arc::new(Adding { leaves: Some(2), ..Adding::default() });
    let engine = Engine::new().with_driver(adding.clone()).expect("a free name");
    let session = engine.session_on("adding", Algorithm::NULL, &[]).expect("it serves it");
    let mut data = [[0_u8; 3]; 5];
    let mut batch = data.each_mut().map(|data| Request::encrypt(&session, &[], &mut data[..]));
    assert_eq!(engine.process(&mut batch).map_err(|error| error.failed), Err(3));
    for (at, request) in batch.iter().enumerate() {
        let outcome = if at % 2 == 0 { Err(Error::Unsupported) } else { Ok(()) };
        assert_eq!(request.outcome(), Some(outcome));
    }
    let mut one = [Request::encrypt(&session, &[], &mut data[0][..])];
    assert_eq!(engine.process(&mut one).map_err(|error| error.failed), Err(1));
    let mut buffer = engine.batch_buffer(5);
    let mut batch = buffer.batch();
    for data in &mut data {
        assert_eq!(batch.encrypt(&session, &[], &mut data[..]), None);
    }
    assert_eq!(batch.finish().map_err(|error| error.failed), Err(3));
    for (at, left) in buffer.outcomes().enumerate() {
        assert_eq!(left, Some(if at % 2 == 0 { Err(Error::Unsupported) } else { Ok(()) }));
    }
    assert_eq!(session.encrypt(&[], &mut data[0][..]), Err(Error::Unsupported));
}

#[test]
fn tags_and_nonces_are_the_sessions() {
    let adding = Arc::new(Adding::default());
    let engine = Engine::new().with_driver(adding).expect("a free name");
    let mut session = engine.session(Algorithm::AES_128_GCM, &[1; 16]).expect("a right key");
    assert_eq!(session.set_tag_length(5), Err(Error::TagLength));
    assert_eq!(session.set_tag_length(12), Ok(()));
    let mut packet = [0; 20];
    let mut batch = [Request::seal(&session, &[2; 12], b"aad", &mut packet)];
    assert_eq!(engine.process(&mut batch), Ok(()));
    assert_eq!(session.open(&[2; 12], b"aad", &mut packet), Ok(&mut [0; 8][..]));

    let mut nonces = Nonces::counter(Algorithm::AES_128_GCM, b"from").expect("a short field");
    let nonce = session.seal_next(&mut nonces, b"aad", &mut packet).expect("all is right");
    assert_eq!(session.open(&nonce, b"aad", &mut packet), Ok(&mut [0; 8][..]));

    let mut raw = engine.raw_session(Algorithm::AES_128_CBC, &[1; 16]).expect("a right key");
    assert_eq!(raw.set_tag_length(12), Err(Error::Unsupported));
    assert_eq!(raw.seal_next(&mut nonces, b"aad", &mut packet).err(), Some(Error::Unsupported));
    let mut there = engine.session_on("adding", Algorithm::NULL, &[]).expect("it serves it");
    assert_eq!(there.set_tag_length(12), Err(Error::Unsupported));
}
