//! Batches give the same results as single messages: random batches, at every level of the
//! processor.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lanecrypt_ciphers::Level;
use lanecrypt_engine::{BatchError, Engine, Isa, Request, Session};
use lanecrypt_testing::batches::batch::{
    Case, Rooms, Served, check, check_by, filled, in_slice, processed, random,
};
use lanecrypt_testing::batches::keys::{algorithms, open, random_keys};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::levels;

/// Keys of each algorithm: so many that the lanes of a kernel mostly have different keys.
const KEYS: usize = 24;

/// The number of batches in all: `LANECRYPT_CASES`, or a few thousand.
fn cases() -> usize {
    lanecrypt_testing::numbers::cases(12_000)
}

#[test]
fn any_batch_is_what_its_messages_are_one_by_one() {
    let keys = random_keys(KEYS, &algorithms(), &mut Random(1));
    let engines: Vec<(Engine, Vec<Session>)> = levels()
        .map(|isa| {
            let engine = Engine::with_isa(isa);
            let sessions = open(&engine, &keys);
            (engine, sessions)
        })
        .collect();
    let done = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for seed in 0..threads as u64 {
            let (keys, engines, done) = (&keys, &engines, &done);
            scope.spawn(move || {
                let mut numbers = Random(seed << 32 | 2);
                let mut rooms: Vec<_> =
                    engines.iter().map(|(engine, _)| Rooms::new(engine)).collect();
                // Relaxed: it is only a counter.
                while done.fetch_add(engines.len(), Ordering::Relaxed) < cases() {
                    let messages = random(keys, &mut numbers);
                    let way = *numbers.choice(&WAYS);
                    let each = levels().zip(engines).zip(&mut rooms);
                    for ((level, (engine, sessions)), rooms) in each {
                        check_by(way, engine, sessions, &messages, rooms.another())
                            .unwrap_or_else(|what| panic!("{}: {what}", level.level()));
                    }
                }
            });
        }
    });
}

/// Ways to have a batch served, the important ones several times.
const WAYS: [fn(&mut Case<'_>) -> Served; 10] = [
    processed,
    processed,
    processed,
    filled,
    filled,
    filled,
    filled,
    |case| in_slice(case, twice),
    |case| in_slice(case, one_by_one),
    |case| in_slice(case, in_parts),
];

/// A second call serves nothing again.
fn twice(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    let first = engine.process(batch);
    assert_eq!(engine.process(batch), first);
    first
}

fn one_by_one(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    for request in &mut *batch {
        let answer = engine.process(core::slice::from_mut(request));
        let failed = answer.map_err(|error| error.failed);
        let outcome = request.outcome().expect("it has been processed");
        assert_eq!(failed, outcome.map_err(|_| 1));
    }
    engine.process(batch)
}

/// First a third of the batch, then the whole batch, of which that third has been served.
fn in_parts(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    let third = batch.len() / 3;
    let (_, end) = batch.split_at_mut(third);
    let (middle, _) = end.split_at_mut(third);
    let _failed = engine.process(middle);
    engine.process(batch)
}

/// The choice of messages for lanes affects speed alone. Figures of this processor may choose other
/// messages than the built-in ones, and sessions of different engines may share a batch.
#[test]
fn what_is_measured_changes_no_answer() {
    let keys = random_keys(3, &algorithms(), &mut Random(3));
    for isa in levels() {
        let mut engine = Engine::with_isa(isa);
        engine.calibrate();
        let own = open(&engine, &keys);
        let mut numbers = Random(4);
        let isas: Vec<Isa> = levels().collect();
        let others: Vec<Engine> = isas.iter().map(|&isa| Engine::with_isa(isa)).collect();
        let mixed: Vec<Session> = keys
            .iter()
            .flat_map(|key| open(numbers.choice(&others), core::slice::from_ref(key)))
            .collect();
        let mut rooms = Rooms::new(&engine);
        for _ in 0..cases() / 100 {
            let messages = random(&keys, &mut numbers);
            for sessions in [&own, &mixed] {
                check(&engine, sessions, &messages, &mut rooms)
                    .unwrap_or_else(|what| panic!("{}: {what}", isa.level()));
            }
        }
    }
}

/// Engines do run messages of random batches in lanes: otherwise the tests above would test nothing
/// of lanes.
#[test]
fn engines_have_messages_go_side_by_side() {
    let beside = |isa, wanted: &str| {
        let engine = Engine::with_isa(isa).with_built_in_lanes();
        engine.lanes().ranges().any(|row| {
            row.algorithm.to_string() == wanted && row.requests == 64 && row.shortest <= 1024
        })
    };
    let least = [
        (Level::AesNi, "aes-128-cbc"),
        #[cfg(feature = "legacy")]
        (Level::Avx2, "serpent-128-cbc"),
        (Level::Avx512, "chacha20-ietf"),
        (Level::Avx512, "chacha20-poly1305"),
    ];
    for (level, algorithm) in least {
        for isa in levels().filter(|isa| isa.has(level)) {
            assert!(beside(isa, algorithm), "{algorithm} at {}", isa.level());
        }
    }
}

/// The session's own calls, which take one message without a batch.
#[test]
fn calls_of_a_session_are_what_the_cipher_does() {
    let keys = random_keys(3, &algorithms(), &mut Random(5));
    for isa in levels() {
        let sessions = open(&Engine::with_isa(isa), &keys);
        let mut numbers = Random(6);
        for _ in 0..cases() / 50 {
            for message in random(&keys, &mut numbers) {
                let mut places = message.places();
                let outcome = message.call(&sessions[message.key], &mut places);
                message
                    .check(Some(outcome), &places)
                    .unwrap_or_else(|what| panic!("{}: {what}: {message:?}", isa.level()));
            }
        }
    }
}
