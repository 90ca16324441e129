//! Named keys: nonces that the daemon makes, versions, and what a reload changes.

use std::collections::HashSet;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use lanecrypt_device::{
    Client, Error, Event, Handle, Key, KeyError, Limits, Message, NonceSource, RejectReason, Server,
};
use lanecrypt_engine::{Algorithm, Engine, Operation};
use zeroize::Zeroizing;

use crate::daemon::Running;

/// Where the stream that encrypts a message depends on key and nonce only.
const REPEATING: [Algorithm; 4] = [
    Algorithm::AES_256_GCM,
    Algorithm::CHACHA20_POLY1305,
    Algorithm::XCHACHA20_POLY1305,
    Algorithm::AEGIS_128L,
];

fn key(name: &str, algorithm: Algorithm, byte: u8) -> Key {
    let bytes = vec![byte; algorithm.key_lengths().longest()];
    Key::new(name, algorithm, Zeroizing::new(bytes))
}

fn connect(path: &Path) -> Client {
    Client::connect(path).expect("it listens")
}

/// A packet with room for a tag.
fn packet(message: &[u8], tag: usize) -> Vec<u8> {
    [message, &vec![0; tag]].concat()
}

#[test]
fn who_may_only_seal_cannot_open() {
    for algorithm in REPEATING {
        let daemon = Running::new(
            Server::new().keys(vec![key("k", algorithm, 7).for_operations([Operation::Seal])]),
        );
        let mut client = connect(&daemon.path());
        let session = client.named_session("k").expect("it is for this user");
        assert!(session.makes_nonces());
        let mut sealed = packet(b"attack at dawn", 16);
        let nonce = client.seal_next(session, b"aad", &mut sealed).expect("it is served");
        // Its own nonce is the only way to get the same stream again.
        let mut again = packet(&sealed[..14], 16);
        let refused = client.seal(session, &nonce, b"aad", &mut again);
        assert_eq!(refused, Err(Error::MakesNonces));
        assert_eq!(again[..14], sealed[..14], "nothing is written");
        let other = client.seal_next(session, b"aad", &mut again).expect("it is served");
        assert_ne!(other, nonce);
        assert_ne!(again[..14], b"attack at dawn"[..]);
        let opened = client.open(session, &nonce, b"aad", &mut sealed).map(|_| ());
        assert_eq!(opened, Err(Error::NotAllowed));
        // Nor do queues help.
        client.submit(Message::seal(session, nonce, again)).expect("there is room");
        let done = client.wait().expect("it lives").expect("it was submitted");
        assert_eq!(done.outcome, Err(Error::MakesNonces));
    }
}

#[test]
fn settings_that_protect_nothing_are_refused() {
    let prepare = |key: Key| Server::new().keys(vec![key]).prepare().map(drop);
    let by_clients = |algorithm| key("k", algorithm, 7).with_nonces(NonceSource::Client);
    for algorithm in REPEATING {
        for operation in [Operation::Seal, Operation::Open] {
            let refused = prepare(by_clients(algorithm).for_operations([operation]));
            assert_eq!(refused, Err(KeyError::Withheld(String::from("k"))));
        }
        let both = by_clients(algorithm).for_operations([Operation::Seal, Operation::Open]);
        assert_eq!(prepare(both), Ok(()));
    }
    let stream = by_clients(Algorithm::AES_256_CTR).for_operations([Operation::Encrypt]);
    assert_eq!(prepare(stream), Err(KeyError::Withheld(String::from("k"))));
    // The stream depends on the message, too, or there is none.
    for (algorithm, operation) in [
        (Algorithm::AES_256_GCM_SIV, Operation::Seal),
        (Algorithm::AES_256_CBC, Operation::Encrypt),
    ] {
        assert_eq!(prepare(by_clients(algorithm).for_operations([operation])), Ok(()));
    }
    // Clients have to make them.
    let raw = prepare(key("k", Algorithm::AES_256_CBC, 7));
    assert_eq!(raw, Err(KeyError::Nonces(String::from("k"))));
    let mixed = key("k", Algorithm::AES_256_GCM, 7);
    let mixed = prepare(mixed.with_older(key("k", Algorithm::AES_128_GCM, 8)));
    assert_eq!(mixed, Err(KeyError::Versions(String::from("k"))));
}

#[test]
fn nonces_differ_and_packets_open_elsewhere() {
    for algorithm in [Algorithm::AES_256_GCM, Algorithm::XCHACHA20_POLY1305, Algorithm::AEGIS_256] {
        let daemon = Running::new(Server::new().keys(vec![key("k", algorithm, 7)]));
        let bytes = vec![7; algorithm.key_lengths().longest()];
        let own = Engine::new().session(algorithm, &bytes).expect("it is a key");
        let mut nonces = HashSet::new();
        let (mut first, mut second) = (connect(&daemon.path()), connect(&daemon.path()));
        for client in [&mut first, &mut second] {
            let session = client.named_session("k").expect("it is for this user");
            // Short, long enough for another thread, and none at all.
            for length in [100, 0, 600_000] {
                let message = vec![6; length];
                let mut sealed = packet(&message, session.tag_length());
                let nonce = client.seal_next(session, b"aad", &mut sealed).expect("it is served");
                assert!(nonces.insert(nonce.to_vec()));
                assert_eq!(own.open(&nonce, b"aad", &mut sealed).expect("authentic"), message);
            }
            // In lanes.
            let length = session.nonce_length();
            for _ in 0..200 {
                let buffer = [&vec![0; length][..], b"aad", &packet(&[5; 64], 16)].concat();
                let message = Message::seal_next(session, buffer).with_header(3);
                client.submit(message).expect("there is room");
            }
            while let Some(mut done) = client.wait().expect("it lives") {
                done.outcome.expect("it is served");
                let (nonce, rest) = done.buffer.split_at_mut(length);
                let (header, sealed) = rest.split_at_mut(3);
                assert!(nonces.insert(nonce.to_vec()));
                assert_eq!(own.open(nonce, header, sealed).expect("authentic"), [5; 64]);
            }
        }
        assert_eq!(nonces.len(), 406);
        // A session with a key of the client has none.
        let session = first.session(algorithm, &bytes).expect("it is a key");
        let refused = first.seal_next(session, b"", &mut [0; 40]);
        assert_eq!(refused, Err(Error::NotAllowed));
    }
}

#[test]
fn older_versions_open_and_do_not_seal() {
    let row = Algorithm::AES_256_GCM;
    let new = key("k", row, 3).with_older(key("", row, 2)).with_older(key("", row, 1));
    let daemon = Running::new(Server::new().keys(vec![new]));
    let mut client = connect(&daemon.path());
    let session = client.named_session("k").expect("it is for this user");
    for version in 1..=4 {
        let own = Engine::new().session(row, &[version; 32]).expect("it is a key");
        // Long ones are opened by another thread.
        for length in [20, 600_000] {
            let mut sealed = packet(&vec![9; length], 16);
            own.seal(&[version; 12], b"aad", &mut sealed).expect("it is sealed");
            let opened = client.open(session, &[version; 12], b"aad", &mut sealed);
            match version {
                4 => assert!(opened.is_err(), "no such version"),
                _ => assert_eq!(opened.expect("authentic"), vec![9; length]),
            }
        }
        let mut sealed = packet(&[9; 20], 16);
        let nonce = client.seal_next(session, b"", &mut sealed).expect("it is served");
        assert_eq!(own.open(&nonce, b"", &mut sealed).is_ok(), version == 3);
    }
}

/// Waits until a daemon has replaced its settings: the number of ended sessions.
fn reload(handle: &Handle, events: &Receiver<u32>, server: Server) -> u32 {
    handle.reload(server.prepare().expect("its keys are right"));
    events.recv().expect("the daemon runs")
}

#[test]
fn a_reload_rotates_adds_and_removes_keys() {
    let row = Algorithm::AES_256_GCM;
    let (sender, events) = channel();
    let watched = Server::new().observer(move |event| {
        if let Event::Reloaded { ended_sessions, .. } = event {
            let _ = sender.send(*ended_sessions);
        }
    });
    let keys = vec![key("stays", row, 1), key("goes", row, 2), key("changes", row, 3)];
    let daemon = Running::new(watched.keys(keys));
    let mut client = connect(&daemon.path());
    let mut open = |name| client.named_session(name).expect("it is for this user");
    let sessions = ["stays", "goes", "changes"].map(&mut open);
    let generated = client.generated_session(row).expect("entropy");
    let mut before = packet(&[4; 30], 16);
    let nonce = client.seal_next(sessions[0], b"", &mut before).expect("it is served");

    let rotated = key("stays", row, 9).with_older(key("", row, 1));
    let changed = key("changes", Algorithm::AES_256_GCM_SIV, 3);
    let keys = vec![rotated, changed, key("comes", row, 4)];
    assert_eq!(reload(daemon.handle(), &events, Server::new().keys(keys)), 2);

    // The same session goes on, with the new version.
    let opened = client.open(sessions[0], &nonce, b"", &mut before).expect("an earlier version");
    assert_eq!(opened, [4; 30]);
    let mut after = packet(&[4; 30], 16);
    let nonce = client.seal_next(sessions[0], b"", &mut after).expect("it is served");
    let own = Engine::new().session(row, &[9; 32]).expect("it is a key");
    assert_eq!(own.open(&nonce, b"", &mut after).expect("the current version"), [4; 30]);
    for gone in &sessions[1..] {
        let refused = client.seal_next(*gone, b"", &mut [0; 30]);
        assert_eq!(refused, Err(Error::KeyRemoved));
        client.close(*gone).expect("it is still open");
    }
    assert_eq!(client.named_session("goes"), Err(Error::Denied(RejectReason::Name)));
    assert!(client.named_session("comes").is_ok());
    client.seal(generated, &[0; 12], b"", &mut [0; 40]).expect("it is the client's");

    // Limits hold for what comes.
    let keys = vec![key("stays", row, 9)];
    let limits = Limits { sessions: 0, ..Limits::default() };
    assert_eq!(reload(daemon.handle(), &events, Server::new().keys(keys).limits(limits)), 1);
    assert_eq!(client.named_session("stays"), Err(Error::Denied(RejectReason::Sessions)));
    client.seal_next(sessions[0], b"", &mut [0; 30]).expect("it is served");
}
