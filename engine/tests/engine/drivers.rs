//! An external driver gets the requests of its sessions and no others, in batches of any kind. Its
//! faults do not affect other requests.

use core::panic::AssertUnwindSafe;
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::{Arc, Mutex};

use lanecrypt_engine::{
    Algorithm, Driver, Engine, Error, Isa, Jobs, Lanes, Request, Session, SessionId,
};
use lanecrypt_testing::batches::batch::{Rooms, check, random};
use lanecrypt_testing::batches::kept::Kept;
use lanecrypt_testing::batches::keys::{Key, algorithms, random_keys};
use lanecrypt_testing::batches::numbers::Random;

/// A card that serves some algorithms, keeps the keys itself and counts calls.
#[derive(Clone, Debug, Default)]
struct Card(Arc<Mutex<Inside>>);

#[derive(Debug, Default)]
struct Inside {
    sessions: BTreeMap<u64, Kept>,
    next: u64,
    closed: Vec<u64>,
    batches: usize,
    requests: usize,
    /// Its fault, if it has one.
    mood: Mood,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Mood {
    #[default]
    Willing,
    /// Leaves all requests without an outcome.
    Idle,
    /// Panics before it has served any request.
    Broken,
    /// Panics when it has served this many requests.
    Exhausted(usize),
}

impl Card {
    const ALGORITHMS: [Algorithm; 4] = [
        Algorithm::AES_128_CTR,
        Algorithm::AES_256_GCM,
        Algorithm::CHACHA20_POLY1305,
        Algorithm::AES_192_CBC,
    ];

    fn look<T>(&self, f: impl FnOnce(&mut Inside) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    fn set(&self, mood: Mood) {
        self.look(|inside| inside.mood = mood);
    }
}

impl Driver for Card {
    fn name(&self) -> &'static str {
        "card"
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        if !Self::ALGORITHMS.contains(&algorithm) {
            return Err(Error::Unsupported);
        }
        let kept = Kept::new(Isa::PORTABLE, algorithm, key)?;
        Ok(self.look(|inside| {
            inside.next += 1;
            inside.sessions.insert(inside.next, kept);
            SessionId(inside.next)
        }))
    }

    fn close(&self, session: SessionId) {
        self.look(|inside| {
            assert!(inside.sessions.remove(&session.0).is_some(), "closed twice, or never opened");
            inside.closed.push(session.0);
        });
    }

    fn process(&self, jobs: Jobs<'_, '_>) {
        self.look(|inside| {
            inside.batches += 1;
            assert_ne!(inside.mood, Mood::Broken, "the card is broken");
            for (at, mut job) in jobs.into_iter().enumerate() {
                assert_eq!(job.session().driver(), "card");
                assert_ne!(inside.mood, Mood::Exhausted(at), "the card is exhausted");
                if inside.mood != Mood::Idle {
                    inside.requests += 1;
                    let outcome = inside.sessions[&job.session_id().0].serve(&mut job);
                    job.settle(outcome);
                }
            }
        });
    }
}

/// A session of the card if it serves the algorithm, otherwise of the null driver or the software.
fn open(engine: &Engine, key: &Key) -> Session {
    let Key { algorithm, bytes, .. } = key;
    if *algorithm == Algorithm::NULL {
        return engine.session_on("null", *algorithm, bytes).expect("it has no key");
    }
    let card = engine.session_on("card", *algorithm, bytes);
    card.unwrap_or_else(|_| match algorithm.is_aead() {
        true => engine.session(*algorithm, bytes).expect("a good key"),
        false => engine.raw_session(*algorithm, bytes).expect("a good key"),
    })
}

#[test]
fn mixed_batches_go_to_whom_they_belong() {
    let card = Card::default();
    let engine = Engine::new().with_driver(card.clone()).expect("a free name");
    assert_eq!(engine.drivers().collect::<Vec<_>>(), ["software", "null", "card"]);
    let mut numbers = Random(31);
    let mut keys = random_keys(2, &algorithms(), &mut numbers);
    // As many keys of the card as of all others.
    keys.extend(random_keys(20, &Card::ALGORITHMS, &mut numbers));
    // And keys of a third driver.
    keys.extend(random_keys(20, &[Algorithm::NULL], &mut numbers));
    let sessions: Vec<Session> = keys.iter().map(|key| open(&engine, key)).collect();
    let of_card = |session: &Session| session.driver() == "card";
    assert_eq!(sessions.iter().filter(|session| of_card(session)).count(), 88);
    let mut rooms = Rooms::new(&engine);
    for _ in 0..400 {
        let messages = random(&keys, &mut numbers);
        let before = card.look(|inside| inside.requests);
        check(&engine, &sessions, &messages, &mut rooms).expect("the card is right, too");
        // Each message once in each way.
        let its = messages.iter().filter(|message| of_card(&sessions[message.key])).count();
        assert_eq!(card.look(|inside| inside.requests) - before, 2 * its);
        // Calls with one message.
        if let Some(message) = messages.last() {
            let mut places = message.places();
            let outcome = message.call(&sessions[message.key], &mut places);
            message.check(Some(outcome), &places).expect("the card is right, too");
        }
    }
    drop(sessions);
    let (open, closed) = card.look(|inside| (inside.sessions.len(), inside.closed.len()));
    assert_eq!((open, closed), (0, 88));
}

#[test]
fn sessions_are_of_the_driver_that_is_named() {
    let card = Card::default();
    let engine = Engine::new().with_driver(card.clone()).expect("a free name");
    let raw = engine.session_on("card", Algorithm::AES_128_CTR, &[1; 16]).expect("a good key");
    let dear = engine.session(Algorithm::AES_256_GCM, &[1; 32]).expect("a good key");
    let asked = engine.session_on("card", Algorithm::AES_256_GCM, &[1; 32]).expect("a good key");
    assert_eq!([raw.driver(), dear.driver(), asked.driver()], ["card", "software", "card"]);
    let mut packets = [[7; 50]; 2];
    dear.seal(&[2; 12], b"aad", &mut packets[0]).expect("good lengths");
    asked.seal(&[2; 12], b"aad", &mut packets[1]).expect("good lengths");
    assert_eq!(packets[0], packets[1]);
    assert_eq!(asked.open(&[2; 12], b"aad", &mut packets[0]).map(|text| text.to_vec()), {
        Ok(vec![7; 34])
    });

    // A session that could not be opened is not closed either.
    let refused = engine.session_on("card", Algorithm::AES_128_CBC, &[1; 16]);
    assert_eq!(refused.err(), Some(Error::Unsupported));
    let refused = engine.session_on("card", Algorithm::AES_128_CTR, &[1; 17]);
    assert_eq!(refused.err(), Some(Error::KeyLength));
    assert_eq!(card.look(|inside| inside.sessions.len()), 2);
    drop((raw, dear));
    assert_eq!(card.look(|inside| inside.closed.clone()), [1]);
}

/// A session keeps its driver after the engine has ended.
#[test]
fn sessions_outlive_their_engine() {
    let card = Card::default();
    let engine = Engine::new().with_driver(card.clone()).expect("a free name");
    let session = engine.session_on("card", Algorithm::AES_128_CTR, &[1; 16]).expect("a good key");
    drop(engine);
    let mut data = [0; 20];
    assert_eq!(session.encrypt(&[3; 16], &mut data[..]), Ok(()));
    // Any engine serves it.
    let mut batch = [Request::decrypt(&session, &[3; 16], &mut data[..])];
    assert_eq!(Engine::new().process(&mut batch), Ok(()));
    assert_eq!(data, [0; 20]);
    assert_eq!(card.look(|inside| inside.closed.len()), 0);
    drop(session);
    assert_eq!(card.look(|inside| inside.closed.clone()), [1]);
}

/// The bytes of a batch of three: one message of the card between two of the software.
struct Three {
    sessions: [Session; 3],
    data: [[u8; 32]; 3],
}

impl Three {
    fn new(engine: &Engine) -> Self {
        let software = |byte| {
            let key = [byte; 16];
            engine.session_on("software", Algorithm::AES_128_CBC, &key).expect("a good key")
        };
        let card = engine.session_on("card", Algorithm::AES_128_CTR, &[1; 16]).expect("a good key");
        Self { sessions: [software(1), card, software(2)], data: [[0; 32]; 3] }
    }

    fn batch(&mut self) -> Vec<Request<'_>> {
        let each = self.sessions.iter().zip(&mut self.data);
        each.map(|(session, data)| Request::encrypt(session, &[9; 16], &mut data[..])).collect()
    }
}

#[test]
fn what_a_driver_leaves_counts_as_unsupported() {
    let card = Card::default();
    let engine = Engine::new().with_driver(card.clone()).expect("a free name");
    let mut three = Three::new(&engine);
    card.set(Mood::Idle);
    let mut batch = three.batch();
    let failed = engine.process(&mut batch).map_err(|error| error.failed);
    assert_eq!(failed, Err(1));
    let outcomes: Vec<_> = batch.iter().map(Request::outcome).collect();
    assert_eq!(outcomes, [Some(Ok(())), Some(Err(Error::Unsupported)), Some(Ok(()))]);
    drop(batch);
    assert_eq!(three.data.map(|data| data == [0; 32]), [false, true, false]);
    let [_, session, _] = &three.sessions;
    assert_eq!(session.encrypt(&[9; 16], &mut [0; 32][..]), Err(Error::Unsupported));
}

#[test]
fn a_driver_that_panics_leaves_sessions_usable() {
    let card = Card::default();
    let engine = Engine::new().with_driver(card.clone()).expect("a free name");
    let mut three = Three::new(&engine);
    card.set(Mood::Broken);
    let mut batch = three.batch();
    let panicked = catch_unwind(AssertUnwindSafe(|| engine.process(&mut batch)));
    assert!(panicked.is_err(), "a panic is passed on");
    assert_eq!(batch[1].outcome(), None, "what was not served has no outcome");

    // The same batch again, now that the card works: every message is served exactly once.
    card.set(Mood::Willing);
    assert_eq!(engine.process(&mut batch), Ok(()));
    drop(batch);
    let again = Three::new(&engine);
    for (i, session) in again.sessions.iter().enumerate() {
        let mut expected = [0; 32];
        session.encrypt(&[9; 16], &mut expected[..]).expect("good lengths");
        assert_eq!(three.data[i], expected, "{i}");
    }
    drop((three, again));
    assert_eq!(card.look(|inside| inside.sessions.len()), 0);
}

/// A batch of one takes a shorter path.
#[test]
fn a_driver_that_panics_over_one_request_has_not_served_it() {
    let card = Card::default();
    let engine = Engine::new().with_driver(card.clone()).expect("a free name");
    let session = engine.session_on("card", Algorithm::AES_128_CTR, &[1; 16]).expect("a good key");
    card.set(Mood::Broken);
    let mut data = [0; 32];
    let mut batch = [Request::encrypt(&session, &[9; 16], &mut data[..])];
    let panicked = catch_unwind(AssertUnwindSafe(|| engine.process(&mut batch)));
    assert!(panicked.is_err(), "a panic is passed on");
    assert_ne!(batch[0].outcome(), Some(Ok(())), "it was not served");
    assert_eq!(data, [0; 32]);
    let panicked = catch_unwind(AssertUnwindSafe(|| session.encrypt(&[9; 16], &mut data[..])));
    assert!(panicked.is_err(), "a panic is passed on");

    card.set(Mood::Willing);
    assert_eq!(session.encrypt(&[9; 16], &mut data[..]), Ok(()));
    let mut batch = [Request::decrypt(&session, &[9; 16], &mut data[..])];
    assert_eq!(engine.process(&mut batch), Ok(()));
    assert_eq!(data, [0; 32]);
}

/// Has the software serve all, in lanes.
#[derive(Debug)]
struct Passing(Lanes);

impl Driver for Passing {
    fn name(&self) -> &'static str {
        "passing"
    }

    fn open(&self, _: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        Ok(SessionId(0))
    }

    fn close(&self, _: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        jobs.serve_by_software(&self.0);
    }
}

#[test]
fn the_software_serves_batches_of_a_driver() {
    let engine = Engine::new();
    let passing = Passing(*engine.lanes());
    let engine = engine.with_driver(passing).expect("a free name");
    let mut numbers = Random(52);
    let all = algorithms();
    for of in all.chunks(1).chain([&all[..]]) {
        let keys = random_keys(2, of, &mut numbers);
        let open = |key: &Key| engine.session_on("passing", key.algorithm, &key.bytes);
        let sessions: Vec<Session> =
            keys.iter().map(|key| open(key).expect("it has all")).collect();
        let mut rooms = Rooms::new(&engine);
        for _ in 0..20 {
            let messages = random(&keys, &mut numbers);
            check(&engine, &sessions, &messages, &mut rooms).expect("as one by one");
        }
    }
}
