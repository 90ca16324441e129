//! Rooms from one batch to the next: messages are served correctly whatever the buffer expects.
//! Also nonces of any length, which a buffer keeps by value.

use lanecrypt_engine::{Algorithm, Engine, Operation};
use lanecrypt_testing::batches::adding::{Adding, add};
use lanecrypt_testing::batches::batch::{check_by, filled, processed};
use lanecrypt_testing::batches::keys::{algorithms, open, random_keys};
use lanecrypt_testing::batches::message::Message;
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::levels;

/// Transitions between the counts that change a buffer's behaviour.
const COUNTS: [usize; 16] = [64, 1, 64, 0, 2, 300, 1, 4, 16, 3, 8, 257, 64, 600, 1, 2];

/// Each buffer serves one algorithm, with long and short messages in turn, so that its expectations
/// are wrong.
#[test]
fn whatever_a_room_expects_it_serves_what_comes() {
    for (isa, expected) in levels().zip([1, 64, 300].into_iter().cycle()) {
        let engine = Engine::with_isa(isa);
        let mut numbers = Random(71);
        for algorithm in algorithms() {
            let keys = random_keys(6, &[algorithm], &mut numbers);
            let sessions = open(&engine, &keys);
            let mut buffer = engine.batch_buffer(expected);
            for (at, count) in COUNTS.into_iter().enumerate() {
                let most = [700, 60, 40, 260][at % 4] / (1 + count / 100);
                let mut message = || {
                    let (key, len) = (numbers.below(keys.len()), numbers.below(most));
                    let mut message = Message::random(&keys, key, len, &mut numbers);
                    if numbers.one_in(40) {
                        message.damage(&keys, &mut numbers);
                    }
                    message
                };
                let messages: Vec<_> = (0..count).map(|_| message()).collect();
                check_by(filled, &engine, &sessions, &messages, &mut buffer)
                    .unwrap_or_else(|what| panic!("{}: {count}: {what}", isa.level()));
            }
        }
    }
}

/// The buffer expects as many messages of one algorithm as of another; then it gets a thousand of
/// one, in turns.
#[test]
fn a_room_sees_every_algorithm_by_turns() {
    let engine = Engine::new();
    let mut numbers = Random(72);
    let keys = random_keys(2, &algorithms(), &mut numbers);
    let sessions = open(&engine, &keys);
    let mut buffer = engine.batch_buffer(32);
    for turn in 0..2 * keys.len() {
        let count = [1, 33, 5, 100][turn % 4];
        let mut message = || {
            let (key, len) = ((turn + numbers.below(2)) % keys.len(), numbers.below(200));
            Message::random(&keys, key, len, &mut numbers)
        };
        let messages: Vec<_> = (0..count).map(|_| message()).collect();
        check_by(filled, &engine, &sessions, &messages, &mut buffer).expect("all is right");
    }
}

/// GCM takes nonces of any length but 0; every other algorithm takes one length.
#[test]
fn nonces_of_every_length_are_taken_or_refused() {
    let mut numbers = Random(73);
    let keys = random_keys(1, &algorithms(), &mut numbers);
    for isa in levels() {
        let engine = Engine::with_isa(isa);
        let sessions = open(&engine, &keys);
        let mut buffer = engine.batch_buffer(64);
        for length in (0..34).chain([40, 64, 255, 256, 300]) {
            let mut message = |key| {
                let mut message = Message::random(&keys, key, 64, &mut numbers);
                message.nonce = numbers.bytes(length);
                message.expect(&keys);
                message
            };
            // Enough messages for some to run in lanes.
            let mut messages: Vec<_> =
                (0..3 * keys.len()).map(|at| message(at % keys.len())).collect();
            messages.extend(messages.clone());
            for serve in [processed, filled, filled] {
                check_by(serve, &engine, &sessions, &messages, &mut buffer)
                    .unwrap_or_else(|what| panic!("{}: {length}: {what}", isa.level()));
            }
            let right = messages.iter().filter(|message| message.expected.outcome.is_ok()).count();
            // A packet to open was sealed with another nonce.
            let is_taken = |message: &Message| match keys[message.key].algorithm {
                Algorithm::NULL => length == 0,
                algorithm => {
                    let is_gcm = algorithm.to_string().ends_with("-gcm");
                    is_gcm && message.operation == Operation::Seal && length > 0
                }
            };
            assert!(right > 0 || !messages.iter().any(is_taken), "{length}");
        }
    }
}

/// All nonces are written to the same place. Messages wait if the buffer can hold their nonces, and
/// are served at once if not.
#[test]
fn nonces_are_kept_by_value() {
    let adding = Adding::default();
    let engine = Engine::new().with_driver(adding.clone()).expect("a free name");
    let session = engine.session_on(Adding::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let mut buffer = engine.batch_buffer(400);
    let mut data = [[7; 30]; 300];
    let mut nonce = [0; 300];
    let filled_with = |length: usize| move |at: usize| (length * 5 + at * 3).to_le_bytes()[0];
    let mut batch = buffer.batch();
    for (length, data) in data.iter_mut().enumerate() {
        (0..length).for_each(|at| nonce[at] = filled_with(length)(at));
        let at_once = batch.encrypt(&session, &nonce[..length], data);
        assert_eq!(at_once, (length > 24).then_some(Ok(())), "{length}");
    }
    assert_eq!(batch.finish(), Ok(()));
    assert!(buffer.outcomes().eq([Some(Ok(())); 300]));
    for (length, data) in data.iter().enumerate() {
        let mut expected = [7; 30];
        add(&(0..length).map(filled_with(length)).collect::<Vec<_>>(), &mut expected);
        assert_eq!(*data, expected, "{length}");
    }
    assert_eq!(adding.begun().len(), data.len());
}
