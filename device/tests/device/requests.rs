//! Requests through a daemon give what the engine gives, for all algorithms.

use lanecrypt_device::{Client, Error, Message, Remote, Server, Settings};
use lanecrypt_engine::{Algorithm, Engine, Error as Cipher, Operation, Session};
use lanecrypt_testing::batches::batch::{Rooms, check, random};
use lanecrypt_testing::batches::keys::{Key, algorithms, random_keys};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::numbers::cases;

use crate::daemon::Running;

fn server() -> Server {
    Server::new().allow_null()
}

/// The same session as the daemon's, in this process.
fn local(engine: &Engine, key: &Key) -> Session {
    match key.algorithm.is_aead() {
        true => engine.session(key.algorithm, &key.bytes),
        false => engine.raw_session(key.algorithm, &key.bytes),
    }
    .expect("it is a key")
}

/// The engine's own test of batches, with sessions of the driver `device`.
#[test]
fn random_batches_by_the_driver() {
    let daemon = Running::new(server());
    let remote = Remote::connect(daemon.path()).expect("it listens");
    let engine = Engine::new().with_driver(remote).expect("the name is free");
    let mut numbers = Random(7);
    let keys = random_keys(2, &algorithms(), &mut numbers);
    let on = |key: &Key| engine.session_on("device", key.algorithm, &key.bytes);
    let sessions: Vec<Session> = keys.iter().map(|key| on(key).expect("it is a key")).collect();
    assert!(sessions.iter().all(|session| session.driver() == "device"));
    let mut rooms = Rooms::new(&engine);
    for case in 0..cases(150).min(20_000) {
        let batch = random(&keys, &mut numbers);
        check(&engine, &sessions, &batch, &mut rooms)
            .unwrap_or_else(|what| panic!("batch {case}: {what}"));
    }
}

#[test]
fn calls_of_every_length_in_both_directions() {
    let daemon = Running::new(server());
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let engine = Engine::new();
    let mut numbers = Random(11);
    for key in random_keys(1, &algorithms(), &mut numbers) {
        let (local, algorithm) = (local(&engine, &key), key.algorithm);
        let session = client.session(algorithm, &key.bytes).expect("it is a key");
        assert_eq!(session.algorithm(), Some(algorithm));
        assert_eq!(session.tag_length(), local.tag_length());
        let nonce = numbers.bytes(algorithm.nonce_length());
        for length in (0..100).chain([255, 1000, 4097, 65_537]) {
            let plain = numbers.bytes(length + local.tag_length());
            let (mut expected, mut found) = (plain.clone(), plain.clone());
            if algorithm.is_aead() {
                let aad = numbers.bytes(length % 37);
                let outcome = local.seal(&nonce, &aad, &mut expected).map_err(Error::Refused);
                assert_eq!(client.seal(session, &nonce, &aad, &mut found), outcome);
                assert_eq!(found, expected, "{algorithm} {length}");
                if outcome.is_ok() {
                    let opened = client.open(session, &nonce, &aad, &mut found);
                    assert_eq!(opened.expect("it is authentic"), &plain[..length]);
                    // A forged one is wiped.
                    let (mut forged, last) = (expected.clone(), expected.len() - 1);
                    forged[last] ^= 1;
                    let refused = client.open(session, &nonce, &aad, &mut forged);
                    assert_eq!(refused, Err(Error::Refused(Cipher::Authentication)));
                    assert!(forged[..length].iter().all(|&byte| byte == 0));
                }
            } else {
                let outcome = local.encrypt(&nonce, &mut expected[..]).map_err(Error::Refused);
                assert_eq!(client.encrypt(session, &nonce, &mut found), outcome);
                assert_eq!(found, expected, "{algorithm} {length}");
                if outcome.is_ok() {
                    client.decrypt(session, &nonce, &mut found).expect("it was encrypted");
                    assert_eq!(found, plain, "{algorithm} {length}");
                }
            }
        }
        client.close(session).expect("it is open");
        let refused = client.encrypt(session, &nonce, &mut [0; 16]);
        assert_eq!(refused, Err(Error::UnknownSession));
        assert!(client.close(session).is_err());
    }
}

/// What a message gives.
struct Expected(Result<(), Error>, Vec<u8>);

#[test]
fn messages_in_flight_of_many_sessions() {
    let daemon = Running::new(server());
    // A small ring and a small arena, so that both are full often.
    let settings = Settings::default().depth(64).arena(1 << 16);
    let mut client = Client::connect_with(daemon.path(), &settings).expect("it listens");
    let engine = Engine::new();
    let mut numbers = Random(13);
    let keys = random_keys(1, &algorithms(), &mut numbers);
    let locals: Vec<Session> = keys.iter().map(|key| local(&engine, key)).collect();
    let open = |key: &Key| client.session(key.algorithm, &key.bytes).expect("it is a key");
    let sessions: Vec<_> = keys.iter().map(open).collect();
    let (mut expected, mut full, mut given_back) = (Vec::new(), 0, 0);
    let mut give_back = |client: &mut Client, expected: &mut [Option<Expected>]| {
        let done = client.wait().expect("it lives").expect("messages are in flight");
        let at = usize::try_from(done.user).expect("it is an index");
        let Expected(outcome, bytes) = expected[at].take().expect("it comes once");
        assert_eq!((done.outcome, done.buffer), (outcome, bytes), "message {at}");
        given_back += 1;
    };
    let all = cases(4000);
    for _ in 0..all {
        let at = numbers.below(keys.len());
        let (key, local) = (&keys[at], &locals[at]);
        let operation = Operation::OF_CIPHERS[numbers.below(4)];
        let nonce = numbers.bytes(key.algorithm.nonce_length());
        let length = if numbers.below(8) == 0 { 5000 } else { 300 };
        let header = numbers.below(20);
        let buffer = {
            let length = numbers.below(length);
            numbers.bytes(header + length)
        };
        let mut served = buffer.clone();
        let (aad, data) = served.split_at_mut(header);
        let outcome = match operation {
            Operation::Seal => local.seal(&nonce, aad, data),
            Operation::Open => local.open(&nonce, aad, data).map(|_| ()),
            Operation::Encrypt => local.encrypt(&nonce, data),
            _ => local.decrypt(&nonce, data),
        };
        expected.push(Some(Expected(outcome.map_err(Error::Refused), served)));
        let user = expected.len() as u64 - 1;
        let message = Message::new(sessions[at], operation, nonce, buffer);
        let mut message = message.with_header(header).with_user(user);
        while let Err(refused) = client.submit(message) {
            assert_eq!(refused.reason, Error::Full);
            message = refused.value;
            full += 1;
            give_back(&mut client, &mut expected);
        }
    }
    while client.in_flight() > 0 {
        give_back(&mut client, &mut expected);
    }
    assert_eq!((given_back, client.poll().expect("it lives").is_none()), (all, true));
    assert!(full > 100, "only {full} times full");
}

#[test]
fn random_bytes() {
    let daemon = Running::new(server());
    let settings = Settings::default().arena(1 << 16);
    let mut client = Client::connect_with(daemon.path(), &settings).expect("it listens");
    let mut seen = std::collections::HashSet::new();
    for length in [0, 1, 31, 32, 256, 65_536, 4 << 20] {
        let mut bytes = vec![0; length];
        client.fill(&mut bytes).expect("there is entropy");
        for block in bytes.chunks_exact(16) {
            assert!(seen.insert(block.to_vec()), "{length}: a block repeats");
        }
    }
    for user in 0..100 {
        client.submit(Message::fill(vec![0; 32]).with_user(user)).expect("there is room");
    }
    while let Some(done) = client.wait().expect("it lives") {
        assert_eq!(done.outcome, Ok(()));
        assert!(seen.insert(done.buffer), "32 bytes repeat");
    }
}

#[test]
fn generated_keys_seal_and_open() {
    let daemon = Running::new(server());
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let [first, second] = [(); 2]
        .map(|()| client.generated_session(Algorithm::AES_256_GCM).expect("there is entropy"));
    let mut packet = vec![5; 60 + 16];
    client.seal(first, &[0; 12], b"", &mut packet).expect("it is served");
    let other = client.open(second, &[0; 12], b"", &mut packet.clone()).map(|_| ());
    assert_eq!(other, Err(Error::Refused(Cipher::Authentication)));
    assert_eq!(client.open(first, &[0; 12], b"", &mut packet).expect("it is authentic"), [5; 60]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let daemon = Running::new(server());
    let settings = Settings::default().depth(4).arena(1 << 12);
    let mut client = Client::connect_with(daemon.path(), &settings).expect("it listens");
    let session = client.session(Algorithm::NULL, &[]).expect("it is allowed");
    assert_eq!(client.longest(), 4096);
    client.encrypt(session, &[], &mut [1; 4096]).expect("it fits");
    assert_eq!(client.encrypt(session, &[], &mut [1; 4097]), Err(Error::TooLong));
    let message = |length| Message::encrypt(session, [], vec![0; length]);
    assert_eq!(client.submit(message(4097)).expect_err("too long").reason, Error::TooLong);
    let header = client.submit(message(4).with_header(5)).expect_err("the header is longer");
    assert_eq!(header.reason, Error::Refused(Cipher::AadLength));
    // Signatures are not for ciphers; the daemon has no keys for them.
    for operation in [Operation::Sign, Operation::Verify] {
        client.submit(Message::new(session, operation, [], vec![1; 64])).expect("there is room");
        let done = client.wait().expect("it lives").expect("one is in flight");
        let refused = Err(Error::Refused(Cipher::Unsupported));
        assert_eq!((done.outcome, done.buffer), (refused, vec![1; 64]));
    }
    // The arena, then the ring.
    client.submit(message(4096)).expect("it fits");
    assert_eq!(client.submit(message(1)).expect_err("no room").reason, Error::Full);
    client.wait().expect("it lives").expect("one is in flight");
    for _ in 0..4 {
        client.submit(message(1)).expect("there is room");
    }
    assert_eq!(client.submit(message(1)).expect_err("no room").reason, Error::Full);
    while client.wait().expect("it lives").is_some() {}
}
